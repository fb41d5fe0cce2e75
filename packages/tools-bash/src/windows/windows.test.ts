import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry, definePack, off } from "@agent/core";
import { afterAll, describe, expect, test } from "vitest";
import { diagnoseWindows } from "../diagnose.js";
import { SharedRunner } from "../tools/bash.js";
import { createRunPowershell } from "../tools/powershell.js";
import { findBash, findPowerShell, type WindowsMachine } from "./shells.js";

const WINDOWS = "C:\\Windows\\System32\\";

function machine(files: readonly string[], path = ""): WindowsMachine {
  const folded = new Set(files.map((file) => file.toLowerCase()));
  return {
    env: { Path: path, ProgramFiles: "C:\\Program Files", SystemRoot: "C:\\Windows" },
    exists: (file) => folded.has(file.toLowerCase()),
  };
}

describe("the shells of Windows", () => {
  test.each([
    [
      ["C:\\Program Files\\Git\\bin\\bash.exe", `${WINDOWS}wsl.exe`],
      "",
      "C:\\Program Files\\Git\\bin\\bash.exe",
    ],
    [["D:\\Git\\cmd\\git.exe", "D:\\Git\\bin\\bash.exe"], "D:\\Git\\cmd", "D:\\Git\\bin\\bash.exe"],
    [["C:\\msys64\\usr\\bin\\bash.exe"], "C:\\msys64\\usr\\bin", "C:\\msys64\\usr\\bin\\bash.exe"],
    // This bash.exe starts WSL, and would not pass arguments as they are.
    [[`${WINDOWS}bash.exe`, `${WINDOWS}wsl.exe`], WINDOWS, `${WINDOWS}wsl.exe`],
    [[], WINDOWS, undefined],
  ])("finds bash in %j", (files, path, expected) => {
    expect(findBash(machine(files, path))?.program).toBe(expected);
  });

  test("passes a command to WSL and to Git Bash as one argument", () => {
    expect(findBash(machine([`${WINDOWS}wsl.exe`]))?.args('echo "$1"', ["a b"])).toEqual([
      ...["--exec", "bash", "-c", 'echo "$1"', "bash", "a b"],
    ]);
    const git = findBash(machine(["C:\\Program Files\\Git\\bin\\bash.exe"]));
    expect(git?.args("ls", [])).toEqual(["-c", "ls", "bash"]);
    expect(() => git?.args("x".repeat(31_000), [])).toThrow("Write it to a file");
  });

  test("prefers PowerShell 7 and encodes the command", () => {
    const old = `${WINDOWS}WindowsPowerShell\\v1.0\\powershell.exe`;
    expect(findPowerShell(machine([old]))?.program).toBe(old);
    const shell = findPowerShell(machine([old, "C:\\Program Files\\PowerShell\\7\\pwsh.exe"]));
    expect(shell?.program).toBe("C:\\Program Files\\PowerShell\\7\\pwsh.exe");
    const script = Buffer.from(shell?.args('echo "é"; exit 3', []).at(-1) ?? "", "base64").toString(
      "utf16le",
    );
    expect(script.split("\n")[0]).toMatch(/;echo "é"; exit 3$/);
  });

  test("are named by doctor, with what is missing", async () => {
    const none = await diagnoseWindows(
      () => {
        throw new Error("There is no bash on this machine. Nothing was run.");
      },
      findPowerShell(machine([`${WINDOWS}WindowsPowerShell\\v1.0\\powershell.exe`])),
    );
    expect(none[0]).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/no bash.*run_powershell can/),
    });
    expect(none.map(({ subject, ok }) => `${subject} ${ok}`)).toContain("sandbox false");
  });
});

describe("run_powershell", () => {
  const directory = mkdtempSync(join(tmpdir(), "agent-powershell-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  /** Stands in for PowerShell: runs what it is given with sh, without the lines that only PowerShell understands. */
  const standIn = join(directory, "powershell.sh");
  const decode =
    'const text = Buffer.from(process.argv.at(-1), "base64").toString("utf16le"); process.stdout.write(text.slice(text.indexOf("false;") + 6, text.lastIndexOf("\\n")))';
  writeFileSync(standIn, `#!/bin/sh\neval "$('${process.execPath}' -e '${decode}' -- "$@")"\n`);
  chmodSync(standIn, 0o755);

  function registryWith(options: ConstructorParameters<typeof SharedRunner>[0] = {}) {
    const found = findPowerShell(machine(["C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"]));
    const shell = found && { ...found, program: standIn };
    const pack = definePack({
      name: "windows",
      setup: () => ({ tools: [off(createRunPowershell(new SharedRunner(options), () => shell))] }),
    });
    const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };
    return createToolRegistry(context, [pack], { enable: ["run_powershell"] });
  }
  const run = async (args: Record<string, unknown>, options = {}) =>
    await registryWith(options).execute("run_powershell", args);

  test("returns output and exit code like run_bash, and withholds the keys of models", async () => {
    process.env.OPENAI_API_KEY = "sk-not-for-commands";
    const text = await run({
      command: "echo out; echo err >&2; echo $A $OPENAI_API_KEY; exit 3",
      env: { A: 1 },
    });
    delete process.env.OPENAI_API_KEY;
    expect(JSON.parse(text)).toMatchObject({
      ...{ stdout: "out\n1\n", stderr: "err\n", exit_code: 3, timed_out: false },
    });
  });

  test("ends a command that takes too long", async () => {
    let result: Record<string, unknown> = {};
    // On a busy machine the stand-in itself may take longer than the first timeouts.
    for (const timeout of [1500, 6000, 30_000]) {
      result = JSON.parse(await run({ command: "echo begun; exec sleep 600", timeout }));
      if (result.stdout !== "") break;
    }
    expect(result).toMatchObject({ stdout: "begun\n", exit_code: -1, timed_out: true });
  });

  test("runs nothing while deny or allow is set, or a sandbox is required", async () => {
    expect(await run({ command: "echo x" }, { deny: ["rm"] })).toContain("not PowerShell");
    expect(await run({ command: "echo x" }, { sandbox: "require" })).toContain("Windows has none");
  });

  test("is a command that only rules for the whole of it can allow", async () => {
    const registry = registryWith();
    const { language } = registry.ruleFacts("run_powershell") ?? {};
    expect(await language?.check("git *")).toContain('"run_powershell(=git *)"');
    expect(await language?.match(["git *"], [{ type: "command", text: "git push" }])).toEqual([["maybe"]]);
    expect(registry.getCapabilities("run_powershell")).toEqual(["execute"]);
  });
});

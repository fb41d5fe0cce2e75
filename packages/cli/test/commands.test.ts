import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packSource, Sandbox } from "./agent.js";

describe("agent tools", () => {
  test("lists name, state and why, capability, pack and description, as text and as JSON", async () => {
    const box = new Sandbox();
    const { stdout } = await box.run(["tools", "--confirm", "move"]);
    expect(stdout).toMatch(/^TOOL +STATE +WHY +CAN +PACK +WHAT IT DOES$/m);
    expect(stdout).toMatch(/^run_bash +off +by default +execute +@agent\/tools-bash +\S/m);
    expect(stdout).toMatch(/^move +on +by default, asks first +write +@agent\/tools-fs/m);
    const { tools } = JSON.parse((await box.run(["tools", "--json"])).stdout);
    expect(tools).toHaveLength(11);
    expect(tools[0]).toMatchObject({ name: "save_session_context", pack: "@agent/core", on: true });
  });
});

describe("agent tool run", () => {
  test("runs one tool without a model: --args or --key value, by the tool's schema", async () => {
    const box = new Sandbox();
    box.write("a.txt", "one\ntwo\nthree\n");
    expect(
      await box.run(["tool", "run", "read_file", "--path", "a.txt", "--offset", "2", "--limit=1"]),
    ).toMatchObject({ code: 0, stdout: expect.stringContaining("two") });
    expect((await box.run(["tool", "run", "read_file", "--args", '{"path":"a.txt"}'])).stdout).toBe(
      "one\ntwo\nthree\n",
    );
    const found = await box.run([
      "tool",
      "run",
      "search_text",
      "--query",
      "TWO",
      "--paths",
      "a.txt",
      "--paths",
      ".",
      "--ignore-case",
    ]);
    expect(found.stdout).toContain("a.txt:2:two");
  });

  test("does not take the tool's own --cwd for that of the command", async () => {
    const box = new Sandbox();
    box.write("sub/x", "");
    const { stdout } = await box.run([
      "tool",
      "run",
      "--enable",
      "run_bash",
      "run_bash",
      "--command",
      "pwd",
      "--cwd",
      "sub",
    ]);
    expect(JSON.parse(stdout).stdout).toBe(`${join(box.project, "sub")}\n`);
  });

  test("returns a true exit code: 3 for a failure, also of the command; 4 if it is off; 2 if there is no such tool", async () => {
    const box = new Sandbox();
    expect((await box.run(["tool", "run", "read_file", "--path", "nope"])).code).toBe(3);
    expect(
      (await box.run(["tool", "run", "--enable", "run_bash", "run_bash", "--command", "exit 9"])).code,
    ).toBe(3);
    const off = await box.run(["tool", "run", "run_bash", "--command", "ls"]);
    expect(off.code).toBe(4);
    expect(off.stderr).toMatch(/^Tool not available: run_bash\n/);
    const unknown = await box.run(["tool", "run", "red_file"]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: 'agent: Tool not found: red_file. Did you mean "read_file"?\n',
    });
    expect(await box.run(["tool", "run", "read_file", "--pth", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Did you mean --path?"),
    });
    expect((await box.run(["tool", "run", "read_file", "--args", "[1]"])).code).toBe(2);
    expect((await box.run(["tool", "run", "read_file"])).stdout).toContain("path");
  });

  test("writes a result into a pipe byte for byte", async () => {
    const box = new Sandbox();
    box.write("a.txt", "a\x1b[31mb\u202e\r\nend\n");
    expect((await box.run(["tool", "run", "read_file", "--path", "a.txt"])).stdout).toBe(
      "a\x1b[31mb\u202e\r\nend\n",
    );
  });
});

describe("agent init", () => {
  test("writes a typed config by flags, and never over one that is there", async () => {
    const box = new Sandbox();
    await box.run(["init", "--pack", "@agent/tools-fs", "--enable", "remove", "--confirm", "remove"]);
    const text = readFileSync(join(box.project, "agent.config.ts"), "utf8");
    expect(text).toContain('import { defineConfig } from "@agent/cli/config";');
    expect(text).toContain('packs: ["@agent/tools-fs"]');
    const again = await box.run(["init", "-y"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("exists already");
    expect((await box.run(["init", "-y", "--force"])).code).toBe(0);
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("creates nothing where a dangling link leads, also with --force", async () => {
    const box = new Sandbox();
    const [file, target] = [join(box.project, "agent.config.ts"), join(box.home, "target")];
    symlinkSync(target, file);
    const refused = await box.run(["init", "-y"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("exists already")]);
    expect((await box.run(["init", "-y", "--force"])).code).toBe(0);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(existsSync(target)).toBe(false);
  });

  test("takes lists with commas, as every other command does", async () => {
    const box = new Sandbox();
    await box.run(["init", "--enable", "run_bash,remove", "--confirm", "remove,move"]);
    const text = readFileSync(join(box.project, "agent.config.ts"), "utf8");
    expect(text).toContain('enable: ["run_bash", "remove"]');
    expect(text).toContain('confirm: ["remove", "move", "run_bash"]');
  });
});

describe("agent doctor", () => {
  test("tells what works, what a pack found out, and fails for a broken pack", async () => {
    const box = new Sandbox();
    const healthy = await box.run(["doctor"]);
    expect(healthy.code).toBe(0);
    expect(healthy.stdout).toContain(`✓ Node: ${process.version}`);
    expect(healthy.stdout).toMatch(
      /^! provider: offline assistant, which is not a language model .*\n {4}Set OPENAI_API_KEY/m,
    );
    const chosen = await box.run(["doctor", "--provider", "offline"]);
    expect(chosen.stdout).toContain(
      "✓ provider: offline assistant, which is not a language model (chosen by",
    );
    box.write(
      "p.mjs",
      packSource(
        "one",
        undefined,
        'registry.provide({ diagnose: () => [{ subject: "sandbox", ok: false, detail: "bwrap is missing", hint: "Install bubblewrap." }] });',
      ),
    );
    box.write("broken.mjs", 'throw new Error("bad day");');
    box.write("agent.config.json", '{"packs":["./p.mjs","./broken.mjs"]}');
    const { code, stdout } = await box.run(["doctor", "--trust"]);
    expect(code).toBe(2);
    expect(stdout).toContain("✗ sandbox: bwrap is missing\n    Install bubblewrap.\n");
    expect(stdout).toMatch(/✗ pack \.\/broken\.mjs: .*bad day/);
  });

  test("reports a wrong config as a finding", async () => {
    const box = new Sandbox();
    box.write("agent.config.json", '{"enabel":[]}');
    const { code, stdout } = await box.run(["doctor", "--trust"]);
    expect(code).toBe(2);
    expect(stdout).toContain("✗ config: ");
  });
});

describe("help, version, completion", () => {
  test("answers --version and --help, for the program and for each command", async () => {
    const box = new Sandbox();
    expect((await box.run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await box.run(["--help"])).stdout).toContain("Exit codes:");
    for (const command of [
      ["tools"],
      ["tool", "run"],
      ["config"],
      ["init"],
      ["doctor"],
      ["sessions"],
      ["completion"],
    ]) {
      const { code, stdout } = await box.run([...command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: agent ${command.join(" ")}`);
    }
  });

  test.each([
    [["--nosuch"], "unknown option '--nosuch'", "agent"],
    [["mcp", "list", "--nosuch"], "unknown option '--nosuch'", "agent mcp list"],
    [["runs", "show"], "missing required argument 'id'", "agent runs show"],
    [["pack", "nosuch"], "unknown command 'nosuch'", "agent pack"],
  ])("says for %j how to print the help", async (args, problem, command) => {
    const { code, stderr } = await new Sandbox().run(args);
    expect(code).toBe(2);
    expect(stderr).toBe(`agent: ${problem}\nSee: ${command} --help\n`);
  });

  test("works in another directory with --cwd, which must exist", async () => {
    const box = new Sandbox();
    box.write("sub/inside.txt", "");
    expect((await box.run(["--cwd", "sub", "list files"])).stdout).toContain("inside.txt");
    expect((await box.run(["--cwd", "nowhere", "list files"])).code).toBe(2);
  });

  test("applies --cwd before the command also to commands that load no config", async () => {
    const box = new Sandbox();
    box.write("sub/inside.txt", "");
    await box.run(["--cwd", "sub", "list files"]);
    expect((await box.run(["--cwd", "sub", "sessions"])).stdout).toContain("list files");
    expect((await box.run(["--cwd", "sub", "init", "--yes"])).stderr).toContain("sub/agent.config.ts");
    expect((await box.run(["--cwd", "sub", "pack", "new", "weather"])).code).toBe(0);
    expect(existsSync(join(box.project, "sub/weather/package.json"))).toBe(true);
    for (const command of [["sessions"], ["init"], ["pack", "list"]]) {
      expect((await box.run(["--cwd", "nowhere", ...command])).code).toBe(2);
    }
  });

  test.each(["bash", "zsh", "fish"])("lists the commands and flags in the %s script", async (shell) => {
    const { code, stdout } = await new Sandbox().run(["completion", shell]);
    expect(code).toBe(0);
    for (const word of ["tools", "sessions", "read-only", "resume"]) expect(stdout).toContain(word);
  });

  test("completes with the bash script", async (context) => {
    try {
      execFileSync("bash", ["-c", "true"]);
    } catch {
      return context.skip("bash is not installed");
    }
    const { stdout } = await new Sandbox().run(["completion", "bash"]);
    const completed = (words: string): string =>
      execFileSync(
        "bash",
        [
          "-c",
          `${stdout}\nCOMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _agent; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: "utf8" },
      ).trim();
    expect(completed("agent doc")).toBe("doctor");
    expect(completed("agent tool r")).toBe("run");
    expect(completed("agent config --exp")).toBe("--explain");
    expect(completed("agent tools --read")).toBe("--read-only");
    expect(completed("agent tool run --ar")).toBe("--args");
    expect(completed("agent runs sta")).toBe("start");
    expect(completed("agent runs start --prio")).toBe("--priority");
  });

  test("refuses an unknown shell", async () => {
    expect((await new Sandbox().run(["completion", "tcsh"])).code).toBe(2);
  });
});

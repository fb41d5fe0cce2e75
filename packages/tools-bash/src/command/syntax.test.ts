import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ordinaryCommands } from "../../test/ordinaryCommands.js";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { findSyntaxError } from "./syntax.js";

leaveNoProcessBehind();
const directory = mkdtempSync(join(tmpdir(), "tools-bash-syntax-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("Scenario: Command validation (syntax)", () => {
  test("finds an error on line 2 before line 1 runs", async () => {
    const command = "touch ran\nif true; then echo; done";
    await expect(runBash({ command, cwd: directory })).rejects.toThrow(/Syntax error on line 2: .*done/);
    expect(existsSync(join(directory, "ran"))).toBe(false);
  });

  test("names Windows line endings as the reason", async () => {
    const command = "if true; then\r\n  echo yes\r\nfi\r\n";
    await expect(runBash({ command })).rejects.toThrow(/Windows line endings \(CR LF\).*LF alone\.$/);
  });

  test("reports the line of bash too", async () => {
    const problem = await findSyntaxError("/bin/bash", { text: "echo 'a'\necho )" });
    expect(problem).toMatch(/Syntax error on line 2: .*unexpected token `\)'/);
  });

  describe.each(["/bin/sh", "/bin/bash"])(
    "%s finds an error in one line before it runs any of it",
    (shell) => {
      test.each([
        "touch one; fi",
        "touch one & fi",
        "touch one; (",
        'touch one; echo "',
        "touch one; echo '",
        "touch one; if true",
        "touch one; case x in",
        "touch one && echo $(",
        "touch one || echo `",
        "touch one | ;",
        "touch one; }",
      ])("%s", async (command) => {
        const running = runBash({ command, cwd: directory }, { shell });
        await expect(running).rejects.toThrow(/^Syntax error .*Nothing was run/);
        expect(existsSync(join(directory, "one"))).toBe(false);
      });
    },
  );

  test("returns as a result a failure that is not a syntax error", async () => {
    expect(await runBash({ command: "cat /no/such/file" })).toMatchObject({ exit_code: 1, stdout: "" });
    expect(await runBash({ command: "eval 'if'" })).toMatchObject({ exit_code: 2, stdout: "" });
    const liar = "echo 'sh: 1: Syntax error: x' >&2; exit 2";
    expect(await runBash({ command: liar })).toMatchObject({ exit_code: 2 });
  });

  test.each([
    "if",
    "do echo",
    "echo 'open",
    'echo "open',
    "a &&",
    "| b",
    "(echo",
    "case x in",
    "then x",
    "fi",
  ])("refuses %s", async (text) => {
    expect(await findSyntaxError("/bin/sh", { text })).toMatch(/^Syntax error .* Nothing was run\./);
  });

  test.each([
    "cat <<EOF\n$(date) `date`\nEOF",
    "for i in 1 2; do echo $i; done",
    'echo "a # b" # comment',
    "f() { echo x; }\nf",
    "a=1 b=2 env",
    "! true",
    "echo if then fi",
  ])("accepts %s", async (text) => {
    expect(await findSyntaxError("/bin/sh", { text })).toBeUndefined();
  });
});

test("accepts ordinary commands, or gives a reason", async () => {
  const commands = ordinaryCommands();
  const step = Math.ceil(commands.length / 300);
  const sample = commands.filter((_, index) => index % step === 0);
  let refused = 0;
  for (const text of sample) {
    const problem = await findSyntaxError("/bin/sh", { text });
    if (problem === undefined) continue;
    refused++;
    expect(problem, text).toMatch(/^Syntax error on line \d+: .+ Nothing was run\./);
  }
  expect(sample.length).toBeGreaterThan(100);
  expect(refused).toBeLessThan(sample.length * 0.05);
});

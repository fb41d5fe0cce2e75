import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes with which the command draws a task
const OWN_CODES = /\x1b\[(\?(2026|25)[hl]|\d*(;\d+)*[mABCJK])/g;

// Needs `script` of util-linux, which gives a program a terminal.
describe.skipIf(!hasTerminal())("with a user at the terminal", () => {
  test("shows an untrusted config and asks about it; remembers yes", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", 'export default { enable: ["remove"] };');
    const { code, stdout } = await box.runInTerminal(["tools"], [["Trust it as it is now?", "yes"]]);
    expect(code).toBe(0);
    expect(stdout).toContain(file);
    expect(stdout).toMatch(/remove +on/);
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("runs without it after no, and executes nothing of it", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.ts",
      'import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); export default {};',
    );
    const { code, stdout } = await box.runInTerminal(["tools"], [["Trust it as it is now?", "n"]]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/read_file +on/);
    expect(existsSync(join(box.project, "ran"))).toBe(false);
    expect((await box.run(["tools"])).code).toBe(4);
  });

  test("shows a call to confirm in full, with invisible characters made visible", async () => {
    const box = new Sandbox();
    const task = "write \"a\u202eb\u200b\" to 'x.txt'";
    const { code, stdout } = await box.runInTerminal(["--confirm", "write_file", task], [["Create", "y"]]);
    expect(code).toBe(0);
    expect(stdout).toContain("? write_file");
    expect(stdout).toContain("│ 1 +a\\u202eb\\u200b");
    // Nothing is said to run before the yes.
    expect(stdout.replace(OWN_CODES, "")).toMatch(/Create .*\?[\s\S]*└ ✓/);
    expect(stdout.slice(0, stdout.indexOf("Create"))).not.toContain("executing…");
    expect(readFileSync(join(box.project, "x.txt"), "utf8")).toBe("a\u202eb\u200b");
  });

  test("refuses the call after no with a reason, and passes the reason on", async () => {
    const box = new Sandbox();
    const { code, stdout } = await box.runInTerminal(
      ["--confirm", "write_file", "write hello to x.txt"],
      [["[y]es", "no, wrong file"]],
    );
    expect(code).toBe(4);
    expect(stdout).toContain("Tool call denied: wrong file");
    expect(existsSync(join(box.project, "x.txt"))).toBe(false);
  });

  test("applies always to the rest of the run", async () => {
    const box = new Sandbox();
    const { code } = await box.runInTerminal(
      ["--confirm", "write_file", "write a to x.txt then write b to y.txt"],
      [["[y]es", "always"]],
    );
    expect(code).toBe(0);
    expect(readFileSync(join(box.project, "y.txt"), "utf8")).toBe("b");
  });

  test("keeps the content of a file from controlling the terminal", async () => {
    const box = new Sandbox();
    box.write("evil.txt", "a\x1b]52;c;aGk=\x07b\x1b[2Jc\rd\x9b31me\u202ef\x08g\n");
    for (const args of [
      ["read evil.txt"],
      ["tool", "run", "read_file", "--path", "evil.txt"],
      ["--output", "json", "read evil.txt"],
    ]) {
      const { code, stdout } = await box.runInTerminal(args);
      expect(code).toBe(0);
      const rest = stdout.replace(OWN_CODES, "");
      for (const character of ["\x1b", "\x07", "\x08", "\x9b", "\u202e", "\rd"])
        expect(rest).not.toContain(character);
    }
  });

  test("asks for packs and opt-ins in agent init", async () => {
    const box = new Sandbox();
    const { code } = await box.runInTerminal(
      ["init"],
      [
        ["Packs, separated by spaces", ""],
        ["(run_bash)?", "y"],
        ["(remove)?", "n"],
        ["before each call of run_bash?", "y"],
        ["instead of /bin/sh?", "n"],
        ["10 minutes instead of 30 seconds?", "n"],
        ["in a sandbox that writes only this project", "n"],
      ],
    );
    expect(code).toBe(0);
    const text = readFileSync(join(box.project, "agent.config.ts"), "utf8");
    expect(text).toContain('packs: ["@agent/preset-default"]');
    expect(text).toContain('enable: ["run_bash"]');
    expect(text).toContain('confirm: ["run_bash"]');
  });

  test("does not ask in agent init --no-confirm which tools ask first", async () => {
    const box = new Sandbox();
    const { code } = await box.runInTerminal(
      ["init", "--no-confirm"],
      [
        ["Packs, separated by spaces", ""],
        ["(run_bash)?", "y"],
        ["(remove)?", "n"],
        ["instead of /bin/sh?", "n"],
        ["10 minutes instead of 30 seconds?", "n"],
        ["in a sandbox that writes only this project", "n"],
      ],
    );
    expect(code).toBe(0);
    const text = readFileSync(join(box.project, "agent.config.ts"), "utf8");
    expect(text).toContain('enable: ["run_bash"]');
    expect(text).toContain("confirm: []");
  });
});

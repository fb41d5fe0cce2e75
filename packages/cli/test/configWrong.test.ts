import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";

describe("a config that is wrong: one message, exit code 2, nothing run", () => {
  test("a syntax error names the file and the line", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enable: [\n};\n");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:3: `);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("an error thrown by the config names the file and the line, without a stack", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", '\nthrow new Error("no luck");\n');
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toBe(`agent: ${file}:2: no luck\n`);
  });

  test.each([
    [
      "agent.config.ts",
      'export default {\n  enable: "run_bash",\n};',
      ':2: enable must be an array of tool names, such as ["run_bash"], got string "run_bash".',
    ],
    ["agent.config.mjs", "export default { packs: {} };", ":1: packs must be an array of package names"],
    [
      "agent.config.js",
      "export default { maxTurns: 0 };",
      ":1: maxTurns must be a number greater than 0, got number 0.",
    ],
    [
      "agent.config.json",
      '{\n "enable": ["run_bash", 3]\n}',
      ":2: enable[1] must be a tool's name, got number 3.",
    ],
    ["agent.config.yaml", "readOnly: maybe\n", ':1: readOnly must be true or false, got string "maybe".'],
    ["agent.config.json", '{\n  "enable": [\n}', ":3: "],
    ["agent.config.yaml", "a: [\nb: 1", ":3: "],
    ["agent.config.ts", "export default 4;", ": the config must be an object, got number 4."],
    ["agent.config.ts", "export const a = 1;", ": it has no default export."],
    ["agent.config.json", "", ": it holds no config."],
    [
      "agent.config.ts",
      'export default { provider: { baseUrl: "http://x" } };',
      ':1: unknown key "provider.baseUrl". Did you mean "baseURL"?',
    ],
    [
      "agent.config.ts",
      "export default { agents: { a: { tool: [] } } };",
      ':1: unknown key "agents.a.tool". Did you mean "tools"?',
    ],
    [
      "agent.config.ts",
      'export default { enable: ["remove"], disable: ["remove"] };',
      '"remove" is both in enable and in disable',
    ],
  ])("%s with %j", async (name, content, message) => {
    const box = new Sandbox();
    const file = box.write(name, content);
    const { code, stderr, stdout } = await box.run(["--trust", "tools"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(file);
    expect(stderr).toContain(message);
  });

  test("an unknown key is named with the nearest one", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enabel: [],\n};");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toBe(`agent: ${file}:2: unknown key "enabel". Did you mean "enable"?\n`);
  });

  test("a tool no pack declares is named with the nearest one, for enable, disable, confirm and flags", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.json", '{\n"confirm": ["run_bsh"]\n}');
    expect((await box.run(["tools"])).stderr).toBe(
      `agent: ${file}:2: confirm[0] is "run_bsh", which no pack declares. Did you mean "run_bash"?\n`,
    );
    const { code, stderr } = await box.run(["tools", "--no-config", "--enable", "xyzzy"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^agent: --enable: there is no tool "xyzzy"\. Known: save_session_context, read_file/,
    );
  });

  test("a config that never finishes loading is given up, with its name", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "await new Promise(() => {});\nexport default {};");
    const { code, stderr } = await box.run(["--trust", "tools"], { env: { AGENT_LOAD_TIMEOUT_MS: "1000" } });
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}: not loaded after 1000 ms.`);
  });

  test("a flag that does not exist is an error of the same kind", async () => {
    const { code, stderr } = await new Sandbox().run(["--modle", "x"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--model");
  });
});

describe("a config that is not what it should be is refused without a hang", () => {
  const refused = async (box: Sandbox, why: string, args = ["--trust", "tools"]): Promise<void> => {
    const { code, stderr } = await box.run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`refused, because it ${why}`);
  };

  test("a FIFO", async () => {
    const box = new Sandbox();
    execFileSync("mkfifo", [join(box.project, "agent.config.ts")]);
    await refused(box, "is a FIFO");
  });

  test("a FIFO in place of package.json", async () => {
    const box = new Sandbox();
    execFileSync("mkfifo", [join(box.project, "package.json")]);
    await refused(box, "is a FIFO");
  });

  test("a FIFO named with --config", async () => {
    const box = new Sandbox();
    execFileSync("mkfifo", [join(box.project, "x.ts")]);
    await refused(box, "is a FIFO", ["tools", "--config", "x.ts"]);
  });

  test("a device", async () => {
    await refused(new Sandbox(), "is a device", ["tools", "--config", "/dev/zero"]);
  });

  test("a directory", async () => {
    const box = new Sandbox();
    mkdirSync(join(box.project, "agent.config.ts"));
    await refused(box, "is a directory");
  });

  test("a symbolic link", async () => {
    const box = new Sandbox();
    symlinkSync(box.write("real.ts", "export default {};"), join(box.project, "agent.config.ts"));
    await refused(box, "is a symbolic link");
  });

  test("a file of a gigabyte", async () => {
    const box = new Sandbox();
    truncateSync(box.write("agent.config.ts", ""), 1024 ** 3);
    await refused(box, `holds ${1024 ** 3} bytes`);
  });
});

test("a config that may not be read is named with the reason, without a stack", async (context) => {
  const box = new Sandbox();
  const file = box.write("agent.config.ts", "export default {};");
  const isRoot = process.getuid?.() === 0;
  // Root may read everything: it has to be another user.
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const env = { PATH: process.env.PATH, HOME: box.home, AGENT_LOCAL_PORTS: "" };
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [BIN, ...args], { cwd: box.project, env, encoding: "utf8", ...user });
  chmodSync(file, isRoot ? 0o600 : 0);
  chmodSync(box.root, 0o755);
  if (run("--version").status !== 0) return context.skip("another user cannot run the command here");
  for (const args of [["tools"], ["--trust", "tools"], ["tools", "--config", "agent.config.ts"]]) {
    const { status, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(/agent\.config\.ts.*(cannot be read|permission denied)/i);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONFIG_SCHEMA } from "../src/settings/config/schema.js";
import { BIN, Sandbox } from "./agent.js";

describe("a config that is wrong: one message, exit code 2, nothing run", () => {
  test("names the file and the line of a syntax error", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enable: [\n};\n");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:3: `);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("names the file and the line of an error thrown by the config, without a stack", async () => {
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
      ':2: "enable" must be an array of strings, got string "run_bash".',
    ],
    ["agent.config.mjs", "export default { packs: {} };", ':1: "packs" must be an array, got'],
    ["agent.config.js", "export default { maxTurns: 0 };", ':1: "maxTurns" must be greater than 0, got 0.'],
    [
      "agent.config.json",
      '{\n "enable": ["run_bash", 3]\n}',
      ':2: "enable[1]" must be a string, got number 3.',
    ],
    ["agent.config.yaml", "readOnly: maybe\n", ':1: "readOnly" must be true or false, got string "maybe".'],
    ["agent.config.json", '{\n  "enable": [\n}', ":3: "],
    ["agent.config.yaml", "a: [\nb: 1", ":3: "],
    ["agent.config.ts", "export default 4;", ": the config must be an object, got number 4."],
    ["agent.config.ts", "export const a = 1;", ": it has no default export."],
    ["agent.config.json", "", ": it contains no config."],
    [
      "agent.config.ts",
      "export default { agents: { a: { tool: [] } } };",
      ':1: "agents.a.tool" is not known. Did you mean "tools"?',
    ],
    [
      "agent.config.json",
      '{\n"permissions": {"alow": []}\n}',
      ':2: "permissions.alow" is not known. Did you mean "allow"?',
    ],
    [
      "agent.config.json",
      '{"permissions": {"deny": ["run_bash("]}}',
      ':1: "permissions.deny[0]" must be a rule such as',
    ],
    ["agent.config.json", '{"packs": [{}]}', ':1: "packs[0]" must be a pack with a register function'],
    [
      "agent.config.json",
      '{"packs": [["a", {}, 1]]}',
      ':1: "packs[0]" must be a string, or must be an object, or must have at most 2 items.',
    ],
    ["agent.config.json", '{"provider": "opnai"}', ':1: "provider" must be a provider\'s name'],
    [
      "agent.config.json",
      '{"provider": {"baseURL": "nowhere"}}',
      ':1: "provider.baseURL" must be a URL, got string "nowhere".',
    ],
    [
      "agent.config.json",
      '{"prices": {"m": {"input": -1, "output": 1}}}',
      ':1: "prices.m.input" must be at least 0, got -1.',
    ],
    ["agent.config.json", '{"mode": "yolo"}', ':1: "mode" must be one of "plan", '],
    [
      "agent.config.json",
      '{"keys": {"ctrl-c": "send"}}',
      ':1: "keys" cannot bind "ctrl-c": Ctrl+C always stops',
    ],
    [
      "agent.config.json",
      '{"keys": {"x": "send"}}',
      ':1: "keys" cannot bind "x", which is not a key. A key is written as "ctrl-t"',
    ],
    ["agent.config.json", '{"keys": {"Crtl+T": "send"}}', 'which is not a key. Did you mean "ctrl-t"?'],
    ["agent.config.json", '{"keys": {"f2": "exapnd"}}', 'not an action. Did you mean "expand"?'],
    ["agent.config.json", '{"keys": {"f2": "jump"}}', 'not an action. Known: "send", "newline"'],
    [
      "agent.config.json",
      '{"keys": {"ctrl-t": "undo", "Ctrl+T": "send"}}',
      '"keys" cannot bind "Ctrl+T": "ctrl-t" is the same key.',
    ],
    [
      "agent.config.json",
      '{"notify": true}',
      ':1: "notify" must be a number, or must be false, or must be an object.',
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

  test("does not show a value that stands in place of a key", async () => {
    const box = new Sandbox();
    box.write("agent.config.json", '{"provider": {"apiKey": ["sk-secret"]}}');
    const { stderr } = await box.run(["--trust", "tools"]);
    expect(stderr).toContain('"provider.apiKey" must be a string.');
    expect(stderr).not.toContain("secret");
  });

  test("publishes the schema of the check, which may be named in a config", async () => {
    const file = new URL("../dist/config.schema.json", import.meta.url);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(CONFIG_SCHEMA);
    const box = new Sandbox();
    box.write("agent.config.json", '{"$schema": "x/config.schema.json", "disable": ["mkdir"]}');
    expect((await box.run(["tools"])).stdout).toMatch(/^mkdir +off/m);
  });

  test("names an unknown key with the nearest one", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enabel: [],\n};");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toBe(`agent: ${file}:2: "enabel" is not known. Did you mean "enable"?\n`);
  });

  test("names a tool no pack declares with the nearest one, for enable, disable, confirm and flags", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.json", '{\n"confirm": ["run_bsh"]\n}');
    expect((await box.run(["tools"])).stderr).toBe(
      `agent: ${file}:2: confirm[0] is "run_bsh", which no pack declares. Did you mean "run_bash"?\n`,
    );
    const { code, stderr } = await box.run(["tools", "--no-config", "--enable", "xyzzy"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^agent: --enable: there is no tool "xyzzy"\. Known: "save_session_context", "read_file"/,
    );
  });

  test("gives up a config that never finishes loading, and names it", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "await new Promise(() => {});\nexport default {};");
    const { code, stderr } = await box.run(["--trust", "tools"], { env: { AGENT_LOAD_TIMEOUT_MS: "1000" } });
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}: not loaded after 1000 ms.`);
  });

  test("reports with an error of the same kind a flag that does not exist", async () => {
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

test("names, with the reason and without a stack, a config that may not be read", async (context) => {
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

test.each([
  ['{"api": "completions"}', 'OpenAIProvider: "api" must be one of "chat", "responses"'],
  ['{"baseUrl": "http://x"}', 'OpenAIProvider has no option "baseUrl". Did you mean "baseURL"?'],
  ['{"timeoutMS": 5}', 'OpenAIProvider has no option "timeoutMS". Did you mean "timeoutMs"?'],
])("reports before anything is sent an option that the provider refuses: %s", async (options, message) => {
  const box = new Sandbox();
  const provider = { baseURL: "http://127.0.0.1:9/v1", apiKey: "k", ...JSON.parse(options) };
  box.write("agent.config.json", JSON.stringify({ provider, model: "m" }));
  const { code, stderr } = await box.run(["--trust", "Hi."]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";

describe("a config that is wrong: one message, exit code 2, nothing run", () => {
  test("G151: a syntax error names the file and the line", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enable: [\n};\n");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:3: `);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("G151: an error thrown by the config names the file and the line, without a stack", async () => {
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
  ])("G152: %s with %j", async (name, content, message) => {
    const box = new Sandbox();
    const file = box.write(name, content);
    const { code, stderr, stdout } = await box.run(["--trust", "tools"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(file);
    expect(stderr).toContain(message);
  });

  test("G153: an unknown key is named with the nearest one", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {\n  enabel: [],\n};");
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toBe(`agent: ${file}:2: unknown key "enabel". Did you mean "enable"?\n`);
  });

  test("G157: a tool no pack declares is named with the nearest one, for enable, disable, confirm and flags", async () => {
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

  test("G168: a config that never finishes loading is given up, with its name", async () => {
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

describe("G167: a config that is not what it should be is refused without a hang", () => {
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

describe("G162: where a config may be", () => {
  test("a file that everybody can write is refused", async () => {
    const box = new Sandbox();
    chmodSync(box.write("agent.config.ts", "export default {};"), 0o666);
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain("can be written by everybody. Run: chmod o-w ");
  });

  test("a file of another user is refused, unless it is named", async (context) => {
    if (process.getuid?.() !== 0) return context.skip("only root can give a file away");
    const box = new Sandbox();
    chownSync(box.write("agent.config.ts", "export default {};"), 4321, 4321);
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain("belongs to another user (uid 4321)");
    expect((await box.run(["tools", "--config", "agent.config.ts"])).code).toBe(0);
  });

  test("the search stops at the root of the repository", async () => {
    const box = new Sandbox();
    writeFileSync(join(box.home, "agent.config.ts"), "throw new Error('must not run');");
    expect((await box.run(["--trust", "tools"])).code).toBe(0);
  });

  test("outside of a repository and of home only the working directory counts", async () => {
    const box = new Sandbox();
    const inner = join(box.root, "outer", "inner");
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(box.root, "outer", "agent.config.ts"), "throw new Error('must not run');");
    expect((await box.run(["--trust", "tools"], { cwd: inner })).code).toBe(0);
  });

  test("a config in a directory above, inside the repository, is found", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", 'export default { enable: ["remove"] };');
    box.write("deep/er/x", "");
    const { stdout } = await box.run(["--trust", "tools"], { cwd: join(box.project, "deep/er") });
    expect(stdout).toMatch(/^remove +on +enabled by .*agent\.config\.ts/m);
  });

  test.each([
    ".agentrc",
    ".agentrc.json",
    ".config/agentrc.json",
    "agent.config.cjs",
    ".config/config.js",
    ".config/config.json",
  ])("G163: %s is not a place for a config, and is neither read nor run", async (place) => {
    const box = new Sandbox();
    const isCode = /js$/.test(place);
    box.write(
      place,
      isCode
        ? "throw new Error('must not run');"
        : '{"agent":{"enable":["remove"]},"cosmiconfig":{"searchPlaces":["evil.json"]},"enable":["remove"]}',
    );
    // A config that is found makes sure the loader really runs.
    box.write("agent.config.json", '{"disable":["mkdir"]}');
    const { code, stdout, stderr } = await box.run(["tools"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^remove +off/m);
    expect(stdout).toMatch(/^mkdir +off +disabled by agent\.config\.json/m);
  });

  test('G163: "cosmiconfig" in package.json cannot lead the search elsewhere', async () => {
    const box = new Sandbox();
    box.write("evil.json", '{"readOnly":true}');
    box.write("package.json", '{"cosmiconfig":{"searchPlaces":["evil.json"]},"agent":{"disable":["mkdir"]}}');
    const { stdout } = await box.run(["tools"]);
    expect(stdout).toMatch(/^mkdir +off/m);
    expect(stdout).toMatch(/^write_file +on/m);
  });

  test("$import, which would load other files, is an unknown key", async () => {
    const box = new Sandbox();
    box.write("evil.js", "throw new Error('must not run');");
    box.write("agent.config.json", '{"$import":"./evil.js"}');
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain('unknown key "$import"');
  });
});

describe("every form of config is found and works", () => {
  test.each([
    [
      "agent.config.ts",
      'import { defineConfig } from "@agent/cli/config";\nconst on: string[] = ["remove"];\nexport default defineConfig({ enable: on });',
    ],
    ["agent.config.js", 'export default { enable: ["remove"] };'],
    [
      "agent.config.mjs",
      'import { defineConfig } from "@agent/cli/config";\nexport default defineConfig({ enable: ["remove"] });',
    ],
    ["agent.config.json", '{ "enable": ["remove"] }'],
    ["agent.config.yaml", "enable:\n  - remove\n"],
    ["package.json", '{ "name": "x", "agent": { "enable": ["remove"] } }'],
  ])("%s, in a project that did not install @agent/cli", async (name, content) => {
    const box = new Sandbox();
    box.write(name, content);
    const { stdout, stderr } = await box.run(["--trust", "tools"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(new RegExp(`^remove +on +enabled by ${name}`, "m"));
  });

  test("a config may use top-level await and other files of the project", async () => {
    const box = new Sandbox();
    box.write("tools.ts", 'export const on: string[] = ["remove"];');
    box.write(
      "agent.config.ts",
      'const { on } = await import("./tools.ts");\nexport default { enable: on };',
    );
    expect((await box.run(["--trust", "tools"])).stdout).toMatch(/^remove +on/m);
  });
});

describe("layers", () => {
  test("defaults < user config < project config < environment < flags, and each value's origin is told", async () => {
    const box = new Sandbox();
    mkdirSync(join(box.home, ".config/agent"), { recursive: true });
    const own = join(box.home, ".config/agent/config.json");
    writeFileSync(own, '{"model":"user","maxTurns":1,"enable":["remove"],"systemPrompt":"mine"}');
    box.write("agent.config.json", '{"model":"project","maxTurns":2,"disable":["remove"]}');
    const { stdout } = await box.run(
      ["config", "--explain", "--trust", "--model", "flag", "--enable", "run_bash"],
      {
        env: { AGENT_MAX_TURNS: "3", AGENT_MODEL: "env" },
      },
    );
    expect(stdout).toMatch(/^model +flag +--model$/m);
    expect(stdout).toMatch(/^maxTurns +3 +AGENT_MAX_TURNS$/m);
    expect(stdout).toMatch(new RegExp(`^systemPrompt +mine +${own}$`, "m"));
    expect(stdout).toMatch(/^tool remove +off +disabled by agent\.config\.json$/m);
    expect(stdout).toMatch(/^tool run_bash +on +enabled by --enable$/m);
  });

  test("--tools applies in order, and --read-only takes away whatever can change something", async () => {
    const box = new Sandbox();
    const on = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await box.run(["tools", "--json", ...args]);
      const { tools } = JSON.parse(stdout) as { tools: { name: string; on: boolean }[] };
      return tools.filter((tool) => tool.on).map(({ name }) => name);
    };
    expect(await on("--tools", "-*,read_file")).toEqual(["read_file"]);
    expect(await on("--read-only", "--enable", "run_bash")).toEqual([
      "read_file",
      "list_dir",
      "search_text",
      "search_files",
    ]);
  });

  test("a key in the config is never shown", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.json",
      '{"provider":{"apiKey":"sk-very-secret","headers":{"x":"also-secret"},"baseURL":"http://127.0.0.1:9/v1"}}',
    );
    const { stdout } = await box.run(["config", "--trust"]);
    expect(stdout).toContain("http://127.0.0.1:9/v1");
    expect(stdout).not.toContain("secret");
  });

  test("agents of the config narrow the tools and set prompt and model; an unknown one is an error", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.ts",
      'export default { agents: { reviewer: { systemPrompt: "review", tools: ["read_file", "run_bash"], model: "m" } } };',
    );
    const { stdout } = await box.run(["config", "--trust", "--agent", "reviewer"]);
    expect(JSON.parse(stdout)).toMatchObject({ systemPrompt: "review", model: "m", tools: ["read_file"] });
    const wrong = await box.run(["config", "--trust", "--agent", "revewer"]);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: "agent: --agent revewer: there is no such agent. Defined: reviewer.\n",
    });
  });
});

import { describe, expect, test } from "vitest";
import { packSource, Sandbox, scripted } from "./agent.js";

const MANIFEST = '{"name":"agent-pack-one","type":"module","exports":"./dist/index.js"}';

describe("what counts as a pack in a config", () => {
  test("accepts an imported pack, with and without options, and a single tool", async () => {
    const box = new Sandbox();
    box.write("pack.mjs", packSource("one", "return 'one'"));
    box.write(
      "agent.config.mjs",
      `import * as pack from "./pack.mjs";
       const two = { name: "two", capabilities: ["read"], execute: async () => "two",
         getSchema: () => ({ type: "function", function: { name: "two", description: "d", parameters: { type: "object", properties: {} } } }) };
       export default { packs: [[pack, {}], two] };`,
    );
    expect((await box.run(["--trust", "tool", "run", "one"])).stdout).toBe("one\n");
    expect((await box.run(["tool", "run", "two"])).stdout).toBe("two\n");
  });

  test.each(["./pack", "file:./pack"])("accepts a folder with a package.json: %s", async (name) => {
    const box = new Sandbox();
    box.write("pack/package.json", MANIFEST);
    box.write("pack/dist/index.js", packSource("one", "return 'one'"));
    box.write("agent.config.json", JSON.stringify({ packs: [name] }));
    expect((await box.run(["--trust", "tool", "run", "one"])).stdout).toBe("one\n");
  });

  test.each([
    ["./pack", "pack"],
    ["agent-pack-one", "node_modules/agent-pack-one"],
  ])("reports one that is not built: %s", async (name, folder) => {
    const box = new Sandbox();
    box.write(`${folder}/package.json`, MANIFEST);
    box.write("agent.config.json", JSON.stringify({ packs: [name] }));
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Build it first: npm run build");
  });

  test("reports the same pack twice, also under two names", async () => {
    const box = new Sandbox();
    box.write("pack/package.json", MANIFEST);
    box.write("pack/dist/index.js", packSource("one"));
    box.write("agent.config.json", JSON.stringify({ packs: ["./pack", "./pack/dist/index.js"] }));
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain('"./pack" and "./pack/dist/index.js" selects the same pack twice');
  });

  test("names one that exits the process while it is loaded", async () => {
    const box = new Sandbox();
    box.write("pack.mjs", "process.exit(0);");
    box.write("agent.config.json", '{"packs":["./pack.mjs"]}');
    const { code, stderr } = await box.run(["--trust", "tools"]);
    expect(code).toBe(70);
    expect(stderr).toContain('the pack "./pack.mjs" ended the process while it was loaded');
  });
});

describe("a pack's secrets", () => {
  const TOKEN = "acme-token-123456";
  const box = (): Sandbox => {
    const one = new Sandbox();
    one.write(
      "pack.mjs",
      `export const secrets = ["ACME_TOKEN"];
       let token;
       const tool = (name, run) => ({ name, capabilities: ["read"], execute: async () => run(),
         getSchema: () => ({ type: "function", function: { name, description: "d", parameters: { type: "object", properties: {} } } }) });
       export function register(registry, host) {
         token = host.secrets.ACME_TOKEN;
         registry.register(tool("use", () => "got " + (token ?? "nothing").length));
         registry.register(tool("leak", () => "token " + token));
         registry.register(tool("env", () => String(process.env.ACME_TOKEN)));
       }`,
    );
    one.write("agent.config.json", '{"packs":["./pack.mjs","@agent/tools-bash"],"enable":["run_bash"]}');
    return one;
  };
  const runTool = async (sandbox: Sandbox, args: readonly string[]): Promise<string> => {
    const env = { ACME_TOKEN: TOKEN };
    const { code, stdout, stderr } = await sandbox.run(["--trust", "tool", "run", ...args], { env });
    // Both, so that a failure shows the reason.
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    return stdout;
  };

  test("are passed to it, kept from tools and commands, and hidden in results", async () => {
    const sandbox = box();
    const run = (...args: string[]) => runTool(sandbox, args);
    expect(await run("use")).toBe(`got ${TOKEN.length}\n`);
    expect(await run("leak")).toBe("token [secret]\n");
    expect(await run("env")).toBe("undefined\n");
    expect(await run("run_bash", "--command", "echo [$ACME_TOKEN]")).toContain("[]");
  });

  test("apply as well to a pack inside a preset, which need not know of them", async () => {
    const sandbox = box();
    // The shell is registered first, and the preset passes nothing of what the host says.
    sandbox.write(
      "preset.mjs",
      `import { registerPack } from "@agent/core";
       import * as bash from "@agent/tools-bash";
       import * as inner from "./pack.mjs";
       export function register(registry, { context }) {
         registerPack(registry, bash, { context });
         registerPack(registry, { ...inner, packName: "inner" }, { context });
       }`,
    );
    sandbox.link("@agent/core", "@agent/tools-bash");
    sandbox.write("agent.config.json", '{"packs":["./preset.mjs"],"enable":["run_bash"]}');
    const run = (...args: string[]) => runTool(sandbox, args);
    expect(await run("use")).toBe(`got ${TOKEN.length}\n`);
    expect(await run("leak")).toBe("token [secret]\n");
    expect(await run("env")).toBe("undefined\n");
    expect(await run("run_bash", "--command", "echo [$ACME_TOKEN]")).toContain("[]");
    const { stdout } = await sandbox.run(["--trust", "doctor"], { env: { ACME_TOKEN: TOKEN } });
    expect(stdout).toContain("✓ secret ACME_TOKEN of inner: set");
    expect(stdout).not.toContain(TOKEN);
  });

  test("are reported as set or missing by agent doctor", async () => {
    const sandbox = box();
    const set = await sandbox.run(["--trust", "doctor"], { env: { ACME_TOKEN: TOKEN } });
    expect(set.stdout).toContain("✓ secret ACME_TOKEN of ./pack.mjs: set");
    expect(set.stdout).not.toContain(TOKEN);
    const missing = await sandbox.run(["--trust", "doctor"]);
    expect(missing.stdout).toContain(
      "✗ secret ACME_TOKEN of ./pack.mjs: missing\n    Set it: export ACME_TOKEN=…",
    );
  });
});

test("lists several secrets of a pack in one row, and a reason of several lines below the tools", async () => {
  const sandbox = new Sandbox();
  sandbox.write(
    "pack.mjs",
    `import { defineTool } from "@agent/core";
     export const packName = "engines";
     export const secrets = ["FIRST_KEY", "SECOND_KEY"];
     export function register(registry) {
       const input = { type: "object", properties: {} };
       registry.register(defineTool({ name: "seek", description: "Seeks.", input, execute: () => "" }));
       registry.withhold("seek", "no engine is configured. To configure one:\\nengine: first\\nengine: second");
     }`,
  );
  sandbox.link("@agent/core");
  sandbox.write("agent.config.json", '{"packs":["./pack.mjs"]}');
  const { stdout } = await sandbox.run(["--trust", "doctor"], { env: { SECOND_KEY: "k-12345678" } });
  expect(stdout).toMatch(/^✓ secrets of .*: SECOND_KEY set, withheld .*; FIRST_KEY not set$/m);
  const tools = (await sandbox.run(["--trust", "tools"])).stdout;
  expect(tools).toMatch(/^seek +off +no engine is configured\. +/m);
  expect(tools).toMatch(
    /\nseek: no engine is configured\. To configure one:\n {4}engine: first\n {4}engine: second\n$/,
  );
});

describe("the command line says what is wrong with it", () => {
  test.each([
    ["dcotor", "agent doctor"],
    ["sesions", "agent sessions"],
  ])("corrects a misspelt command: %s", async (word, meant) => {
    const { code, stderr } = await new Sandbox().run([word]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Did you mean "${meant}"?`);
  });

  test("takes any other word as a task, and a misspelt one with -p", async () => {
    expect((await new Sandbox().run(["hello"])).code).toBe(0);
    expect((await new Sandbox().run(["-p", "dcotor"])).code).toBe(0);
  });

  test.each([
    ["--model", ["--model", "a", "--model", "b", "hi"]],
    ["--resume", ["--resume=a", "--resume=b", "hi"]],
    ["--port", ["mcp", "serve", "--port", "1", "--port", "2"]],
    ["--scope", ["mcp", "login", "x", "--scope", "a", "--scope", "b"]],
    ["--limit", ["runs", "list", "--limit", "1", "--limit", "2"]],
  ])("refuses %s, a flag with one value, if it is given twice", async (flag, args) => {
    const { code, stderr } = await new Sandbox().run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} is given twice`);
  });

  test("refuses a tool argument that is given twice", async () => {
    const tool = await new Sandbox().run(["tool", "run", "read_file", "--path", "a", "--path", "b"]);
    expect(tool.code).toBe(2);
    expect(tool.stderr).toContain("--path is given twice");
  });

  test("shows the tool's arguments with tool run NAME --help, also of one that is off", async () => {
    const { code, stdout } = await new Sandbox().run(["tool", "run", "run_bash", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: agent tool run run_bash");
    expect(stdout).toMatch(/--command +string +required/);
    expect(stdout).toMatch(/--timeout/);
  });

  test("runs the plain command without a chat with agent run, and takes more words after it as a task", async () => {
    const box = new Sandbox();
    box.write("a.txt", "");
    expect((await box.run(["run", "list files"])).stdout).toContain("a.txt");
    expect((await box.run(["run", "list", "files"])).stdout).toContain("That needs the tool run_bash");
  });

  test("stops a model that repeats itself after maxRepeats in the config", async () => {
    const box = new Sandbox();
    box.write("agent.config.mjs", scripted([["list_dir", {}]], "maxRepeats: 2,"));
    const { code, stderr } = await box.run(["--trust", "go"]);
    expect(code).toBe(5);
    expect(stderr).toContain("same");
  });
});

test("lets run_bash ask first in agent init unless configured otherwise", async () => {
  const box = new Sandbox();
  await box.run(["init", "--enable", "run_bash"]);
  const tools = JSON.parse((await box.run(["tools", "--json"])).stdout).tools;
  expect(tools).toContainEqual(expect.objectContaining({ name: "run_bash", on: true, confirm: true }));
  await box.run(["init", "--force", "--enable", "run_bash", "--no-confirm"]);
  const again = JSON.parse((await box.run(["tools", "--json"])).stdout).tools;
  expect(again).toContainEqual(expect.objectContaining({ name: "run_bash", confirm: false }));
});

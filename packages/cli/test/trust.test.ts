import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packSource, Sandbox } from "./agent.js";

const MARKED = (text: string): string =>
  `import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\n${text}`;

function ran(box: Sandbox): boolean {
  return statSync(join(box.project, "ran"), { throwIfNoEntry: false }) !== undefined;
}

describe("a project's config is code, and runs only after trust", () => {
  test("does not execute one that was never trusted; the run stops with its own exit code", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", MARKED("export default {};"));
    for (const args of [["tools"], ["list files"], ["config"], ["tool", "run", "list_dir"]]) {
      const { code, stderr, stdout } = await box.run(args);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain(`${file} has not been trusted on this machine`);
      expect(stderr).toContain("run this command in a terminal and approve it, pass --trust");
    }
    expect(ran(box)).toBe(false);
  });

  test("trusts it with --trust and remembers that in a file only its owner can read", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", MARKED("export default {};"));
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    expect(ran(box)).toBe(true);
    expect((await box.run(["tools"])).code).toBe(0);
    const store = join(box.home, ".local/state/agent/trust.json");
    expect(statSync(store).mode & 0o777).toBe(0o600);
  });

  test("leaves it out with --no-config", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", MARKED("export default {};"));
    expect((await box.run(["tools", "--no-config"])).code).toBe(0);
    expect(ran(box)).toBe(false);
  });

  test("binds trust to the content: a changed config asks again", async () => {
    const box = new Sandbox();
    const file = box.write("agent.config.ts", "export default {};");
    await box.run(["tools", "--trust"]);
    box.write("agent.config.ts", MARKED("export default {};"));
    const { code, stderr } = await box.run(["tools"]);
    expect(code).toBe(4);
    expect(stderr).toContain(`${file} has changed since it was trusted`);
    expect(ran(box)).toBe(false);
  });

  test.each([
    ["a pack it names", 'export default { packs: ["./pack.mjs"] };'],
    ["a pack it names in JSON", '{ "packs": ["./pack.mjs"] }'],
    ["a module it imports", 'import "./pack.mjs";\nexport default {};'],
    ["a module it imports on the way", 'import "./between.ts";\nexport default {};'],
    ["a pack whose path is put together", 'export default { packs: ["./pa" + "ck.mjs"] };'],
  ])("binds trust to %s too", async (_, config) => {
    const box = new Sandbox();
    box.write("between.ts", 'export * from "./pack.mjs";');
    box.write("pack.mjs", packSource("one"));
    box.write(config.startsWith("{") ? "agent.config.json" : "agent.config.ts", config);
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    expect((await box.run(["tools"])).code).toBe(0);
    const pack = box.write("pack.mjs", MARKED(packSource("two")));
    const { code, stderr } = await box.run(["tools"]);
    expect(code).toBe(4);
    expect(stderr).toContain(pack);
    expect(ran(box)).toBe(false);
  });

  test("does not trust by mistake a file too large to be looked at", async () => {
    const box = new Sandbox();
    truncateSync(box.write("huge.mjs", ""), 17 * 1024 * 1024);
    box.write("agent.config.ts", 'import "./huge.mjs";\nexport default {};');
    const { code, stderr } = await box.run(["tools", "--trust"]);
    expect(code).toBe(2);
    expect(stderr).toContain("too large to be checked");
  });

  test("stops the agent from writing its own config, and does not trust a changed one anyway", async () => {
    const box = new Sandbox();
    await box.run(["init", "-y"]);
    const { code, stdout } = await box.run(['write "export default { enable: [] }" to agent.config.ts']);
    expect(code).toBe(3);
    expect(stdout).toContain("no tool changes it");
  });

  test("needs no trust for data that only narrows, and needs it for data that widens", async () => {
    const box = new Sandbox();
    box.write("agent.config.json", '{"disable":["write_file"],"confirm":["move"],"readOnly":false}');
    expect((await box.run(["tools"])).stdout).toMatch(/^write_file +off +disabled by agent\.config\.json/m);
    box.write("agent.config.json", '{"disable":["write_file"],"enable":["run_bash"]}');
    expect((await box.run(["tools"])).code).toBe(4);
  });

  test("does not let a project set the provider, a key or the config directory before trust", async () => {
    const box = new Sandbox();
    box.write(".env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1\nAGENT_CONFIG_DIR=.\nOPENAI_API_KEY=x");
    box.write("config.json", '{"enable":["run_bash"]}');
    const plain = await box.run(["doctor"]);
    expect(plain.stdout).toContain("offline assistant");
    expect((await box.run(["tools"])).stdout).toMatch(/^run_bash +off/m);
    box.write("package.json", '{"agent":{"provider":{"baseURL":"http://127.0.0.1:9/v1"}}}');
    expect((await box.run(["list files"], { env: { OPENAI_API_KEY: "sk-x" } })).code).toBe(4);
  });

  test("does not ask for trust again for a new dependency in package.json", async () => {
    const box = new Sandbox();
    box.write("package.json", '{"agent":{"enable":["remove"]}}');
    await box.run(["tools", "--trust"]);
    box.write("package.json", '{"dependencies":{"x":"1"},"agent":{"enable":["remove"]}}');
    expect((await box.run(["tools"])).code).toBe(0);
  });

  test("trusts what agent init wrote, until it changes", async () => {
    const box = new Sandbox();
    expect((await box.run(["init", "--enable", "run_bash"])).code).toBe(0);
    const { code, stdout } = await box.run(["tools"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run_bash +on +enabled by agent\.config\.ts/m);
    const file = join(box.project, "agent.config.ts");
    writeFileSync(file, `${readFileSync(file, "utf8")}\n// changed`);
    expect((await box.run(["tools"])).code).toBe(4);
  });

  test("does not trust packages of the project under our names with agent init", async () => {
    const box = new Sandbox();
    box.write(
      "node_modules/@agent/preset-default/package.json",
      '{"name":"@agent/preset-default","type":"module","exports":"./index.js"}',
    );
    box.write("node_modules/@agent/preset-default/index.js", MARKED(packSource("evil")));
    const created = await box.run(["init", "--yes"]);
    expect([created.code, created.stderr]).toEqual([
      0,
      expect.stringMatching(
        /The next start asks before it loads files of the project: .*preset-default\/index\.js/,
      ),
    ]);
    const { code, stderr } = await box.run(["tools"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("preset-default/index.js")]);
    expect(ran(box)).toBe(false);
  });

  test("does not replace the default preset with packs in an untrusted project's node_modules", async () => {
    const box = new Sandbox();
    box.write(
      "node_modules/@agent/preset-default/package.json",
      '{"name":"@agent/preset-default","type":"module","exports":"./index.js"}',
    );
    box.write("node_modules/@agent/preset-default/index.js", MARKED(packSource("evil")));
    expect((await box.run(["tools"])).stdout).toMatch(/^read_file/m);
    box.write("agent.config.json", '{"disable":["read_file"]}');
    expect((await box.run(["tools"])).stdout).toMatch(/^read_file +off/m);
    expect(ran(box)).toBe(false);
  });

  test("ignores a trust store that another user could write", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", MARKED("export default {};"));
    const state = join(box.home, ".local/state/agent");
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "trust.json"), "not json");
    expect((await box.run(["tools"])).code).toBe(4);
    expect(ran(box)).toBe(false);
  });
});

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";

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

  test("allows top-level await and other files of the project in a config", async () => {
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
  test("applies defaults < user config < project config < environment < flags, and reports the origin of each value", async () => {
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

  test("takes the mode from the config, the environment or a flag, and names a wrong one with the valid ones", async () => {
    const box = new Sandbox();
    box.write("agent.config.json", '{"mode":"auto"}');
    const explain = async (args: string[], env = {}): Promise<string> =>
      (await box.run(["config", "--explain", "--trust", ...args], { env })).stdout;
    expect(await explain([])).toMatch(/^mode +auto +agent\.config\.json$/m);
    expect(await explain([], { AGENT_MODE: "ask" })).toMatch(/^mode +ask +AGENT_MODE$/m);
    expect(await explain(["--mode", "plan"], { AGENT_MODE: "ask" })).toMatch(/^mode +plan +--mode$/m);
    const wrong = await box.run(["--trust", "--mode", "yolo", "write x to y"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--mode must be one of plan, ask, edits, auto, got string "yolo".');
    const planned = await box.run(["--trust", "--mode", "plan", "write hello to a.txt"]);
    expect(planned.code).not.toBe(0);
    expect(existsSync(join(box.project, "a.txt"))).toBe(false);
  });

  test("applies --tools in order, and removes whatever can change something with --read-only", async () => {
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

  test("never shows a key in the config", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.json",
      '{"provider":{"apiKey":"sk-very-secret","headers":{"x":"also-secret"},"baseURL":"http://127.0.0.1:9/v1"}}',
    );
    const { stdout } = await box.run(["config", "--trust"]);
    expect(stdout).toContain("http://127.0.0.1:9/v1");
    expect(stdout).not.toContain("secret");
  });

  test("narrows the tools and sets prompt and model for agents of the config, and refuses an unknown one", async () => {
    const box = new Sandbox();
    box.write(
      "agent.config.ts",
      'export default { agents: { reviewer: { systemPrompt: "review", tools: ["read_file", "run_bash"], model: "m" } } };',
    );
    const { stdout } = await box.run(["config", "--trust", "--agent", "reviewer"]);
    expect(JSON.parse(stdout)).toMatchObject({
      systemPrompt: "review",
      model: "m",
      maxCost: null,
      tools: ["read_file"],
    });
    const wrong = await box.run(["config", "--trust", "--agent", "revewer"]);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: "agent: --agent revewer: there is no such agent. Defined: reviewer.\n",
    });
  });
});

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox, scripted } from "./agent.js";
import { refusingServer } from "./servers.js";

/** Installs a provider package for the user alone, which answers with what it was given. */
function installProvider(box: Sandbox, packages = ".local/share/agent/node_modules"): void {
  const name = "@agent/provider-anthropic";
  const folder = join(box.home, packages, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name, type: "module", exports: "./index.js" }),
  );
  writeFileSync(
    join(folder, "index.js"),
    `export const provider = {
      name: "anthropic",
      keyVariables: ["ANTHROPIC_API_KEY"],
      baseURLVariable: "ANTHROPIC_BASE_URL",
      baseURL: "https://api.anthropic.com",
      defaultModel: "claude-default",
      createProvider: ({ model, apiKey }) => ({
        id: "anthropic",
        model,
        async respond(request) {
          const content = model + " with " + (apiKey === "sk-ant-secret" ? "the key" : "no key");
          request.onText?.(content);
          return { content, toolCalls: [], finishReason: "stop", usage: { inputTokens: 1000, outputTokens: 100 } };
        },
      }),
      listModels: async () => [{ id: "claude-default", name: "Claude" }, { id: "claude-x" }],
    };`,
  );
}

const KEY = { ANTHROPIC_API_KEY: "sk-ant-secret" };

describe("a provider is chosen by name", () => {
  test("reports what to install if one is not installed", async () => {
    const { code, stderr } = await new Sandbox().run(["--model", "anthropic/claude-x", "hi"], { env: KEY });
    expect(code).toBe(2);
    expect(stderr).toContain('The provider "anthropic" is not installed. Run: npm install');
    expect(stderr).toContain("@agent/provider-anthropic");
  });

  test("offers one that is not installed in a terminal, and uses it after approval", async () => {
    const box = new Sandbox();
    installProvider(box, "registry");
    // Outside the project: a program of the project is not run.
    const bin = join(box.root, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "npm"),
      '#!/bin/sh\necho "$*" > "$HOME/asked" && cp -R "$HOME/registry" node_modules\n',
    );
    chmodSync(join(bin, "npm"), 0o755);
    const env = { ...KEY, PATH: `${bin}:${process.env.PATH}` };
    const question = "Install @agent/provider-anthropic with npm, for your user only?";
    const args = ["--model", "anthropic/claude-x", "hi"];
    const refused = await box.runInTerminal(args, [[question, "n"]], env);
    expect(refused.stdout).toContain('The provider "anthropic" is not installed. Run: npm install');
    expect(existsSync(join(box.home, "asked"))).toBe(false);
    const agreed = await box.runInTerminal(args, [[question, "y"]], env);
    expect(agreed.stdout).toContain("claude-x with the key");
    expect(readFileSync(join(box.home, "asked"), "utf8")).toMatch(
      /^install .*--ignore-scripts=true .*@agent\/provider-anthropic\n$/,
    );
  });

  test.each([
    [["--model", "anthropic/claude-x"], "claude-x with the key"],
    [["--provider", "anthropic"], "claude-default with the key"],
    [["--provider", "anthropic", "--model", "anthropic/claude-y"], "claude-y with the key"],
    [[], "claude-default with the key"],
  ])("by %j, with its own key variable", async (flags, answer) => {
    const box = new Sandbox();
    installProvider(box);
    expect((await box.run([...flags, "hi"], { env: KEY })).stdout).toBe(`${answer}\n`);
  });

  test("in the config, with or without settings", async () => {
    const box = new Sandbox();
    installProvider(box);
    box.write("agent.config.json", '{"provider":{"name":"anthropic","model":"claude-z"}}');
    expect((await box.run(["--trust", "hi"], { env: KEY })).stdout).toBe("claude-z with the key\n");
  });

  test("names the variable if there is no key", async () => {
    const box = new Sandbox();
    installProvider(box);
    const { code, stderr } = await box.run(["--provider", "anthropic", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("There is no API key for anthropic. Set ANTHROPIC_API_KEY");
  });

  test("corrects a misspelt one", async () => {
    const { code, stderr } = await new Sandbox().run(["--provider", "antropic", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean "anthropic"?');
  });

  test("does not run an untrusted project's own package of that name", async () => {
    const box = new Sandbox();
    box.write("node_modules/@agent/provider-anthropic/package.json", '{"name":"x","exports":"./i.cjs"}');
    box.write("node_modules/@agent/provider-anthropic/i.cjs", 'require("fs").writeFileSync("ran", "")');
    const { stderr } = await box.run(["--provider", "anthropic", "hi"], { env: KEY });
    expect(stderr).toContain("is not installed");
  });

  test("lists with agent models what the server offers, and proves with agent doctor that the model answers", async () => {
    const box = new Sandbox();
    installProvider(box);
    const models = await box.run(["models", "--provider", "anthropic"], { env: KEY });
    expect(models.stdout).toMatch(/anthropic\/claude-default +Claude\nanthropic\/claude-x/);
    const doctor = await box.run(["doctor", "--model", "anthropic/claude-x"], { env: KEY });
    expect(doctor.stdout).toMatch(
      /✓ provider: claude-x at api.anthropic.com \(from --model\), answered in \d/,
    );
    expect(doctor.stdout).toContain("✓ models: 2 models listed, claude-x among them");
    const wrong = await box.run(["doctor", "--model", "anthropic/claude-w"], { env: KEY });
    expect(wrong.stdout).toContain("✗ models: the server lists 2 models, and claude-w is not among them");
    expect(wrong.code).toBe(2);
  });
});

test("gives no tick in agent doctor to a server that refuses the key", async () => {
  const url = await refusingServer();
  const { code, stdout } = await new Sandbox().run(["doctor", "--base-url", url], {
    env: { OPENAI_API_KEY: "sk-wrong-key" },
  });
  expect(code).toBe(2);
  expect(stdout).toMatch(/✗ provider: gpt-5-mini at 127\.0\.0\.1:\d+ \(from --base-url\): .*bad key/);
  expect(stdout).not.toContain("sk-wrong-key");
});

test("answers with a fallback if the first model fails, and announces it each time", async () => {
  const box = new Sandbox();
  installProvider(box);
  const url = await refusingServer();
  const args = ["--base-url", url, "--model", "first", "--fallback", "anthropic/claude-x", "hi"];
  const { code, stdout, stderr } = await box.run(args, { env: { ...KEY, OPENAI_API_KEY: "sk-wrong-key" } });
  expect(code).toBe(0);
  expect(stdout).toBe("claude-x with the key\n");
  expect(stderr).toMatch(/↻ Model first failed \(.*bad key.*\); the fallback claude-x answers/);
});

test("charges a fallback at its own price, and reports no cost if it has none", async () => {
  const box = new Sandbox();
  installProvider(box);
  const env = { ...KEY, OPENAI_API_KEY: "sk-wrong-key" };
  const first = { input: 1000, output: 1000 };
  const args = ["--base-url", await refusingServer(), "--model", "first", "--fallback", "anthropic/claude-x"];
  const run = async (prices: object): Promise<{ cost?: number }> => {
    box.write("agent.config.json", JSON.stringify({ prices }));
    return JSON.parse((await box.run([...args, "--trust", "--output", "json", "hi"], { env })).stdout);
  };
  expect(await run({ first, "anthropic/claude-x": { input: 3, output: 10 } })).toMatchObject({ cost: 0.004 });
  expect(await run({ first })).not.toHaveProperty("cost");
});

test("shows prices in the config as cost", async () => {
  const box = new Sandbox();
  box.write(
    "agent.config.mjs",
    scripted(["done"], "prices: { scripted: { input: 100_000, output: 1_000_000 } },"),
  );
  const text = await box.run(["--trust", "hi"]);
  expect(text.stderr).toContain("10 tokens in, 5 out · 1 request · $6.00");
  const { stdout } = await box.run(["--output", "json", "hi"]);
  expect(JSON.parse(stdout)).toMatchObject({ cost: 6 });
});

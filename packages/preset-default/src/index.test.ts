import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type PackHost,
  type ToolContext,
  ToolRegistry,
  type UserAnswer,
  type UserQuestion,
} from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, createDefaultToolRegistry, type PresetOptions, register } from "./index.js";

const context: ToolContext = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };

// The ten of the specification; the file pack also has edit_file.
const BUILT_IN = [
  "read_file",
  "write_file",
  "save_session_context",
  "list_dir",
  "mkdir",
  "remove",
  "move",
  "search_text",
  "search_files",
  "run_bash",
];
const DISABLED = ["remove", "run_bash"];

describe("createDefaultToolRegistry", () => {
  test("Scenario: Default factory registers all built-in tools", () => {
    expect(createDefaultToolRegistry(context).getToolNames()).toEqual(expect.arrayContaining(BUILT_IN));
  });

  test("Scenario: Create default registry; Scenario: Built-in tools are enabled: read, write and save are there", () => {
    const enabled = createDefaultToolRegistry(context)
      .getEnabledSchemas()
      .map((schema) => schema.function.name);
    expect(enabled).toEqual(expect.arrayContaining(["read_file", "write_file", "save_session_context"]));
  });

  test("Scenario: Destructive tools are disabled by default, and all others enabled", () => {
    const registry = createDefaultToolRegistry(context);
    for (const name of registry.getToolNames()) {
      expect([name, registry.isToolEnabled(name)]).toEqual([name, !DISABLED.includes(name)]);
    }
  });

  test("Scenario: run_bash is registered but disabled in default factory", () => {
    const registry = createDefaultToolRegistry(context);
    expect(registry.hasTool("run_bash")).toBe(true);
    expect(registry.isToolEnabled("run_bash")).toBe(false);
  });

  test("Scenario: run_bash rejects execution when disabled", async () => {
    const registry = createDefaultToolRegistry(context);
    expect(await registry.execute("run_bash", { command: "echo test" })).toBe("Tool not available: run_bash");
  });

  test("Scenario: Register shell toolcall: its schema has command, arguments and working_directory", () => {
    const registry = createDefaultToolRegistry(context, { enable: ["run_bash"] });
    const schema = registry.getEnabledSchemas().find((one) => one.function.name === "run_bash");
    expect(Object.keys(schema?.function.parameters?.properties ?? {})).toEqual(
      expect.arrayContaining(["command", "arguments", "working_directory"]),
    );
  });

  test("lists each tool under its own pack", () => {
    const sources = Object.fromEntries(
      createDefaultToolRegistry(context)
        .describeTools()
        .map((tool) => [tool.name, tool.source]),
    );
    expect(sources).toMatchObject({
      save_session_context: "@agent/core",
      read_file: "@agent/tools-fs",
      search_text: "@agent/tools-search",
      run_bash: "@agent/tools-bash",
    });
  });
});

describe("Agent", () => {
  test("Scenario: Constructor signature unchanged: new Agent(provider, options) starts with the default registry", () => {
    const agent = new Agent(scriptedProvider([]), { systemPrompt: "Be brief." });
    expect(agent.registry.getToolNames()).toEqual(createDefaultToolRegistry(context).getToolNames());
  });

  test("Scenario: run_bash works after explicit enable", async () => {
    const agent = new Agent(scriptedProvider([]));
    expect(agent.enableTool("run_bash")).toBe(true);
    const result = JSON.parse(await agent.registry.execute("run_bash", { command: "echo test" }));
    expect(result).toMatchObject({ stdout: "test\n", stderr: "", exit_code: 0 });
  });

  test("adds packs in the options to the built-in ones", () => {
    const agent = new Agent(scriptedProvider([]), {
      tools: [{ packName: "mine", register: (registry) => registry.register(hello) }],
    });
    expect(agent.registry.hasTool("hello")).toBe(true);
    expect(agent.registry.hasTool("read_file")).toBe(true);
  });
});

test("passes options to the pack they are for, and reports a misspelt block", async () => {
  const { registerPack } = await import("@agent/core");
  const preset = { packName: "preset", register };
  expect(() => registerPack(new ToolRegistry(), preset, { context, options: { bsh: {} } })).toThrow(
    /option "bsh" is not known\. Did you mean "bash"\?/,
  );
  expect(() =>
    registerPack(new ToolRegistry(), preset, { context, options: { fs: { rooot: "." } } }),
  ).toThrow(/@agent\/tools-fs: option "rooot" is not known\. Did you mean "root"\?/);
});

test("exports the public API of @agent/preset-default", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "Agent",
    "createDefaultToolRegistry",
    "followsDirectory",
    "packApiVersion",
    "packName",
    "register",
  ]);
});

const hello = {
  name: "hello",
  getSchema: () => ({ type: "function" as const, function: { name: "hello", description: "Greets." } }),
  execute: async () => "hello",
};

function asking(answer: UserAnswer) {
  const asked: UserQuestion[] = [];
  const host: PackHost<PresetOptions> = {
    context,
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
  };
  const registry = new ToolRegistry();
  register(registry, host);
  return { registry, asked };
}

describe("ask_user", () => {
  test("asks with choices, or for a text, and gives the model the answer", async () => {
    const { registry, asked } = asking({ answer: "yes", values: { answer: "SQLite" } });
    const args = { question: "Which database?", choices: ["SQLite", "Postgres", "SQLite"] };
    expect(await registry.execute("ask_user", args)).toBe("The user answered: SQLite");
    expect(await registry.execute("ask_user", { question: "What name?" })).toBe("The user answered: SQLite");
    expect(asked).toMatchObject([
      {
        source: "The model",
        message: "Which database?",
        immediate: true,
        fields: [{ type: "choice", other: true, options: [{ value: "SQLite" }, { value: "Postgres" }] }],
      },
      { fields: [{ type: "text", required: true }] },
    ]);
  });

  test.each([
    [{ answer: "no" }, "does not want to answer"],
    [{ answer: "dismissed" }, "No one answered. Decide yourself"],
  ] as const)("says that there is no answer: %j", async (answer, expected) => {
    expect(await asking(answer).registry.execute("ask_user", { question: "Which?" })).toContain(expected);
  });

  test("is not there where no one can be asked", () => {
    const registry = new ToolRegistry();
    register(registry, { context });
    expect(registry.hasTool("ask_user")).toBe(false);
  });
});

test("works in the directory of the host: files, search and commands", async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "agent-preset-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "src"));
  writeFileSync(join(directory, "src/a.txt"), "needle\n");
  const registry = createDefaultToolRegistry(context, {
    enable: ["run_bash", "remove"],
    host: { directory },
  });
  onTestFinished(() => registry.dispose());
  expect(await registry.execute("read_file", { path: "src/a.txt" })).toBe("needle\n");
  await registry.execute("write_file", { path: "src/b.txt", content: "needle too" });
  await registry.execute("move", { source: "src/a.txt", destination: "c.txt" });
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual(["c.txt", "src", "src/b.txt"]);
  expect(await registry.execute("list_dir", { path: "." })).toContain("c.txt");
  expect(await registry.execute("search_text", { query: "needle", paths: ["."] })).toContain("src/b.txt");
  expect(await registry.execute("search_files", { pattern: "**/*.txt" })).toContain("c.txt");
  const command = async (args: object): Promise<string> =>
    JSON.parse(await registry.execute("run_bash", { command: "pwd", ...args })).stdout.trim();
  expect([await command({}), await command({ cwd: "src" })]).toEqual([directory, join(directory, "src")]);
  const described = async (args: object) => {
    const prepared = await registry.prepare("run_bash", { command: "pwd", ...args });
    return "outcome" in prepared ? prepared : await prepared.describe(new AbortController().signal);
  };
  expect(await described({})).toMatchObject({ targets: [{ type: "command", text: "pwd" }] });
  expect(await described({})).not.toMatchObject({ targets: [{ cwd: expect.anything() }] });
  expect(await described({ cwd: "/" })).toMatchObject({ targets: [{ cwd: "/" }] });
  expect(await registry.execute("remove", { path: "." })).toContain("is the working directory, and is never");
});

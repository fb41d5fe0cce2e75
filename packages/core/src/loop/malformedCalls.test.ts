import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentWith, call, collect, toolTexts } from "../../test/conversation.js";
import { functionTool } from "../toolkit/jsonSchema/functionTool.js";
import { defineTool } from "../tools/defineTool.js";
import type { ExecutableTool, JsonSchema } from "../tools/tool.js";
import { findWrittenCall } from "./requestedCalls.js";

/** A tool that notes with which arguments it ran. */
function noting(name: string, properties: Record<string, JsonSchema>, optional: readonly string[] = []) {
  const ran: Record<string, unknown>[] = [];
  const tool: ExecutableTool = {
    name,
    pathArguments: ["path"],
    getSchema: () => functionTool(name, "Test.", properties, [...optional]),
    execute: async (args) => {
      ran.push(args);
      return "ran";
    },
  };
  return { tool, ran };
}

const EDIT = {
  path: { type: "string" },
  old_text: { type: "string" },
  limit: { type: "integer", minimum: 1 },
  all: { type: "boolean" },
  paths: { type: "array", items: { type: "string" } },
  edits: {
    type: "array",
    items: {
      type: "object",
      properties: { old_text: { type: "string" } },
      required: ["old_text"],
      additionalProperties: false,
    },
  },
};
const OPTIONAL = ["old_text", "limit", "all", "paths", "edits"];

describe("a call that a model wrote wrongly", () => {
  test.each([
    [{ path: "a", limit: "5" }, { path: "a", limit: 5 }, '"limit" as the number 5'],
    [{ path: "a", all: "True" }, { path: "a", all: true }, '"all" as true'],
    [{ path: "a", paths: '["x","y"]' }, { path: "a", paths: ["x", "y"] }, '"paths" as a list'],
    [{ path: "a", paths: "x" }, { path: "a", paths: ["x"] }, '"paths" as a list with one item'],
    [{ path: "a", limit: null }, { path: "a" }, '"limit" as absent, because it was null'],
    [{ file_path: "a" }, { path: "a" }, '"file_path" as "path"'],
    [{ filePath: "a" }, { path: "a" }, '"filePath" as "path"'],
    [{ path: "a", old_string: "x" }, { path: "a", old_text: "x" }, '"old_string" as "old_text"'],
    [
      { path: "a", edits: [{ oldString: "x" }] },
      { path: "a", edits: [{ old_text: "x" }] },
      '"edits[0].oldString"',
    ],
    [
      { path: "a", edits: '[{"old_text":"x"}]' },
      { path: "a", edits: [{ old_text: "x" }] },
      '"edits" as a list',
    ],
    [{ path: "a.txt\n" }, { path: "a.txt" }, '"path" as "a.txt"'],
    [{ path: '"a b.txt"' }, { path: "a b.txt" }, '"path" as "a b.txt"'],
    [{ path: "file:///tmp/a%20b" }, { path: "/tmp/a b" }, '"path" as "/tmp/a b"'],
    [{ path: 4 }, { path: "4" }, '"path" as text'],
    [{ input: { path: "a" } }, { path: "a" }, 'the content of "input" as the arguments'],
    [{ arguments: '{"file":"a"}' }, { path: "a" }, 'the content of "arguments" as the arguments'],
    [{ path: "a", limit: "", all: "" }, { path: "a" }, '"limit" as absent, because it was empty'],
    [{ path: "a", limit: "None", all: "null" }, { path: "a" }, '"limit" as absent, because it was "None"'],
    [{ paths: ["a", "b"], file: "c" }, { path: "c", paths: ["a", "b"] }, '"file" as "path"'],
  ])("is run in its only reading: %j", async (args, meant, note) => {
    const { tool, ran } = noting("edit", EDIT, OPTIONAL);
    const agent = agentWith([call("edit", args), "Done."], [tool]);
    await collect(agent, "Go.");
    expect(ran).toEqual([meant]);
    expect(toolTexts(agent)[0]).toMatch(/^ran\n\[The call was read with /);
    expect(toolTexts(agent)[0]).toContain(note);
  });

  test.each([
    [{ path: "a", limit: "five" }],
    [{ path: "a", paths: "x,y" }],
    [{ path: "a", all: "yes" }],
    [{ file: "a", file_path: "b" }],
    [{ path: { a: 1 } }],
    [{ path: "a", limit: "0" }],
    // What JSON has read of 1.10 and of a long id is not what was written.
    [{ path: "a", old_text: 1.1 }],
    [{ path: "a", old_text: 1.2345678901234567e19 }],
    [{ path: "a", limit: "12345678901234567890" }],
  ])("is not run if it has no reading, or several: %j", async (args) => {
    const { tool, ran } = noting("edit", EDIT, OPTIONAL);
    const agent = agentWith([call("edit", args), "Done."], [tool]);
    await collect(agent, "Go.");
    expect(ran).toEqual([]);
    expect(toolTexts(agent)[0]).toContain("Expected: { path: string, old_text?: string, limit?: integer,");
  });

  test.each([
    [
      { pattern: "x", path: "." },
      { query: "x", paths: ["."] },
    ],
    [
      { query: "x", file: "a.txt" },
      { query: "x", paths: ["a.txt"] },
    ],
  ])("is run with a list for one path, and never with text for a flag: %j", async (args, meant) => {
    const properties = {
      query: { type: "string" },
      paths: { type: "array", items: { type: "string" } },
      regex: { type: "boolean" },
    };
    const { tool, ran } = noting("search_text", properties, ["regex"]);
    await collect(agentWith([call("search_text", args), "Done."], [tool]), "Go.");
    expect(ran).toEqual([meant]);
  });

  test.each<[Record<string, readonly string[]>, object, object | undefined]>([
    [{ path: [] }, { paths: ["a"] }, { path: "a" }],
    [{ path: [] }, { paths: ["a", "b"] }, undefined],
    [{ path: [] }, { dir_path: "a" }, { path: "a" }],
    [
      { source: [], destination: [] },
      { from: "a", to: "b" },
      { source: "a", destination: "b" },
    ],
    [
      { source: [], destination: [] },
      { src: "a", dst: "b" },
      { source: "a", destination: "b" },
    ],
    [{ command: [] }, { command: ["bash", "-lc", "npm test"] }, { command: "npm test" }],
    [{ command: [] }, { command: ["npm", "test"] }, undefined],
    [{ command: [] }, { command: ["node", "-c", "a.js"] }, undefined],
    [{ text: [] }, { text: ["sh", "-c", "ls"] }, undefined],
    [
      { command: [], cwd: ["?"], working_directory: ["?"] },
      { cmd: "ls", workdir: "a" },
      { command: "ls", cwd: "a" },
    ],
    [{ query: [], file: ["?"], path: ["?"] }, { query: "x", filename: "a" }, undefined],
    [{ query: [], glob: ["?"] }, { pattern: "x" }, { query: "x" }],
    [
      { query: [], glob: ["?"] },
      { query: "x", include: "*.ts" },
      { query: "x", glob: "*.ts" },
    ],
    [{ pattern: [] }, { glob: "*.ts" }, { pattern: "*.ts" }],
  ])("is run under the names of the tool if they have one meaning: %j %j", async (names, args, meant) => {
    const properties = Object.fromEntries(Object.keys(names).map((name) => [name, { type: "string" }]));
    const optional = Object.keys(names).filter((name) => names[name]?.includes("?"));
    const { tool, ran } = noting("run", properties, optional);
    await collect(agentWith([call("run", args), "Done."], [tool]), "Go.");
    expect(ran).toEqual(meant === undefined ? [] : [meant]);
  });

  test("is not run with the item of a list as the content of a file", async () => {
    const { tool, ran } = noting("write_file", { path: { type: "string" }, content: { type: "string" } });
    await collect(
      agentWith([call("write_file", { path: "a.json", content: ["x"] }), "Done."], [tool]),
      "Go.",
    );
    expect(ran).toEqual([]);
  });

  test("is not run if its repaired arguments fail a check that JSON Schema cannot express", async () => {
    const ran: unknown[] = [];
    const tool = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({ minutes: z.number().refine((minutes) => minutes % 2 === 0, "must be even") }),
      execute: (args) => `ran ${ran.push(args)}`,
    });
    const agent = agentWith(
      [call("wait", { minutes: "3" }), call("wait", { minutes: "4" }), "Done."],
      [tool],
    );
    await agent.chat("Wait.");
    expect(toolTexts(agent)).toEqual([
      expect.stringMatching(/^Error executing wait: .*minutes/s),
      expect.stringContaining("ran 1"),
    ]);
    expect(ran).toEqual([{ minutes: 4 }]);
  });

  test("gets all its problems in one message", async () => {
    const { tool } = noting("edit", EDIT, OPTIONAL);
    const agent = agentWith([call("edit", { limit: "many", all: 7, speed: 1 }), "Done."], [tool]);
    await collect(agent, "Go.");
    const [text = ""] = toolTexts(agent);
    for (const name of ["path", "limit", "all", "speed"]) expect(text).toContain(`"${name}"`);
  });

  test("is decided about with the arguments that it runs with", async () => {
    const seen: unknown[] = [];
    const { tool } = noting("edit", EDIT, OPTIONAL);
    const agent = agentWith([call("edit", { file_path: '".env"' }), "Done."], [tool], {
      approve: ({ args }) => {
        seen.push(args);
        return "allow";
      },
    });
    await collect(agent, "Go.");
    expect(seen).toEqual([{ path: ".env" }]);
  });

  test("causes an error for a program that calls the registry", async () => {
    const { tool, ran } = noting("edit", EDIT, OPTIONAL);
    const { registry } = agentWith([], [tool]);
    expect(await registry.execute("edit", { path: "a", limit: "5" })).toMatch(
      /^Error executing edit: "limit" must/,
    );
    expect(ran).toEqual([]);
  });
});

describe("a name that no tool has", () => {
  test.each([
    "functions.read_file",
    "READ_FILE",
    "readFile",
    "read-file",
    "default_api:read_file",
    "functions.read_file:0",
    "read_file<|channel|>commentary",
    "repo_browser.read_file",
  ])("is read as the only tool it can mean: %s", async (name) => {
    const { tool, ran } = noting("read_file", { path: { type: "string" } });
    const { events } = await collect(agentWith([call(name, { path: "a" }), "Done."], [tool]), "Go.");
    expect(ran).toEqual([{ path: "a" }]);
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_start", name: "read_file" }));
  });

  test.each([
    ["Read", 'Did you mean "read_file"?'],
    ["bash", 'Did you mean "run_bash"?'],
    ["red_file", 'Did you mean "read_file"?'],
    ["mcp__fs__read_file", 'Did you mean "read_file"?'],
    ["browser.red_file", 'Did you mean "read_file"?'],
    ["teleport", "The tools are: save_session_context, read_file, run_bash."],
  ])("gets the nearest name and the list: %s", async (name, hint) => {
    const tools = ["read_file", "run_bash"].map((one) => noting(one, {}).tool);
    const agent = agentWith([call(name), "Done."], tools);
    await collect(agent, "Go.");
    expect(toolTexts(agent)[0]).toMatch(new RegExp(`^Tool not found: ${name}\\. `));
    expect(toolTexts(agent)[0]).toContain(hint);
    expect(toolTexts(agent)[0]).toContain("The tools are: save_session_context, read_file, run_bash.");
  });

  test("is not guessed between two tools", async () => {
    const [a, b] = [noting("read_file", {}), noting("readFile", {})];
    await collect(agentWith([call("READFILE"), "Done."], [a.tool, b.tool]), "Go.");
    expect([...a.ran, ...b.ran]).toEqual([]);
  });
});

describe("a call that the model writes as text", () => {
  const TEXTS = [
    '<tool_call>\n{"name": "look", "arguments": {"path": "a"}}\n</tool_call>',
    'I will look.\n<tool_call>{"name": "look", "arguments": {}}</tool_call>',
    '<function_calls><invoke name="look"><parameter name="path">a</parameter></invoke></function_calls>',
    "<function=look>\n<parameter=path>\na\n</parameter>\n</function>",
    '[TOOL_CALLS][{"name": "look", "arguments": {}}]',
    '```json\n{"name": "look", "arguments": {"path": "a"}}\n```',
    '{"tool": "look", "args": {}}',
    "<tool_call>look\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    '<minimax:tool_call>\n<invoke name="look">\n</invoke>\n</minimax:tool_call>',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    '<|tool_call|>[{"name": "look", "arguments": {}}]',
    "[TOOL_CALLS]look[ARGS]{}",
    '<|python_tag|>{"name": "look", "parameters": {}}',
    "<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}",
    'assistant to=functions.look\n{"path": "a"}',
    '{"arguments": {"path": "a"}, "name": "look"}',
    '{"type": "function", "function": {"name": "look", "arguments": {"path": "a"}}}',
    '[{"type": "tool_use", "name": "look", "input": {"path": "a"}}]',
    '{"action": "look", "action_input": {"path": "a"}}',
    '{"name": "look", "arguments": {"path": "a\nb"}}',
    'look(path="a")',
    '```tool_code\nprint(default_api.look(path="a"))\n```',
    '[look(path="a"), look(path="b")]',
    'Thought: I have to look.\nAction: look\nAction Input: {"path": "a"}',
    "I will look.\n<look>\n<path>a</path>\n</look>",
    '<tools>{"name": "look", "arguments": {}}</tools>',
    '<tool_use>{"name": "Look", "arguments": {}}</tool_use>',
    "<longcat_tool_call>look\n</longcat_tool_call>",
    "◁tool_call▷look◁/tool_call▷",
    '<|START_ACTION|>[{"tool_name": "look", "parameters": {}}]<|END_ACTION|>',
    '<xai:function_call name="look"><parameter name="path">a</parameter></xai:function_call>',
  ];

  test.each(TEXTS)("is sent back once and is not the answer: %j", async (text) => {
    const { tool, ran } = noting("look", { path: { type: "string" } }, ["path"]);
    const agent = agentWith([text, call("look"), "Found it."], [tool]);
    const { events } = await collect(agent, "Go.");
    expect(ran).toEqual([{}]);
    expect(events.at(-1)).toMatchObject({ type: "done", text: "Found it." });
    expect(events).toContainEqual(expect.objectContaining({ type: "retry" }));
  });

  test("is sent back if no tool has its name and it is the whole answer", async () => {
    const { tool, ran } = noting("look", {});
    const text = '<tool_call>{"name": "unknown_tool", "arguments": {}}</tool_call>';
    const agent = agentWith([text, call("look"), "Found it."], [tool]);
    expect(await agent.chat("Go.")).toBe("Found it.");
    expect(ran).toEqual([{}]);
    expect(findWrittenCall(text, [])).toBeUndefined();
  });

  test("fails the message if the model does it again", async () => {
    const { tool } = noting("look", {});
    const text = '<tool_call>{"name": "look", "arguments": {}}</tool_call>';
    await expect(agentWith([text, text], [tool]).chat("Go.")).rejects.toMatchObject({
      code: "provider_failed",
      message: expect.stringContaining("as text, so they cannot be run"),
    });
  });

  test.each([
    'Models write ```<tool_call>{"name": "look"}</tool_call>``` for a call.',
    'Models write <tool_call>{"name": "look"}</tool_call>, and the server reads it.',
    'An example: <tool_call>{"name": "unknown_tool", "arguments": {}}</tool_call>',
    '{"name": "Ada", "age": 36}',
    "Done. `look` found nothing.",
    '{"name": "look", "version": "1.0.0"}',
    '[{"name": "look", "age": 36}]',
    'It is called as look(path="a").',
    'look(target="a")',
    "<look>\n<target>a</target>\n</look>",
    "<look>\n<path>a</path>\n</look>\nis an element.",
    "Action: look",
  ])("is not seen in an answer about calls: %j", (text) => {
    const { tool } = noting("look", { path: { type: "string" } });
    expect(findWrittenCall(text, [tool.getSchema()])).toBeUndefined();
  });
});

test("leaves arguments alone that the tool does not declare as paths", async () => {
  const ran: unknown[] = [];
  const tool: ExecutableTool = {
    name: "upload",
    getSchema: () => functionTool("upload", "Test.", { file: { type: "string" }, path: { type: "string" } }),
    execute: async (args) => {
      ran.push(args);
      return "ran";
    },
  };
  const args = { file: "content\n", path: "file:///a" };
  await agentWith([call("upload", args), "Done."], [tool]).chat("Go.");
  expect(ran).toEqual([args]);
});

test("takes an answer of the wanted form as the answer, although it names a tool", async () => {
  const { tool } = noting("edit", EDIT, OPTIONAL);
  const answer = JSON.stringify({ tool: "edit", reason: "it fits" });
  const output = {
    type: "object",
    properties: { tool: { type: "string" }, reason: { type: "string" } },
    required: ["tool", "reason"],
  } as const;
  expect((await agentWith([answer], [tool]).run("Which tool?", { output })).output).toEqual(
    JSON.parse(answer),
  );
});

test("finds no call in a long run of blanks without trying every way to divide it", () => {
  const tools = [functionTool("x", "Test.", {})];
  expect(findWrittenCall(`{"name": "x"}${" ".repeat(200_000)}x`, tools)).toBeUndefined();
  expect(findWrittenCall(`  {"name": "x"}\n `, tools)).toBe("x");
  for (const mark of ["<a>", "<", "<function_calls>", "x(", "```", "Action: ", "{", "a.", "<tool_"])
    expect(findWrittenCall(`${mark.repeat(50_000)}tool_call>`, tools)).toBeUndefined();
});

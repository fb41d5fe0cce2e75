import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Snippet, snippets } from "./pages.js";
import { PROGRAMS, type Program } from "./programs.js";
import { Workplace } from "./workplace.js";

/** One independent mock of the vendors' APIs answers for all of them. */
const model = new LLMock({ port: 0 });
const toolTurn = (question: string, name: string, args: object, result: string, answer: string): void => {
  model.on(
    { userMessage: question, hasToolResult: false },
    { toolCalls: [{ name, arguments: JSON.stringify(args) }] },
  );
  model.on({ userMessage: question, toolResultContains: result }, { content: answer });
};
toolTurn("Shout hello.", "shout", { text: "hello" }, "HELLO", "It said HELLO.");
toolTurn("files are the largest", "list_dir", { path: "." }, "plan.txt", "The largest is plan.txt.");
toolTurn(
  "tests are the slowest",
  "run_bash",
  { command: "echo slow.test.ts" },
  "slow.test.ts",
  "slow.test.ts takes the longest.",
);
model.on(
  { userMessage: "What is my name?", predicate: ({ messages }) => /is Ann/.test(JSON.stringify(messages)) },
  { content: "Ann." },
);
model.on({ userMessage: /^(Say hello|My name)/ }, { content: "Hello there." });

/** The mock lacks Google's list of models, so it is added here. */
const lists = createServer((_request, response) => {
  const models = [{ name: "models/gemini-of-the-list", supportedGenerationMethods: ["generateContent"] }];
  response.setHeader("content-type", "application/json").end(JSON.stringify({ models }));
});
beforeAll(async () => {
  await model.start();
  await once(lists.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  await model.stop();
  lists.close();
});

const everySnippet = snippets();

test.for(Object.entries(PROGRAMS))(
  "runs the program %s as its page describes",
  async ([id, program], { skip }) => {
    const snippet = everySnippet.find((one) => one.id === id);
    if (!snippet) throw new Error("There is no such snippet any more.");
    const { servers = {}, input = "", prints, says } = program;
    const missing = Object.values(servers).filter((name) => !process.env[name]);
    skip(missing.length > 0, `set ${missing.join(" and ")} to the addresses of servers`);

    const workplace = Workplace.create(model);
    for (const neighbour of everySnippet.filter(({ page }) => page === snippet.page)) {
      const [, name] = /^\/\/ (\w+)\.ts\n/.exec(neighbour.code) ?? [];
      if (name !== undefined) workplace.write(`${name}.js`, transpile(neighbour.code));
    }
    workplace.write("program.mjs", transpile(wholeProgram(snippet, program)));
    const google = `http://127.0.0.1:${(lists.address() as AddressInfo).port}`;
    const variables = {
      ...workplace.vendors,
      AZURE_OPENAI_ENDPOINT: model.url,
      AZURE_OPENAI_API_KEY: "key-of-the-docs",
      ...(snippet.code.includes("listModels") && { GOOGLE_GEMINI_BASE_URL: google }),
    };
    const ended = await workplace.run(process.execPath, ["program.mjs"], { input, variables });
    expect(ended.stderr).toMatch(says ?? /^$/);
    if (typeof prints === "string") expect(ended.stdout).toBe(prints);
    else expect(ended.stdout).toMatch(prints);
    expect(ended.code).toBe(0);
  },
);

function wholeProgram({ code }: Snippet, { before = "", after = "", servers = {} }: Program): string {
  const withServers = Object.entries(servers).reduce(
    (text, [address, name]) => text.replaceAll(address, process.env[name] ?? ""),
    code,
  );
  return `${before}\n${withServers}\n${after}`;
}

function transpile(code: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

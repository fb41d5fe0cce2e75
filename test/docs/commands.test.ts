import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS, CONFIGS, NOT_RUN, RUN_ELSEWHERE, TRANSCRIPTS } from "./commands.js";
import { ROOT, type Snippet, snippets } from "./pages.js";
import { PROGRAMS } from "./programs.js";
import { Workplace } from "./workplace.js";

const everySnippet = snippets();
const model = new LLMock({ port: 0 });
model.on(
  { userMessage: "run the tests", hasToolResult: false },
  { toolCalls: [{ name: "run_bash", arguments: '{"command":"npm test"}' }] },
);
model.on({ userMessage: "run the tests", toolResultContains: "tests passed" }, { content: "All pass." });
model.on({ userMessage: /[\s\S]/ }, { content: "Hello there." });
beforeAll(async () => void (await model.start()));
afterAll(() => model.stop());

function snippetOf(id: string): Snippet {
  const snippet = everySnippet.find((one) => one.id === id);
  if (!snippet) throw new Error(`There is no snippet ${id} any more.`);
  return snippet;
}

/** The commands of a block that run here, with a key in place of "…". */
function commandsOf({ code }: Snippet): string {
  const lines = code.split("\n").filter((line) => !line.startsWith("npm install "));
  return lines.join("\n").replaceAll("=…", "=key-of-the-docs");
}

const isInstall = ({ language, code }: Snippet): boolean =>
  language === "sh" &&
  code
    .trim()
    .split("\n")
    .every((line) => line.startsWith("npm install "));

test("runs every code block of the documentation in a test, or states why it cannot be run", () => {
  const elsewhere = Object.values(RUN_ELSEWHERE);
  const tables = [PROGRAMS, COMMANDS, CONFIGS, NOT_RUN];
  const left = everySnippet
    .filter(({ language }) => language !== "" && language !== "text")
    .filter((snippet) => !isInstall(snippet) && snippet.id !== "docs/start.md#install")
    .map(({ id }) => id)
    .filter((id) => !tables.some((table) => id in table) && !elsewhere.some((ids) => ids.test(id)));
  expect(left).toEqual([]);
  const ids = new Set(everySnippet.map(({ id }) => id));
  expect(tables.flatMap((table) => Object.keys(table)).filter((id) => !ids.has(id))).toEqual([]);
  for (const [file, pattern] of Object.entries(RUN_ELSEWHERE)) {
    const [page = ""] = [...ids].find((id) => pattern.test(id))?.split("#") ?? [];
    const folder = basename(dirname(page));
    expect(readFileSync(join(ROOT, file), "utf8"), file).toMatch(new RegExp(`${basename(page)}|"${folder}"`));
  }
  for (const reason of Object.values(NOT_RUN)) {
    const [file] = /\S+\.test\.ts/.exec(reason) ?? [];
    if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true);
  }
});

test.for(Object.entries(COMMANDS))("runs the commands %s", async ([id, block]) => {
  const { files = {}, blocks = {}, input = "", typed, shows } = block;
  const workplace = Workplace.create(model);
  for (const [path, text] of Object.entries(files)) workplace.write(path, text);
  for (const [path, other] of Object.entries(blocks)) workplace.write(path, snippetOf(other).code);
  workplace.write("commands.sh", `set -e\n${commandsOf(snippetOf(id))}`);
  const variables = block.model ? workplace.vendors : {};
  const ended = typed
    ? await workplace.run("script", ["-qefc", "sh commands.sh", "/dev/null"], { typed, variables })
    : await workplace.run("sh", ["commands.sh"], { input, variables });
  const output = plain(ended.stdout + ended.stderr);
  for (const pattern of shows) expect(output).toMatch(pattern);
  expect([ended.code, output]).toEqual([0, output]);
});

test.for(Object.entries(CONFIGS))(
  "provides the documented tools with the config %s",
  async ([id, { command, shows }]) => {
    const workplace = Workplace.create(model);
    workplace.write("agent.config.ts", snippetOf(id).code);
    workplace.write("my-pack.ts", MY_PACK);
    const { code, stdout, stderr } = await workplace.run("sh", ["-c", `${command} --trust`]);
    for (const pattern of shows) expect(stdout + stderr).toMatch(pattern);
    expect([code, stderr]).toEqual([0, stderr]);
  },
);

test.for(Object.entries(TRANSCRIPTS))("prints what is shown for the commands at %s", async ([id, before]) => {
  const { code, page } = snippetOf(id);
  const workplace = Workplace.create(model);
  const cwd = page === "README.md" ? ROOT : workplace.directory;
  await workplace.run("sh", ["-c", before]);
  const commands = code.split(/^\$ /m).slice(1);
  for (const [index, shown] of commands.entries()) {
    const end = shown.indexOf("\n");
    const command = shown.slice(0, end).replace("npm start -- ", "agent ");
    const shell = `cd "${cwd}" && exec 2>&1 && ${command}`;
    const { stdout } = await workplace.run("sh", ["-c", shell]);
    expect(stdout.trimEnd(), `$ ${command} (${index + 1})`).toMatch(patternOf(shown.slice(end + 1)));
  }
});

const MY_PACK = `
  import { defineTool } from "@agent/core";
  const about = { name: "my_tool", description: "Mine.", input: { type: "object" } };
  export const register = (registry) => registry.register(defineTool({ ...about, execute: () => "" }));`;

/** What a transcript shows as an expression: times and the size of AGENTS.md vary, columns are as wide as their content, "…" is anything. */
function patternOf(shown: string): RegExp {
  const text = shown
    .trimEnd()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("…", "[\\s\\S]*?")
    .replaceAll(/\d+\\\.\d+s\b/g, String.raw`\d+\.\d+s`)
    .replace(/(AGENTS\\\.md \\\()\d+/, String.raw`$1\d+`)
    .replaceAll(/("durationMs":)[\d\\.]+/g, String.raw`$1[\d.]+`)
    .replaceAll(/ {2,}/g, " +");
  return new RegExp(`^${text}$`);
}

/** Without what controls a terminal. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  return text.replaceAll(/\x1b\[[\d;?<>=]*[a-zA-Z]|\x1b\][^\x07]*\x07|\r/g, "");
}

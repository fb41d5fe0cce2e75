import { describe, expect, test } from "vitest";
import { planRequest } from "./plan.js";

/** Each call as `tool key=value …`, steps joined by " > ", calls of one step by " & ". */
function understood(request: string): string {
  const plan = planRequest(request, []);
  if (plan.kind !== "steps") return plan.kind;
  return plan.steps
    .map((step) => step.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`).join(" & "))
    .join(" > ");
}

const text = (query: string, paths: string[] = ["."], more: object = {}): string =>
  `search_text ${JSON.stringify({ query, paths, ...more })}`;
const files = (pattern: string, more: object = {}): string =>
  `search_files ${JSON.stringify({ pattern, ...more })}`;
const read = (path: string, more: object = {}): string => `read_file ${JSON.stringify({ path, ...more })}`;
const list = (path: string): string => `list_dir ${JSON.stringify({ path })}`;
const MANY = { max_results: 10_000 };

/** Written before the rules that read them, as people put such requests to a colleague. */
const REQUESTS: readonly (readonly [request: string, meaning: string])[] = [
  ["search for TODO in src and docs", text("TODO", ["src", "docs"])],
  ["which files end in .json?", files("**/*.json")],
  ["how many lines mention import in src?", text("import", ["src"], MANY)],
  ["Search for TODO in src, docs and test.", text("TODO", ["src", "docs", "test"])],
  ["look for FIXME in packages/core or packages/cli", text("FIXME", ["packages/core", "packages/cli"])],
  [
    'could you search for "not found" in src and then read README.md',
    `${text("not found", ["src"])} > ${read("README.md")}`,
  ],
  ["search for TODO in src and list docs", `${text("TODO", ["src"])} > ${list("docs")}`],
  ["how many files are there in src?", files("**/*", { path: "src", ...MANY })],
  ["how many files do we have?", files("**/*", MANY)],
  ["how many ts files are in packages/core?", files("**/*.ts", { path: "packages/core", ...MANY })],
  ["count the markdown files", files("**/*.md", MANY)],
  ["what json files are there?", files("**/*.json")],
  ["which typescript files do we have in src", files("**/*.{ts,tsx,mts,cts}", { path: "src" })],
  ["which files start with test", files("**/test*")],
  ["find files that start with config in src", files("**/config*", { path: "src" })],
  ["is there a Dockerfile?", files("**/Dockerfile")],
  ["do we have a tsconfig.json anywhere?", files("**/tsconfig.json")],
  ["are there any yaml files in .github?", files("**/*.{yml,yaml}", { path: ".github" })],
  ["are there any TODOs left in src?", text("TODO", ["src"])],
  ["is lodash used anywhere?", text("lodash")],
  ["who uses createServer in src?", text("createServer", ["src"])],
  ["who imports zod?", text("zod")],
  ["which files mention OPENAI_API_KEY?", text("OPENAI_API_KEY", ["."], { files_only: true })],
  ["how many files contain console.log in src", text("console.log", ["src"], { files_only: true, ...MANY })],
  ["which lines contain password in config.yml?", text("password", ["config.yml"])],
  ["show me all the places that use fetch in src", text("fetch", ["src"])],
  ["list all occurrences of userId in src", text("userId", ["src"])],
  ["how many times does retry appear in src?", text("retry", ["src"], MANY)],
  ["where is parseConfig defined?", text("parseConfig")],
  ["where are the timeouts used in src?", text("timeouts", ["src"])],
  ["let me see package.json", read("package.json")],
  ["I want to read CHANGELOG.md", read("CHANGELOG.md")],
  ["take a look at src/index.ts please", read("src/index.ts")],
  ["what's inside tsconfig.json?", read("tsconfig.json")],
  ["show me the top 20 lines of README.md", read("README.md", { offset: 1, limit: 20 })],
  ["what is on line 42 of src/main.ts?", read("src/main.ts", { offset: 42, limit: 1 })],
  ["what does src/a.ts say on line 2?", read("src/a.ts", { offset: 2, limit: 1 })],
  ["check out .env.example", read(".env.example")],
  ["what's inside the src folder?", list("src")],
  ["what do we have here?", list(".")],
  ["what do we have in docs", list("docs")],
  ["look into packages/cli", list("packages/cli")],
  ["show me the docs folder", list("docs")],
  ["which files does src have?", list("src")],
  ["what folders are there?", list(".")],
  ["make a new folder called build", 'mkdir {"path":"build"}'],
  ["rename a.txt to b.txt", 'move {"source":"a.txt","destination":"b.txt"}'],
  ["give a.txt the name b.txt", 'move {"source":"a.txt","destination":"b.txt"}'],
  ["get rid of old.log", 'remove {"path":"old.log"}'],
  ["delete the folder tmp/cache", 'remove {"path":"tmp/cache"}'],
  [
    'change "foo" to "bar" everywhere in a.ts',
    'edit_file {"path":"a.ts","old_text":"foo","new_text":"bar","replace_all":true}',
  ],
  [
    'change "foo" to "bar" in a.ts everywhere',
    'edit_file {"path":"a.ts","old_text":"foo","new_text":"bar","replace_all":true}',
  ],
  ['put "node_modules" in .gitignore', 'write_file {"path":".gitignore","content":"node_modules"}'],
  ["grep for FIXME everywhere", text("FIXME")],
  ["search for API_URL in the whole project", text("API_URL")],
  ["look up the word license in all files", text("license")],
  ["where do we use node:path", text("node:path")],
  ["show me where retries is set in src", text("retries", ["src"])],
  ["can you find where parseConfig appears?", text("parseConfig")],
  ["does package.json mention react?", text("react", ["package.json"])],
  ["is there any file called guide?", files("**/guide*")],
  ["how big is src/index.ts?", 'list_dir {"path":"src","details":true}'],
  ["run git status", 'run_bash {"command":"git status"}'],
];

/** Half of each could be done; none of it is. */
const NOT_UNDERSTOOD = [
  "search for TODO in src and fix them",
  "which files end in .json and should I delete them?",
  "how many lines mention import in src, and why?",
  "read package.json and explain it",
  "is this code any good?",
  "delete everything except src",
  "get rid of the bugs",
  "rename all files to lower case",
  "what do we have to do next?",
  "look into why the tests fail",
  "is there a better way to do this?",
  "how many people use this?",
  "show me how it works",
  "who wrote this?",
  "where is the problem?",
  "grep for FIXME everywhere and fix it",
  "does this work?",
  "do we have a plan?",
  "how big is the problem?",
  "where do we go from here?",
  "find big files and remove them",
];

describe("requests as people put them", () => {
  test("understands at least nine in ten, in full", () => {
    const missed = REQUESTS.filter(([request, meaning]) => understood(request) !== meaning);
    const shown = missed.map(
      ([request, meaning]) => `${request}\n  wanted ${meaning}\n  got    ${understood(request)}`,
    );
    expect(missed.length, shown.join("\n")).toBeLessThanOrEqual(REQUESTS.length * 0.1);
    // One that is missed is declined: it is never taken for something else.
    expect(
      missed.filter(([request]) => !["declined", "help"].includes(understood(request))),
      shown.join("\n"),
    ).toEqual([]);
  });

  test.each(NOT_UNDERSTOOD)("does nothing for: %s", (request) => {
    expect(understood(request)).toBe("declined");
  });
});

import { describe, expect, test } from "vitest";
import { type RulingOptions, rulingOf } from "../../test/ruling.js";

const DENY_RM = { deny: ["run_bash(rm *)"] };

/** What is decided in auto mode, where only a rule keeps a command from running. */
function ruling(command: string, options: RulingOptions = DENY_RM, args: Record<string, unknown> = {}) {
  return rulingOf("run_bash", { command, ...args }, options);
}

describe("a rule that denies a command", () => {
  test.each([
    "rm x",
    "/bin/rm x",
    "A=1 rm x",
    "ls && rm -rf x",
    "'r'm x",
    "rm",
    "A=1 B=2 ./rm x",
    "env rm x",
    "sudo -n rm x",
    "command rm x",
    "xargs /bin/rm x",
    'sh -c "rm x"',
    "sh -c 'cd a; rm x'",
    "nice env A=1 rm x",
    'r""m x > y',
    "cd a\nr\\m x",
  ])("denies %s", async (command) => expect(await ruling(command)).toBe("deny"));

  test.each([
    "find . -exec rm x +",
    "/bin/r? x",
    "{r,}m x",
    '"r"m$(true) x',
    "$(printf r)m x",
    "eval $X",
    "eval {rm,x}",
    "npx rm x",
    "f() { rm x; }; f",
  ])("asks before what may turn out to be it: %s", async (command) => {
    expect(await ruling(command)).toBe("ask");
  });

  test.each([
    ["deny", "git -c core.pager='rm x' log"],
    ["deny", "git -c alias.q='!rm x' q"],
    ["deny", "tar xf a --to-command='rm x'"],
    ["deny", "sort --compress-program=rm x"],
    ["ask", "env -S'rm x'"],
    ["ask", "GIT_PAGER='rm x' git log"],
    ["ask", "BASH_ENV=x bash -c true"],
    ["ask", "alias q=rm; q x"],
    ["ask", "vim -c ':!rm x'"],
    ["ask", "LD_PRELOAD=x ls"],
  ])("does not let a command run by an option, a variable or a name: %s, %s", async (expected, command) => {
    expect(await ruling(command)).toBe(expected);
  });

  test("asks about a script of so many words that no one could compare each of them", async () => {
    expect(await ruling(`echo ${"a ".repeat(100_000)}`)).toBe("ask");
    expect(await ruling(`echo '${"a ".repeat(100_000)}'`)).toBe("ask");
  });

  test.each([
    "npm test",
    "git status | head -5",
    "git log --oneline -5",
    "ls form",
    "ls -la | head -5",
    "echo 'an arm'",
    "make 2>&1 | tail",
    "cat a > rm",
    "python3 a.py",
    "cargo build",
  ])("leaves other commands alone: %s", async (command) => expect(await ruling(command)).toBe("allow"));

  test("asks about a dangerous environment and about its own arguments", async () => {
    expect(await ruling("ls", DENY_RM, { env: { PATH: "evil" } })).toBe("ask");
    expect(await ruling("ls", DENY_RM, { env: { "a b": "evil" } })).toBe("ask");
    expect(await ruling("ls", DENY_RM, { arguments: ["rm"] })).toBe("ask");
    expect(await ruling("ls", DENY_RM, { cwd: "src", timeout: 5 })).toBe("allow");
  });

  test("is not overridden by an allow rule, but what a user always allows runs", async () => {
    expect(await ruling("npx rm x", { ...DENY_RM, allow: ["run_bash"] })).toBe("ask");
    expect(await ruling("npx rm x", { ...DENY_RM, granted: ["run_bash(=npx rm x)"] })).toBe("allow");
  });

  test("holds for every shell by shell.run", async () => {
    expect(await ruling("env rm x", { deny: ["shell.run(rm *)"] })).toBe("deny");
    expect(await ruling("ls", { deny: ["shell.run(rm *)"] })).toBe("allow");
  });
});

test.each([
  "touch x",
  "env touch x",
  "sh -c 'touch x'",
  "t\\ouch x",
  "xargs touch",
  "/usr/bin/touch x",
  "A=1 touch x",
  'eval "touch x"',
  "$(echo touch) x",
])("asks about %s under an ask rule, as a deny rule would not let it run", async (command) => {
  expect(await ruling(command, { ask: ["run_bash(touch *)"] })).toBe("ask");
  expect(await ruling(command, { deny: ["run_bash(touch *)"] })).not.toBe("allow");
});

describe("an allow rule for a command", () => {
  const asking = { allow: ["run_bash(npm test *)"], mode: "ask" } as const;

  test.each([{}, { cwd: "." }, { cwd: process.cwd() }, { working_directory: `${process.cwd()}/.` }])(
    "covers a call in the agent's own directory: %j",
    async (args) => expect(await ruling("npm test", asking, args)).toBe("allow"),
  );

  test.each([{ cwd: "src" }, { cwd: ".." }, { cwd: "/tmp" }, { working_directory: "src" }])(
    "does not cover a call in another directory: %j",
    async (args) => expect(await ruling("npm test", asking, args)).toBe("ask"),
  );

  test.each([
    "npm test && rm -rf /",
    "npm test $(rm -rf /)",
    "npm test\nrm -rf /",
    "npm test > ~/.bashrc",
    "cd vendor && npm test",
    "X=1 npm test",
    "npm testing",
    "npm test --script-shell=./x",
    "env npm test",
    "npm test\u00a0",
  ])("does not cover what does more: %s", async (command) =>
    expect(await ruling(command, asking)).toBe("ask"),
  );

  test("does not cover a call with an environment or its own arguments", async () => {
    expect(await ruling("npm test", asking, { env: { A: "1" } })).toBe("ask");
    expect(await ruling("npm test", asking, { arguments: ["x"] })).toBe("ask");
    expect(await ruling("npm test", asking, { timeout: 5 })).toBe("allow");
  });

  test("covers a list of commands together with other rules", async () => {
    const both = { ...asking, allow: ["run_bash(npm test *)", "run_bash(npm run lint *)"] };
    expect(await ruling("npm test && npm run lint", asking)).toBe("ask");
    expect(await ruling("npm test && npm run lint", both)).toBe("allow");
    expect(await ruling("npm test; npm test x", asking)).toBe("allow");
  });

  test("covers another directory only by the whole tool or exactly the call", async () => {
    const rules = (text: string) => ({ ...asking, allow: [text] });
    expect(await ruling("npm test", rules("run_bash"), { cwd: "src" })).toBe("allow");
    const exact = rules('run_bash(={"command":"npm test","cwd":"src"})');
    expect(await ruling("npm test", exact, { cwd: "src" })).toBe("allow");
    expect(await ruling("npm test", exact)).toBe("ask");
  });
});

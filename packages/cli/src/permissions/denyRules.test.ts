import { describe, expect, test } from "vitest";
import { type PolicyOptions, rule } from "./policy.js";
import { parseRule } from "./rule.js";

/** What is decided in auto mode, where only a rule keeps a command from running. */
function ruling(
  command: string,
  options: Partial<PolicyOptions> = {},
  args: Record<string, unknown> = {},
): string {
  const call = {
    name: "run_bash",
    args: { command, ...args },
    capabilities: ["execute"] as const,
    description: { needs: [] },
  };
  return rule(call, {
    rules: { allow: [], ask: [], deny: [parseRule("run_bash(rm *)")] },
    granted: [],
    confirm: new Set(),
    mode: "auto",
    runsOnly: () => true,
    mayRun: () => false,
    root: "/",
    cwd: "/",
    ...options,
  }).type;
}

describe("a rule that denies a command", () => {
  test.each([
    "rm x",
    "/bin/rm x",
    "A=1 rm x",
    "ls && rm -rf x",
    "'r'm x",
    "rm",
    "cat a > rm",
    "A=1 B=2 ./rm x",
  ])("denies %s", (command) => expect(ruling(command)).toBe("deny"));

  test.each([
    "env rm x",
    "sudo -n rm x",
    "command rm x",
    "xargs /bin/rm x",
    "find . -exec rm x +",
    'sh -c "rm x"',
    "sh -c 'cd a; rm x'",
    "nice env A=1 rm x",
    "/bin/r? x",
    "{r,}m x",
    '"r"m$(true) x',
    'r""m x > y',
    "$(printf r)m x",
    "eval $X",
    "cd a\nr\\m x",
  ])("asks before what may turn out to be it: %s", (command) => expect(ruling(command)).toBe("ask"));

  test("asks about a script of so many words that nobody could compare each of them", () => {
    const before = process.cpuUsage();
    expect(ruling(`echo ${"a ".repeat(100_000)}`)).toBe("ask");
    expect(ruling(`echo '${"a ".repeat(100_000)}'`)).toBe("ask");
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(9000);
  });

  test.each(["npm test", "git status | head -5", "ls form", "echo 'an arm'", "make 2>&1 | tail"])(
    "leaves other commands alone: %s",
    (command) => expect(ruling(command)).toBe("allow"),
  );

  test("an environment or arguments of its own are asked about", () => {
    expect(ruling("ls", {}, { env: { PATH: "evil" } })).toBe("ask");
    expect(ruling("ls", {}, { arguments: ["rm"] })).toBe("ask");
    expect(ruling("ls", {}, { cwd: "src", timeout: 5 })).toBe("allow");
  });

  test("an allow rule does not hide it, but what a person granted for good runs", () => {
    const allow = { rules: { allow: [parseRule("run_bash")], ask: [], deny: [parseRule("run_bash(rm *)")] } };
    expect(ruling("env rm x", allow)).toBe("ask");
    expect(ruling("env rm x", { granted: [parseRule("run_bash(=env rm x)")] })).toBe("allow");
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
])("asks about %s under an ask rule, as a deny rule would not let it run", (command) => {
  const touch = [parseRule("run_bash(touch *)")];
  expect(ruling(command, { rules: { allow: [], ask: touch, deny: [] } })).toBe("ask");
  expect(ruling(command, { rules: { allow: [], ask: [], deny: touch } })).not.toBe("allow");
});

describe("an allow rule for a command", () => {
  const allow = { rules: { allow: [parseRule("run_bash(git status *)")], ask: [], deny: [] } };
  const asking = { ...allow, mode: "ask", cwd: "/usr", root: "/usr" } as const;

  test.each([{}, { cwd: "." }, { cwd: "/usr" }, { working_directory: "/usr/." }])(
    "covers a call in the agent's own directory: %j",
    (args) => expect(ruling("git status", asking, args)).toBe("allow"),
  );

  test.each([
    { cwd: "lib" },
    { cwd: ".." },
    { cwd: "/tmp" },
    { working_directory: "lib" },
    { cwd: ".", working_directory: "lib" },
    { cwd: "", working_directory: "/" },
    { cwd: 7 },
  ])("does not cover a call in another directory: %j", (args) =>
    expect(ruling("git status", asking, args)).toBe("ask"),
  );

  test("covers another directory only by the whole tool or exactly the call", () => {
    const rules = (text: string) => ({ ...asking, rules: { allow: [parseRule(text)], ask: [], deny: [] } });
    expect(ruling("git status", rules("run_bash"), { cwd: "lib" })).toBe("allow");
    expect(
      ruling("git status", rules('run_bash(={"command":"git status","cwd":"lib"})'), { cwd: "lib" }),
    ).toBe("allow");
  });
});

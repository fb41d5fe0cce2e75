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
    isSandboxed: () => false,
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

  test("the sandbox does not make it run unasked", () => {
    expect(ruling("env rm x", { isSandboxed: () => true })).toBe("ask");
  });
});

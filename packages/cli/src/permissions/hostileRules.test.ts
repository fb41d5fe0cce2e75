import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { alwaysChoices } from "./alwaysChoices.js";
import { type PolicyOptions, rule } from "./policy.js";
import { exactSubject, matchesRule, parseRule } from "./rule.js";

const root = mkdtempSync(join(tmpdir(), "agent-rules-"));
mkdirSync(join(root, "secrets"));
mkdirSync(join(root, "src"));
writeFileSync(join(root, "secrets/key"), "");
symlinkSync("secrets", join(root, "link"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What is decided in auto mode, where only a rule keeps a call from running. */
function ruling(name: string, args: Record<string, unknown>, options: Partial<PolicyOptions>): string {
  return rule(
    { name, args, capabilities: ["write"], needs: [] },
    {
      rules: { allow: [], ask: [], deny: [] },
      granted: [],
      confirm: new Set(),
      mode: "auto",
      isSandboxed: () => false,
      root,
      cwd: root,
      ...options,
    },
  ).type;
}

const deny = { rules: { allow: [], ask: [], deny: [parseRule("*(secrets/**)")] } };
const ask = { rules: { allow: [], ask: [parseRule("*(secrets/**)")], deny: [] } };

describe("a rule about paths", () => {
  test("is about the file that the tool opens, also in a subdirectory of the project", () => {
    const below = { ...deny, cwd: join(root, "secrets") };
    expect(ruling("read_file", { path: "key" }, below)).toBe("deny");
    expect(ruling("read_file", { path: "../secrets/key" }, below)).toBe("deny");
    expect(ruling("read_file", { path: "secrets/key" }, below)).toBe("deny");
    expect(ruling("read_file", { path: "../src/key" }, below)).toBe("allow");
    const allow = { rules: { allow: [parseRule("write_file(src/**)")], ask: [], deny: [] } };
    const inAskMode = { ...allow, mode: "ask", cwd: join(root, "secrets") } as const;
    expect(ruling("write_file", { path: "src/a" }, inAskMode)).toBe("ask");
    expect(ruling("write_file", { path: "../src/a" }, inAskMode)).toBe("allow");
  });

  test.each([
    ["remove", { path: "secrets" }],
    ["remove", { path: "link/" }],
    ["move", { source: "secrets", destination: "src/x" }],
    ["search_text", { query: "key", paths: ["src", "."] }],
    ["search_text", { query: "key", paths: [".."] }],
  ])("asks about a directory above of what it is about: %s %j", (name, args) => {
    expect(ruling(name, args, deny)).toBe("ask");
    expect(ruling(name, args, ask)).toBe("ask");
    expect(ruling(name, { path: "src" }, deny)).toBe("allow");
  });
});

describe("what is allowed for good", () => {
  test("as exactly this call is not another call whose arguments look like its command", () => {
    const seen = { name: "run_bash", args: { command: '{"command":"x","env":{"A":"1"}}' } };
    const other = { name: "run_bash", args: { command: "x", env: { A: "1" } } };
    expect(exactSubject(seen)).not.toBe(exactSubject(other));
    const [exact] = alwaysChoices(seen);
    const holdsFor = (call: typeof seen): boolean =>
      exact !== undefined && matchesRule(exact.rule, call, { root, cwd: root }, true);
    expect([holdsFor(seen), holdsFor(other as typeof seen)]).toEqual([true, false]);
  });

  test.each([
    "setsid x",
    "busybox rm x",
    "npm exec x",
    "pnpm dlx x",
    "git -c alias.x=!rm x",
    "git fetch --upload-pack=x",
    "git rebase -x x",
    "git grep -Osh x",
    "php -r x",
    "command rm",
    "tsx a.ts",
    "uv run x",
  ])("has no rule for the first words of a program that runs whatever it is given: %s", (command) => {
    const labels = alwaysChoices({ name: "run_bash", args: { command } }).map(({ label }) => label);
    expect(labels).toEqual(["exactly this call", "every call of run_bash"]);
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDefaultToolRegistry } from "@agent/preset-default";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { alwaysChoices } from "./alwaysChoices.js";
import { type PolicyOptions, rule } from "./policy.js";
import { exactSubject, matchesRule, parseRule, type RuledCall } from "./rule.js";
import { shownRule } from "./shownRule.js";

const root = mkdtempSync(join(tmpdir(), "agent-rules-"));
mkdirSync(join(root, "secrets"));
mkdirSync(join(root, "src"));
writeFileSync(join(root, "secrets/key"), "");
symlinkSync("secrets", join(root, "link"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What is decided in auto mode, where only a rule keeps a call from running. */
function ruling(name: string, args: Record<string, unknown>, options: Partial<PolicyOptions>): string {
  return rule(
    { name, args, capabilities: ["write"], description: { needs: [] } },
    {
      rules: { allow: [], ask: [], deny: [] },
      granted: [],
      confirm: new Set(),
      mode: "auto",
      runsOnly: () => true,
      mayRun: () => false,
      root,
      cwd: root,
      ...options,
    },
  ).type;
}

/** What the pack with the shell says about commands. */
function judgement(): Pick<PolicyOptions, "runsOnly" | "mayRun"> {
  const { services } = createDefaultToolRegistry({
    systemPrompt: "",
    sessionContext: [],
    sessionContextFilePath: "",
  });
  onTestFinished(() => services.dispose());
  return {
    runsOnly: (words, command) => services.runsOnly(words, command),
    mayRun: (words, command) => services.mayRun(words, command),
  };
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

describe("a rule that denies a command", () => {
  const denied = { allow: [], ask: [], deny: [parseRule("run_bash(rm *)")] };
  test.each([
    "git -c core.pager='rm x' log",
    "git -c alias.q='!rm x' q",
    "env -S'rm x'",
    "GIT_PAGER='rm x' git log",
    "BASH_ENV=x bash -c true",
    "tar xf a --to-command='rm x'",
    "sort --compress-program=rm x",
    "alias q=rm; q x",
    "eval {rm,x}",
    "vim -c ':!rm x'",
    "LD_PRELOAD=x ls",
  ])("asks about a command that runs it by an option, a variable or a name: %s", (command) => {
    expect(ruling("run_bash", { command }, { rules: denied, ...judgement() })).toBe("ask");
  });

  test.each([
    "npm test",
    "git log --oneline -5",
    "python3 a.py",
    "make all",
    "ls -la | head -5",
    "cargo build",
  ])("leaves other commands alone: %s", (command) => {
    expect(ruling("run_bash", { command }, { rules: denied, ...judgement() })).toBe("allow");
  });
});

describe("what is allowed for good", () => {
  test("as exactly this call is not another call whose arguments look like its command", () => {
    const seen = {
      name: "run_bash",
      args: { command: '{"command":"x","env":{"A":"1"}}' },
      capabilities: [],
      description: { needs: [] },
    };
    const other = { name: "run_bash", args: { command: "x", env: { A: "1" } } };
    expect(exactSubject(seen)).not.toBe(exactSubject(other));
    const nothing = { ruleWords: () => undefined, runsOnly: () => false };
    const [exact] = alwaysChoices(seen, { root, cwd: root, ...nothing });
    const holdsFor = (call: RuledCall): boolean =>
      exact !== undefined && matchesRule(exact.rule, call, { root, cwd: root }, true);
    expect([holdsFor(seen), holdsFor(other)]).toEqual([true, false]);
  });

  test.each([
    ["npm test *", "npm test -- --watch", "npm test --script-shell=./x"],
    ["go test *", "go test ./...", "go test -exec ./x ./..."],
    ["git log *", "git log --oneline", "git log --output=/home/me/.bashrc --format=x"],
    ["rg *", "rg -n a", "rg --pre ./x a"],
    ["git *", "git log", "git -c core.pager=./x log"],
  ])("as %s allows what these words say, and asks about more", (pattern, said, more) => {
    const { runsOnly } = judgement();
    const granted = [parseRule(`run_bash(${pattern})`)];
    const allow = { allow: granted, ask: [], deny: [] };
    for (const options of [{ granted }, { rules: allow }]) {
      const decide = (command: string): string =>
        ruling("run_bash", { command }, { ...options, runsOnly, mode: "ask" });
      expect([decide(said), decide(more)]).toEqual(["allow", "ask"]);
    }
  });

  test("is listed on one line that cannot pass for several rules", () => {
    const shown = (command: string) => shownRule({ tool: "run_bash", exact: true, pattern: command });
    expect(shown("rm -rf x")).toBe("run_bash(=rm -rf x)");
    expect(shown(`rm${" ".repeat(60)}  2  ls`)).toBe("run_bash(=rm [62 blanks] 2  ls)");
    expect(shown("a\u00a0\u00a0b\n  2  ls\u202e")).toBe("run_bash(=a\\xa0\\xa0b\\n  2  ls\\u202e)");
    expect(shown(`${"a".repeat(5000)}; rm -rf x`)).toMatch(
      /^run_bash\(=a+ \[… \d+ characters …\] a+; rm -rf x\)$/,
    );
    expect(shown("\u0440m x")).toContain('(it has lookalikes: "\u0440" is U+0440)');
  });
});

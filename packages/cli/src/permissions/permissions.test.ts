import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolCapability } from "@agent/core";
import { afterAll, describe, expect, test } from "vitest";
import { type AlwaysChoice, type AlwaysOptions, alwaysChoices } from "./alwaysChoices.js";
import { matchesGlob } from "./glob.js";
import { Grants } from "./grants.js";
import { MODES, type Mode, modeOf, nextMode } from "./mode.js";
import { type PolicyOptions, type Ruling, rule } from "./policy.js";
import { formatRule, matchesRule, parseRule } from "./rule.js";
import { simpleCommands } from "./shellWords.js";

const folder = mkdtempSync(join(tmpdir(), "agent-permissions-"));
const root = join(folder, "project");
mkdirSync(join(root, "src"), { recursive: true });
writeFileSync(join(root, "src/a.ts"), "");
symlinkSync("/etc", join(root, "src/etc"));
const places = { root, cwd: root };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the simple commands of a script", () => {
  test.each<[string, string[][]]>([
    ["npm test", [["npm", "test"]]],
    ["  git commit -m 'a b' ", [["git", "commit", "-m", "a b"]]],
    ['echo "it is"', [["echo", "it is"]]],
    [
      "npm test && npm run lint | tail -5; ls",
      [["npm", "test"], ["npm", "run", "lint"], ["tail", "-5"], ["ls"]],
    ],
    ["make 2>&1 | tail", [["make"], ["tail"]]],
  ])("%j", (script, commands) => {
    expect(simpleCommands(script)).toEqual(commands);
  });

  test.each([
    "",
    "npm test &",
    "ls > x",
    "cat < x",
    "echo $HOME",
    "echo `id`",
    "echo $(id)",
    'echo "$(id)"',
    "(ls)",
    "ls\nrm x",
    "a &&",
    "; a",
    "echo \\;",
    "'open",
    "ls 2>x",
    "# x",
    "a\u00a0b",
    "f() { ls; }",
    "cat <<EOF",
    "echo !!x\x07",
    "ls;;",
  ])("%j cannot be judged by its words", (script) => {
    expect(simpleCommands(script)).toBeUndefined();
  });
});

describe("patterns", () => {
  test.each<[string, string, string | undefined, boolean]>([
    ["npm *", "npm test", undefined, true],
    ["npm *", "npm", undefined, false],
    ["*", "", undefined, true],
    ["a?c", "abc", undefined, true],
    ["src/*", "src/a", "/", true],
    ["src/*", "src/a/b", "/", false],
    ["src/**", "src/a/b", "/", true],
    ["**/*.ts", "a.ts", "/", true],
    ["**/*.ts", "a/b/c.ts", "/", true],
    ["*.ts", "a/b.ts", "/", false],
    ["docs/**/index.md", "docs/index.md", "/", true],
    ["docs/**/index.md", "docs/a/b/index.md", "/", true],
    ["docs/**/index.md", "docs/reindex.md", "/", false],
    ["docs/**/index.md", "docs/a/reindex.md", "/", false],
    ["**/.env", "src/not.env", "/", false],
    ["**/**/a", "b/a", "/", true],
    ["a**/b", "ab", "/", false],
    ["a**/b", "ax/y/b", "/", true],
    ["a.c", "abc", "/", false],
  ])("%j on %j", (pattern, text, separator, expected) => {
    expect(matchesGlob(pattern, text, separator)).toBe(expected);
  });

  test("a pattern of many stars takes no longer", () => {
    expect(matchesGlob("*a".repeat(200), "a".repeat(2000), undefined)).toBe(true);
    expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(2000), undefined)).toBe(false);
  });
});

describe("rules", () => {
  const bash = (command: string, more: object = {}) => ({ name: "run_bash", args: { command, ...more } });
  const write = (path: string) => ({ name: "write_file", args: { path, content: "" } });
  const move = (source: string, destination: string) => ({ name: "move", args: { source, destination } });

  test.each<[string, { name: string; args: Record<string, unknown> }, boolean, boolean]>([
    // The last two: whether it holds as a rule that allows, and as one that asks or denies.
    ["run_bash", bash("rm -rf /"), true, true],
    ["run_*", bash("ls"), true, true],
    ["write_file", bash("ls"), false, false],
    ["run_bash(npm test *)", bash("npm test"), true, true],
    ["run_bash(npm test *)", bash("npm test -- --watch"), true, true],
    ["run_bash(npm test *)", bash("npm testing"), false, false],
    ["run_bash(npm test *)", bash("npm test && rm -rf /"), false, true],
    ["run_bash(npm test *)", bash("npm test; npm test x"), true, true],
    ["run_bash(npm test *)", bash("npm test $(rm -rf /)"), false, true],
    ["run_bash(npm test *)", bash("npm test\nrm -rf /"), false, true],
    ["run_bash(npm test *)", bash("npm test > ~/.bashrc"), false, true],
    ["run_bash(npm test *)", bash("npm test", { env: { PATH: "/evil" } }), false, true],
    ["run_bash(npm test *)", bash("npm test", { arguments: ["x"] }), false, true],
    ["run_bash(npm test *)", bash("npm test", { timeout: 5 }), true, true],
    ["run_bash(npm test *)", bash("npm test\u00a0"), false, true],
    ["run_bash(./run test *)", bash('"./run test" x'), false, true],
    ["run_bash(./run test *)", bash("./run test x", { cwd: "lib" }), false, true],
    ["run_bash(rm *)", bash("ls && rm -rf x"), false, true],
    ["run_bash(rm *)", bash("x=$(rm -rf x)"), false, true],
    ["run_bash(=make all)", bash("make all"), true, true],
    ["run_bash(=make all)", bash("make all", { timeout: 9 }), true, true],
    ["run_bash(=make all)", bash("make all", { cwd: "/" }), false, false],
    ["run_bash(=make all)", bash("make all "), false, false],
    ["write_file(src/**)", write("src/a.ts"), true, true],
    ["write_file(src/**)", write("./src/deep/new.ts"), true, true],
    ["write_file(src/**)", write("src/../package.json"), false, false],
    ["write_file(src/**)", write("src/etc/passwd"), false, false],
    ["write_file(src/**)", write("/etc/passwd"), false, false],
    ["write_file(/etc/**)", write("src/etc/passwd"), true, true],
    ["write_file(*.md)", write("README.md"), true, true],
    ["move(src/**)", move("src/a", "src/b"), true, true],
    ["move(src/**)", move("src/a", "b"), false, true],
    ["fetch(https://example.org/*)", { name: "fetch", args: { url: "https://example.org/x" } }, true, true],
    [
      "fetch(https://example.org/*)",
      { name: "fetch", args: { url: "https://example.org.evil/x" } },
      false,
      false,
    ],
    // An argument beside the one that the tool obeys hides nothing.
    ["write_file(src/**)", { name: "write_file", args: { path: "src/a.ts", command: "x" } }, false, true],
    ["fetch(*evil*)", { name: "fetch", args: { url: "https://a.org", uri: "https://evil" } }, false, true],
    ["query(*users*)", { name: "query", args: { sql: { table: "users" } } }, true, true],
  ])("%s on %j", (text, call, allows, catches) => {
    const one = parseRule(text);
    expect(formatRule(one)).toBe(text);
    expect([matchesRule(one, call, places, true), matchesRule(one, call, places, false)]).toEqual([
      allows,
      catches,
    ]);
  });

  test.each(["", "run_bash()", "run bash", "run_bash(x", "a b(c)"])("%j is no rule", (text) => {
    expect(() => parseRule(text)).toThrow(/is no rule. Write a tool's name/);
  });
});

describe("the policy", () => {
  const TOOLS: Readonly<Record<string, readonly ToolCapability[]>> = {
    read_file: ["read"],
    write_file: ["write"],
    remove: ["destroy"],
    run_bash: ["execute"],
    fetch: ["network"],
    unlabelled: [],
  };
  const decide = (name: string, options: Partial<PolicyOptions>, needs = false): Ruling["type"] =>
    rule(
      {
        name,
        args: name === "run_bash" ? { command: "npm test" } : { path: "src/a.ts" },
        capabilities: TOOLS[name] ?? [],
        description: { needs: needs ? [{ kind: "write", path: "/x", reason: "outside" }] : [] },
      },
      {
        rules: { allow: [], ask: [], deny: [] },
        granted: [],
        confirm: new Set(),
        mode: "ask",
        runsOnly: () => true,
        mayRun: () => false,
        ...places,
        ...options,
      },
    ).type;
  const row = (options: Partial<PolicyOptions>): string =>
    Object.keys(TOOLS)
      .map((name) => decide(name, options))
      .join(" ");

  test.each<
    [
      what: string,
      mode: Mode,
      rules: {
        allow?: string;
        ask?: string;
        deny?: string;
        granted?: string;
        confirm?: string;
      },
      expected: string,
    ]
  >([
    // read_file write_file remove run_bash fetch unlabelled
    ["plan", "plan", {}, "allow deny deny deny deny deny"],
    ["plan, allowed", "plan", { allow: "*" }, "allow deny deny deny deny deny"],
    ["plan, granted", "plan", { granted: "*" }, "allow deny deny deny deny deny"],
    ["ask", "ask", {}, "allow ask ask ask ask ask"],
    ["ask, confirm read", "ask", { confirm: "read_file" }, "ask ask ask ask ask ask"],
    ["ask, one allowed", "ask", { allow: "run_bash(npm test *)" }, "allow ask ask allow ask ask"],
    ["ask, all granted", "ask", { granted: "*" }, "allow allow allow allow allow allow"],
    [
      "ask, deny wins over allow",
      "ask",
      { allow: "*", deny: "remove" },
      "allow allow deny allow allow allow",
    ],
    ["ask, ask wins over allow", "ask", { allow: "*", ask: "fetch" }, "allow allow allow allow ask allow"],
    ["ask, granted wins over ask", "ask", { granted: "fetch", ask: "*" }, "ask ask ask ask allow ask"],
    ["ask, deny wins over granted", "ask", { granted: "*", deny: "*" }, "deny deny deny deny deny deny"],
    ["edits", "edits", {}, "allow allow ask ask ask ask"],
    ["edits, confirm edits", "edits", { confirm: "write_file" }, "allow ask ask ask ask ask"],
    ["edits, paths asked", "edits", { ask: "write_file(src/**)" }, "allow ask ask ask ask ask"],
    ["auto", "auto", {}, "allow allow allow allow allow allow"],
    ["auto, confirm", "auto", { confirm: "run_bash" }, "allow allow allow ask allow allow"],
    ["auto, asked", "auto", { ask: "run_bash" }, "allow allow allow ask allow allow"],
    ["auto, denied", "auto", { deny: "run_bash(npm *)" }, "allow allow allow deny allow allow"],
  ])("%s", (_, mode, { allow, ask, deny, granted, confirm }, expected) => {
    const list = (text: string | undefined) => (text === undefined ? [] : [parseRule(text)]);
    expect(
      row({
        mode,
        rules: { allow: list(allow), ask: list(ask), deny: list(deny) },
        granted: list(granted),
        confirm: new Set(confirm === undefined ? [] : [confirm]),
      }),
    ).toBe(expected);
  });

  test.each(MODES.filter((mode) => mode !== "plan"))(
    "in mode %s what goes beyond the access rules is asked",
    (mode) => {
      const everything = [parseRule("*")];
      expect(
        decide(
          "write_file",
          { mode, granted: everything, rules: { allow: everything, ask: [], deny: [] } },
          true,
        ),
      ).toBe("ask");
    },
  );

  test("asks in auto mode if the tool advises caution, unless a rule allows the call", () => {
    const call = {
      name: "web_fetch",
      args: { url: "https://example.com/?q=secret" },
      capabilities: ["read", "network"] as const,
      description: { needs: [], caution: "the address is not from you" },
    };
    const options = {
      rules: { allow: [], ask: [], deny: [] },
      granted: [],
      confirm: new Set<string>(),
      mode: "auto" as const,
      runsOnly: () => true,
      mayRun: () => false,
      ...places,
    };
    expect(rule(call, options).type).toBe("ask");
    expect(rule({ ...call, description: { needs: [] } }, options).type).toBe("allow");
    const allow = [parseRule("web_fetch")];
    expect(rule(call, { ...options, rules: { ...options.rules, allow } }).type).toBe("allow");
  });

  test("a denial names its rule", () => {
    expect(
      rule(
        { name: "remove", args: {}, capabilities: ["destroy"], description: { needs: [] } },
        {
          rules: { allow: [], ask: [], deny: [parseRule("rem*")] },
          granted: [],
          confirm: new Set(),
          mode: "auto",
          runsOnly: () => true,
          mayRun: () => false,
          ...places,
        },
      ),
    ).toEqual({ type: "deny", reason: "the rule rem* of the configuration denies it." });
  });

  test("the first mode is what the configuration means", () => {
    const tool = (name: string, enabled: boolean) =>
      ({ name, enabled, capabilities: TOOLS[name] ?? [], description: "", source: "" }) as never;
    expect(modeOf([tool("write_file", true), tool("run_bash", false)], new Set())).toBe("edits");
    expect(modeOf([tool("run_bash", true)], new Set(["run_bash"]))).toBe("edits");
    expect(modeOf([tool("run_bash", true)], new Set())).toBe("auto");
    expect(MODES.map(nextMode)).toEqual(["ask", "edits", "auto", "plan"]);
  });
});

describe("what was allowed for good", () => {
  const state = join(folder, "state");

  test("holds in the project it was given for, after a restart, until it is taken back", async () => {
    const grants = new Grants(state, root);
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("fetch"), "session");
    const again = new Grants(state, root);
    expect(again.list()).toEqual([{ rule: parseRule("run_bash(npm test *)"), scope: "project" }]);
    expect(new Grants(state, folder).list()).toEqual([]);
    const [grant] = again.list();
    if (grant) expect(await again.revoke(grant)).toBe(true);
    expect(new Grants(state, root).list()).toEqual([]);
  });

  test("two chats in one project keep each other's", async () => {
    const [one, two] = [new Grants(state, root), new Grants(state, root)];
    await one.add(parseRule("a"), "project");
    await two.add(parseRule("b"), "project");
    expect(new Grants(state, root).list().map(({ rule: { tool } }) => tool)).toEqual(["a", "b"]);
  });

  test("a damaged file allows nothing, and one that cannot be written holds for the session", async () => {
    for (const name of readdirSync(state))
      writeFileSync(join(state, name), '{"project":"/elsewhere","allow":["*"]}');
    expect(new Grants(state, root).list()).toEqual([]);
    const grants = new Grants("/dev/null/x", root);
    await expect(grants.add(parseRule("a"), "project")).rejects.toThrow();
    expect(grants.list()).toEqual([{ rule: parseRule("a"), scope: "session" }]);
  });

  /** What is offered where a pack says that any two words make a rule. */
  function offered(command: string, more: object, options: Partial<AlwaysOptions> = {}): AlwaysChoice[] {
    const call = {
      name: "run_bash",
      args: { command, ...more },
      capabilities: [],
      description: { needs: [] },
    };
    const ruleWords = (text: string) => text.split(" ", 2);
    return alwaysChoices(call, { ...places, ruleWords, runsOnly: () => true, ...options });
  }
  const WITHOUT_WORDS = ["exactly this call", "every call of run_bash"];

  test.each<[string, object, string[]]>([
    ["npm test -- --watch", {}, ["exactly this call", "npm test *", "every call of run_bash"]],
    ["ls", {}, ["exactly this call", "ls *", "every call of run_bash"]],
    ["npm test && ls", {}, WITHOUT_WORDS],
    ["npm test > x", {}, WITHOUT_WORDS],
    ["npm te*", {}, WITHOUT_WORDS],
    [`npm ${"a".repeat(60)}`, {}, WITHOUT_WORDS],
    ["npm test", { env: { A: "b" } }, WITHOUT_WORDS],
  ])("after %j %j is offered, if it lets the call pass", (command, more, labels) => {
    const choices = offered(command, more);
    expect(choices.map(({ label }) => label)).toEqual(labels);
    for (const { rule } of choices)
      expect(matchesRule(rule, { name: "run_bash", args: { command, ...more } }, places, true)).toBe(true);
  });

  test("no words are offered that their pack does not name, or that do not say what the command does", () => {
    const labels = (options: Partial<AlwaysOptions>) =>
      offered("npm test --x", {}, options).map(({ label }) => label);
    expect(labels({ ruleWords: () => undefined })).toEqual(WITHOUT_WORDS);
    expect(labels({ runsOnly: () => false })).toEqual(WITHOUT_WORDS);
    const needs = [{ kind: "write", path: "/x", reason: "outside" }] as const;
    const call = {
      name: "run_bash",
      args: { command: "npm test" },
      capabilities: [],
      description: { needs },
    };
    expect(
      alwaysChoices(call, { ...places, ruleWords: () => ["npm", "test"], runsOnly: () => true }),
    ).toEqual([]);
  });
});

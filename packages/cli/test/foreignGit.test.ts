import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { FileIndex } from "@agent/terminal/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { UndoLog } from "../src/undo/undoLog.js";
import { describeAs } from "./describedCall.js";

let folder: string;
let project: string;
let mark: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-foreign-git-")));
  project = join(folder, "project");
  mark = join(folder, "ran");
  mkdirSync(project);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(project, ...names);
const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    cwd: project,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

/**
 * A repository in which the content of `.gitignore` is missing, and which names a remote that git asks for missing
 * objects. The lines are about this remote and all that git may run to reach it.
 */
function repositoryThatFetches(remote: string): void {
  git("init");
  writeFileSync(at(".gitignore"), "ignored\n");
  writeFileSync(at("a"), "1");
  git("add", "-A");
  git("commit", "-m", "first");
  const blob = git("rev-parse", ":.gitignore").trim();
  git("update-index", "--skip-worktree", ".gitignore");
  rmSync(at(".gitignore"));
  // A file that git compares with the rules.
  writeFileSync(at("untracked"), "");
  rmSync(at(".git/objects", blob.slice(0, 2), blob.slice(2)));
  git("config", "core.repositoryFormatVersion", "1");
  appendFileSync(
    at(".git/config"),
    `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n${remote}`,
  );
}

/** Completes a name, then runs a command that changes the file `a` and reverts it. */
async function completeAndUndo(): Promise<{ completed: string[]; restored: string }> {
  const index = new FileIndex(project);
  await index.refresh();
  const log = new UndoLog(join(folder, "state"), project);
  log.beginTurn("run something");
  await log.before({ id: "1", describe: describeAs(), capabilities: ["execute"] });
  writeFileSync(at("a"), "22");
  await log.after("1");
  await log.endTurn();
  await log.undo();
  return { completed: index.find("", 10), restored: readFileSync(at("a"), "utf8") };
}

describe("a stranger's repository that makes git fetch a missing object", () => {
  test("runs the command of its remote under plain git, which is the attack", () => {
    repositoryThatFetches(`\turl = .\n\tuploadpack = "touch ${mark}; false"\n`);
    spawnSync("git", ["ls-files", "--others", "--exclude-standard"], { cwd: project });
    expect(existsSync(mark)).toBe(true);
  });

  test.each([
    ["the command of its remote", () => `\turl = .\n\tuploadpack = "touch ${mark}; false"\n`],
    [
      "a transport that is a command",
      () => `\turl = ext::sh -c 'touch ${mark}'\n[protocol "ext"]\n\tallow = always\n`,
    ],
    [
      "an ssh command",
      () =>
        `\turl = ssh://host.invalid/x\n[core]\n\tsshCommand = "touch ${mark}; false"\n[protocol]\n\tallow = always\n`,
    ],
    ["a proxy command", () => `\turl = git://host.invalid/x\n[core]\n\tgitProxy = "touch ${mark}; false"\n`],
    [
      "a credential helper",
      () => `\turl = http://127.0.0.1:9/x\n[credential]\n\thelper = "!touch ${mark}; false"\n`,
    ],
    [
      "an included configuration",
      () => {
        writeFileSync(at("more"), `[remote "origin"]\n\turl = .\n\tuploadpack = "touch ${mark}; false"\n`);
        return "[include]\n\tpath = ../more\n";
      },
    ],
  ])("does not run %s for completion or undo", async (_what, remote) => {
    repositoryThatFetches(remote());
    const { completed, restored } = await completeAndUndo();
    expect(existsSync(mark)).toBe(false);
    expect(completed).toContain("a");
    expect(restored).toBe("1");
  });
});

test.each([
  ["a file monitor", () => `[core]\n\tfsmonitor = "touch ${mark}; false"\n`],
  ["hooks", () => `[core]\n\thooksPath = ${at("hooks")}\n`],
  [
    "filters",
    () =>
      `[filter "x"]\n\tclean = "touch ${mark}; cat"\n\tprocess = "touch ${mark}; false"\n\trequired = true\n`,
  ],
  [
    "a diff program",
    () => `[diff]\n\texternal = touch ${mark}\n[diff "x"]\n\ttextconv = "touch ${mark}; cat"\n`,
  ],
  ["a pager", () => `[core]\n\tpager = touch ${mark}\n[pager]\n\tls-files = touch ${mark}\n`],
  ["an alias", () => `[alias]\n\tls-files = "!touch ${mark}"\n`],
  ["the maintenance", () => `[gc]\n\tauto = 1\n\trecentObjectsHook = touch ${mark}\n`],
  ["a command for alternates", () => `[core]\n\talternateRefsCommand = "touch ${mark}; false"\n`],
])("does not run %s of a third-party repository for completion or undo", async (_what, config) => {
  for (const place of [project, at("nested"), at("submodule")]) {
    mkdirSync(place, { recursive: true });
    execFileSync("git", ["init"], { cwd: place, stdio: "ignore" });
    writeFileSync(join(place, "a"), "1");
    writeFileSync(join(place, ".gitattributes"), "* filter=x diff=x text\n");
    execFileSync("git", ["add", "a", ".gitattributes"], { cwd: place, stdio: "ignore" });
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "x"], {
      cwd: place,
      stdio: "ignore",
    });
  }
  // As a submodule it is part of the index.
  git(
    "update-index",
    "--add",
    "--cacheinfo",
    `160000,${git("-C", "submodule", "rev-parse", "HEAD").trim()},submodule`,
  );
  mkdirSync(at("hooks"));
  for (const name of ["post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"]) {
    writeFileSync(at("hooks", name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  }
  for (const place of ["", "nested", "submodule"]) appendFileSync(at(place, ".git/config"), config());
  const { completed, restored } = await completeAndUndo();
  expect(existsSync(mark)).toBe(false);
  expect(completed).toContain("a");
  expect(restored).toBe("1");
});

test("completes within limits where every directory has rules that are slow to compare", async () => {
  let directory = project;
  for (let depth = 0; depth < 40; depth++) {
    writeFileSync(join(directory, ".gitignore"), "*a*b*c\n".repeat(4000));
    writeFileSync(join(directory, "a".repeat(200)), "");
    directory = join(directory, "aaaa");
    mkdirSync(directory);
  }
  const index = new FileIndex(project);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await index.refresh();
  clearInterval(timer);
  // How deep it gets within its time limit depends on the machine.
  expect(index.find("aaaa", 1)).toHaveLength(1);
  // The event loop was free in between.
  expect(turns).toBeGreaterThan(3);
});

test("no other sources than those for undo and for packs from repositories start git", () => {
  const packages = fileURLToPath(new URL("../..", import.meta.url));
  const sources = readdirSync(packages).flatMap((name) => {
    const source = join(packages, name, "src");
    if (!existsSync(source)) return [];
    return readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.test|\.d)\.tsx?$/.test(file))
      .map((file) => join(source, file));
  });
  expect(sources.length).toBeGreaterThan(300);
  const startsPrograms = /child_process|nodeChildProcess|\b(?:own|find)Program\(/;
  // As an argument, as the start of a command line, or as a path; also with the ending of Windows.
  const namesGit = /(?<!\* .*)(["'`])(?:[^"'`\s]*\/)?git(?:\.exe)?(?:\1|\s+-*[a-z])/;
  const found = sources.filter((file) => {
    const text = readFileSync(file, "utf8");
    return startsPrograms.test(text) && namesGit.test(text);
  });
  // The second downloads into a separate empty repository, under the configuration of the user.
  expect(found.map((file) => relative(packages, file)).sort()).toEqual([
    "cli/src/assembly/packages/gitArchive.ts",
    "cli/src/undo/privateGit.ts",
  ]);
});

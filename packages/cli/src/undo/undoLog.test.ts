import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { describeAs, describeWrites } from "../../test/describedCall.js";
import { moveChanges } from "./moveChanges.js";
import { UndoLog } from "./undoLog.js";

const LONG_AGO = new Date("2001-01-01");

let folder: string;
let project: string;
let log: UndoLog;
let calls = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-undo-"));
  project = join(folder, "project");
  mkdirSync(project);
  log = new UndoLog(join(folder, "state"), project);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Everything in a directory: names, kinds, modes, contents. */
function treeHash(directory: string): string {
  const hash = createHash("sha256");
  const walk = (path: string, name: string): void => {
    const stats = lstatSync(path);
    hash.update(`${name}\0${stats.isSymbolicLink() ? "link" : stats.mode}\0`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else if (stats.isDirectory()) {
      for (const entry of readdirSync(path).sort()) {
        if (entry !== ".git") walk(join(path, entry), `${name}/${entry}`);
      }
    }
  };
  walk(directory, "");
  return hash.digest("hex");
}

async function call(
  paths: readonly string[] | "unknown",
  work: () => void,
  capabilities: readonly ("write" | "destroy" | "execute")[] = ["write"],
): Promise<void> {
  const id = `call-${calls++}`;
  const describe = paths === "unknown" ? describeAs() : describeWrites(paths, project);
  await log.before({ id, describe, capabilities });
  work();
  await log.after(id);
}

async function turn(work: () => Promise<void>): Promise<void> {
  log.beginTurn("do something");
  await work();
  await log.endTurn();
}

const at = (...names: string[]): string => join(project, ...names);

describe("undo of what file tools changed", () => {
  test("reverts and redoes an edit, a new file with its directories, a move and a removal", async () => {
    writeFileSync(at("a.txt"), "old");
    mkdirSync(at("gone", "deep"), { recursive: true });
    writeFileSync(at("gone", "deep", "x"), Buffer.from([0, 255, 1]));
    writeFileSync(at("m"), "moved");
    const before = treeHash(project);
    await turn(async () => {
      await call(["a.txt"], () => writeFileSync(at("a.txt"), "new"));
      await call(["n/e/w.txt"], () => {
        mkdirSync(at("n", "e"), { recursive: true });
        writeFileSync(at("n", "e", "w.txt"), "created");
      });
      await call(["m", "n/m"], () => renameSync(at("m"), at("n", "m")));
      await call(["gone"], () => rmSync(at("gone"), { recursive: true }), ["destroy"]);
    });
    const after = treeHash(project);
    const undone = await log.undo();
    expect(undone.kept).toEqual([]);
    expect(undone.restored).toContain(at("a.txt"));
    expect(treeHash(project)).toBe(before);
    expect((await log.redo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(after);
    expect((await log.redo()).message).toBeUndefined();
  });

  test("reverts every file of a call with several targets, and leaves other files alone", async () => {
    for (const name of ["a", "b", "target", "other"]) writeFileSync(at(name), "old");
    symlinkSync("target", at("link"));
    const before = treeHash(project);
    await turn(() =>
      call(["a", "b", "new", "link"], () => {
        for (const name of ["a", "b", "new", "link"]) writeFileSync(at(name), "by the model");
      }),
    );
    const after = treeHash(project);
    expect((await log.undo()).restored).toEqual(["a", "b", "new", "target"].map((name) => at(name)));
    expect(treeHash(project)).toBe(before);
    await log.redo();
    expect(treeHash(project)).toBe(after);
  });

  test("reverts what an agent in the background changed after the message, in a call that outlasted it", async () => {
    writeFileSync(at("f"), "old");
    log.beginTurn("start an agent");
    await log.before({ id: "background", describe: describeWrites(["f"], project), capabilities: ["write"] });
    await call(["g"], () => writeFileSync(at("g"), "new"));
    await log.endTurn();
    writeFileSync(at("f"), "by the agent");
    await log.after("background");
    await turn(async () => undefined);
    expect(await log.undo()).toMatchObject({ message: "start an agent", restored: [at("f")], kept: [] });
    expect(readFileSync(at("f"), "utf8")).toBe("old");
  });

  test("reverts one message per /undo, the latest first", async () => {
    const hashes = [treeHash(project)];
    for (const content of ["one", "two", "three"]) {
      await turn(() => call(["f"], () => writeFileSync(at("f"), content)));
      hashes.push(treeHash(project));
    }
    for (const hash of hashes.reverse().slice(1)) {
      await log.undo();
      expect(treeHash(project)).toBe(hash);
    }
    expect((await log.undo()).message).toBeUndefined();
  });

  test("names a file that changed since and leaves it alone; reverts the others", async () => {
    writeFileSync(at("a"), "1");
    writeFileSync(at("b"), "1");
    await turn(async () => {
      await call(["a"], () => writeFileSync(at("a"), "2"));
      await call(["b"], () => writeFileSync(at("b"), "2"));
    });
    writeFileSync(at("a"), "mine");
    const result = await log.undo();
    expect(result.kept).toEqual([{ path: at("a"), reason: "it has changed since" }]);
    expect([readFileSync(at("a"), "utf8"), readFileSync(at("b"), "utf8")]).toEqual(["mine", "1"]);
  });

  test("skips a message of which nothing can be reverted, reverts those before it, and can try it again", async () => {
    await turn(() => call(["first"], () => writeFileSync(at("first"), "1")));
    writeFileSync(at("a"), "1");
    await turn(() => call(["a"], () => writeFileSync(at("a"), "2")));
    writeFileSync(at("a"), "mine");
    expect((await log.undo()).restored).toEqual([]);
    expect((await log.undo()).restored).toEqual([at("first")]);
    writeFileSync(at("a"), "2");
    await log.redo();
    await log.redo();
    expect((await log.undo()).restored).toEqual([at("a")]);
    expect(readFileSync(at("a"), "utf8")).toBe("1");
  });

  test("never loses a change by someone else between two calls", async () => {
    writeFileSync(at("a"), "1");
    await turn(async () => {
      await call(["a"], () => writeFileSync(at("a"), "2"));
      writeFileSync(at("a"), "by the user");
      await call(["a"], () => writeFileSync(at("a"), "3"));
    });
    expect((await log.undo()).kept[0]?.reason).toBe("it was changed by someone else in between");
    expect(readFileSync(at("a"), "utf8")).toBe("3");
  });

  test("keeps a new directory, with the file that someone put into it", async () => {
    await turn(() =>
      call(["d/f"], () => {
        mkdirSync(at("d"));
        writeFileSync(at("d", "f"), "x");
      }),
    );
    writeFileSync(at("d", "mine"), "y");
    const result = await log.undo();
    expect(result.kept).toEqual([{ path: at("d"), reason: "something else is in it" }]);
    expect(readdirSync(at("d"))).toEqual(["mine"]);
  });

  test("names a directory in place of a file once if something else is in it", async () => {
    writeFileSync(at("d"), "a file");
    await turn(() =>
      call(["d"], () => {
        rmSync(at("d"));
        mkdirSync(at("d"));
      }),
    );
    writeFileSync(at("d", "mine"), "y");
    expect(await log.undo()).toMatchObject({
      restored: [],
      kept: [{ path: at("d"), reason: "something else is in it" }],
    });
  });

  test("names a file whose directory is gone, and restores it once the directory is back", async () => {
    mkdirSync(at("d"));
    writeFileSync(at("d", "f"), "1");
    await turn(() => call(["d/f"], () => rmSync(at("d", "f")), ["destroy"]));
    rmSync(at("d"), { recursive: true });
    expect((await log.undo()).kept).toEqual([{ path: at("d", "f"), reason: "its directory is gone" }]);
    mkdirSync(at("d"));
    await log.redo();
    expect((await log.undo()).restored).toEqual([at("d", "f")]);
    expect(readFileSync(at("d", "f"), "utf8")).toBe("1");
  });

  test("keeps apart calls with the same id of agents that work in different directories", async () => {
    const tree = join(folder, "tree");
    mkdirSync(tree);
    for (const directory of [project, tree]) writeFileSync(join(directory, "f"), "old");
    log.beginTurn("work");
    await log.before({ id: "1", describe: describeWrites(["f"], project), capabilities: ["write"] });
    await log.before({ id: "1", describe: describeWrites(["f"], tree), capabilities: ["write"] }, tree);
    for (const directory of [project, tree]) writeFileSync(join(directory, "f"), "new");
    await log.after("1");
    await log.after("1", tree);
    await log.endTurn();
    expect((await log.undo()).restored).toEqual([at("f"), join(tree, "f")]);
    for (const directory of [project, tree]) expect(readFileSync(join(directory, "f"), "utf8")).toBe("old");
  });

  test("writes through a link, and reverts its target", async () => {
    writeFileSync(at("real"), "1");
    symlinkSync("real", at("link"));
    const before = treeHash(project);
    await turn(() => call(["link"], () => writeFileSync(at("link"), "2")));
    await log.undo();
    expect(treeHash(project)).toBe(before);
  });

  test("does not follow a directory that became a link elsewhere", async () => {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(at("d"));
    writeFileSync(at("d", "f"), "1");
    await turn(() => call(["d/f"], () => writeFileSync(at("d", "f"), "2")));
    renameSync(at("d"), elsewhere);
    symlinkSync(elsewhere, at("d"));
    expect((await log.undo()).restored).toEqual([]);
    expect(readFileSync(join(elsewhere, "f"), "utf8")).toBe("2");
  });

  test("lets a copy of the session undo what the session could", async () => {
    await turn(() => call(["f"], () => writeFileSync(at("f"), "x")));
    await log.copyTo(join(folder, "copy"));
    rmSync(join(folder, "state"), { recursive: true });
    const copy = new UndoLog(join(folder, "copy"), project);
    expect((await copy.undo()).restored).toEqual([at("f")]);
    await copy.redo();
    expect(readFileSync(at("f"), "utf8")).toBe("x");
  });

  test("starts a separate turn with a message that steers an answer, by its id", async () => {
    log.beginTurn("first");
    log.noteMessage("1", "first");
    await call(["a"], () => writeFileSync(at("a"), "x"));
    log.noteMessage("2", "second");
    await call(["b"], () => writeFileSync(at("b"), "x"));
    await log.endTurn();
    expect(log.turns).toEqual([
      { id: "1", paths: [at("a")] },
      { id: "2", paths: [at("b")] },
    ]);
    expect((await log.undo()).message).toBe("second");
    expect((await log.undo()).message).toBe("first");
  });

  test("lists each changed file as it was before the first change and after the last one", async () => {
    writeFileSync(at("b"), "1");
    writeFileSync(at("same"), "1");
    for (const content of ["2", "3"]) {
      await turn(() =>
        call(["b", "same", "a", "d"], () => {
          writeFileSync(at("b"), content);
          writeFileSync(at("same"), content === "2" ? "2" : "1");
          writeFileSync(at("a"), content);
          mkdirSync(at("d"), { recursive: true });
        }),
      );
    }
    const text = (one: unknown) => (one instanceof Buffer ? one.toString() : one);
    const files = await log.changedFiles();
    expect(files.map(({ path, before, after }) => [path, text(before), text(after)])).toEqual([
      [at("a"), undefined, "3"],
      [at("b"), "1", "3"],
      [at("d"), undefined, { other: "directory" }],
    ]);
    rmSync(join(folder, "state", "blobs"), { recursive: true });
    expect((await log.changedFiles())[0]?.after).toEqual({ other: "its content is not kept" });
  });

  test("forgets what was undone with the next change, and records no call that only reads", async () => {
    await turn(() => call(["a"], () => writeFileSync(at("a"), "x")));
    await log.undo();
    await turn(() => call(["b"], () => writeFileSync(at("b"), "x")));
    expect((await log.redo()).message).toBeUndefined();
    log.beginTurn("look");
    await log.before({ id: "r", describe: describeWrites(["c"], project), capabilities: ["read"] });
    writeFileSync(at("c"), "by the user");
    await log.after("r");
    await log.endTurn();
    expect((await log.undo()).restored).toEqual([at("b")]);
  });

  test("keeps what was undone after a message whose changes are not tracked", async () => {
    await turn(() => call(["a"], () => writeFileSync(at("a"), "x")));
    await log.undo();
    await turn(() => call("unknown", () => undefined));
    expect((await log.redo()).restored).toEqual([at("a")]);
  });

  test("restores the mode of a removed directory that forbids writing", async () => {
    mkdirSync(at("fixed"));
    writeFileSync(at("fixed", "f"), "x");
    chmodSync(at("fixed"), 0o555);
    const before = treeHash(project);
    await turn(() =>
      call(["fixed"], () => {
        chmodSync(at("fixed"), 0o755);
        rmSync(at("fixed"), { recursive: true });
      }),
    );
    expect((await log.undo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(before);
    chmodSync(at("fixed"), 0o755);
  });

  test("keeps the last fifty messages", async () => {
    for (let count = 0; count < 51; count++) {
      await turn(() => call(["f"], () => writeFileSync(at("f"), `${count}`)));
    }
    expect(log.turns).toHaveLength(50);
    for (let count = 0; count < 50; count++) await log.undo();
    expect(readFileSync(at("f"), "utf8")).toBe("0");
    expect((await log.undo()).message).toBeUndefined();
  });

  test("names a call that could not be recorded", async () => {
    await turn(async () => {
      const describe = () => Promise.reject(new Error("broken"));
      await log.before({ id: "1", describe, capabilities: ["write"] });
      await log.after("1");
    });
    expect((await log.undo()).untracked).toEqual(["a call that could not be recorded (broken)"]);
    await turn(() => call(["a"], () => writeFileSync(at("a"), "x")));
    expect((await log.undo()).untracked).toEqual([]);
  });

  test.each(["{", "[]", '{"done":{},"undone":[]}', '{"done":[],"undone":1}'])(
    "starts with nothing to undo if its file has %s",
    async (content) => {
      mkdirSync(join(folder, "state"));
      writeFileSync(join(folder, "state", "turns.json"), content);
      log = new UndoLog(join(folder, "state"), project);
      expect((await log.undo()).message).toBeUndefined();
      await turn(() => call(["a"], () => writeFileSync(at("a"), "x")));
      expect((await log.undo()).restored).toEqual([at("a")]);
    },
  );

  test("remembers after a restart what was reverted", async () => {
    await turn(() => call(["f"], () => writeFileSync(at("f"), "x")));
    log = new UndoLog(join(folder, "state"), project);
    expect((await log.undo()).message).toBe("do something");
    expect(readdirSync(project)).toEqual([]);
  });

  test("restores the same tree after random edits, links, modes and binary files", async () => {
    let seed = 11;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const names = ["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e/b"];
    const step = async (): Promise<void> => {
      const [name, other] = [names[random(names.length)] ?? "a", names[random(names.length)] ?? "b"];
      const bytes = Buffer.from(Array.from({ length: random(40) }, () => random(256)));
      const kind = random(6);
      await call([name, other], () => {
        mkdirSync(at(name, ".."), { recursive: true });
        const isDirectory = lstatSync(at(name), { throwIfNoEntry: false })?.isDirectory();
        if (kind === 0) rmSync(at(name), { recursive: true, force: true });
        else if (isDirectory) chmodSync(at(name), 0o700 + random(64));
        else if (kind === 1) {
          rmSync(at(name), { force: true });
          symlinkSync(`target-${random(9)}`, at(name));
        } else if (kind === 2 && lstatSync(at(name), { throwIfNoEntry: false })?.isFile()) {
          chmodSync(at(name), 0o600 + random(64));
        } else if (kind === 3 && lstatSync(at(name), { throwIfNoEntry: false }) && name !== other) {
          rmSync(at(other), { recursive: true, force: true });
          mkdirSync(at(other, ".."), { recursive: true });
          renameSync(at(name), at(other));
        } else {
          rmSync(at(name), { force: true });
          writeFileSync(at(name), bytes);
        }
      });
    };
    const hashes: string[] = [];
    for (let message = 0; message < 30; message++) {
      hashes.push(treeHash(project));
      const steps = random(5) + 1;
      await turn(async () => {
        for (let count = 0; count < steps; count++) await step();
      });
      if (treeHash(project) === hashes.at(-1)) hashes.pop();
    }
    const last = treeHash(project);
    for (const hash of [...hashes].reverse()) {
      expect((await log.undo()).kept).toEqual([]);
      expect(treeHash(project)).toBe(hash);
    }
    for (const hash of [...hashes.slice(1), last]) {
      await log.redo();
      expect(treeHash(project)).toBe(hash);
    }
  });
});

describe("undo of what commands changed in a git work tree", () => {
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: project,
      stdio: "ignore",
    });
  };
  const shell = (command: string): Promise<void> =>
    call("unknown", () => execFileSync("sh", ["-c", command], { cwd: project, stdio: "ignore" }), [
      "execute",
    ]);

  beforeEach(() => {
    git("init");
    writeFileSync(at(".gitignore"), "ignored\n");
    writeFileSync(at("tracked"), "1\n");
    writeFileSync(at("crlf"), "a\r\nb\r\n");
    writeFileSync(at(".gitattributes"), "crlf text eol=lf\n");
    writeFileSync(at("run"), "#!/bin/sh\n", { mode: 0o755 });
    mkdirSync(at("src"));
    writeFileSync(at("src", "x"), Buffer.from([0, 1, 2, 255]));
    symlinkSync("tracked", at("link"));
    // Older than the index: git reads files again that are as new as it is.
    for (const name of ["tracked", "crlf", "run", "src/x"]) utimesSync(at(name), LONG_AGO, LONG_AGO);
    git("add", "-A");
    git("commit", "-m", "first");
    writeFileSync(at("tracked"), "changed, not committed\n");
    writeFileSync(at("untracked"), "never added\n");
  });

  test("restores tracked, untracked, binary and executable files, links and directories", async () => {
    const before = treeHash(project);
    const index = readFileSync(at(".git", "index"));
    await turn(() =>
      shell(
        "echo 2 > tracked; rm untracked; rm -r src; chmod -x run; ln -sf other link; mkdir -p new/dir; echo n > new/dir/f; printf 'x' >> crlf",
      ),
    );
    const after = treeHash(project);
    expect(after).not.toBe(before);
    expect((await log.undo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(before);
    await log.redo();
    expect(treeHash(project)).toBe(after);
    expect(readFileSync(at(".git", "index")).equals(index)).toBe(true);
  });

  test("keeps the mode of a file that a command changed, which git does not store", async () => {
    chmodSync(at("tracked"), 0o600);
    await turn(() => shell("echo 2 > tracked"));
    await log.undo();
    expect(readFileSync(at("tracked"), "utf8")).toBe("changed, not committed\n");
    expect(lstatSync(at("tracked")).mode & 0o777).toBe(0o600);
  });

  test("reverts what two agents did at the same time in their own work trees, after these were closed", async () => {
    const trees = ["one", "two"].map((name) => join(folder, name));
    for (const tree of trees) git("worktree", "add", "--detach", tree);
    const before = trees.map(treeHash);
    log.beginTurn("both");
    // Ids are unique in one agent only.
    const same = { id: "same", describe: describeAs(), capabilities: ["execute"] as const };
    for (const tree of trees) await log.before(same, tree);
    for (const cwd of trees) execFileSync("sh", ["-c", "echo 2 > tracked; rm run; echo n > made"], { cwd });
    for (const tree of trees) await log.after("same", tree);
    await log.endTurn();
    for (const tree of trees) log.closeDirectory(tree);
    expect(trees.map(treeHash)).not.toEqual(before);
    expect((await log.undo()).kept).toEqual([]);
    expect(trees.map(treeHash)).toEqual(before);
    const [first = "", second = ""] = trees;
    rmSync(second, { recursive: true });
    const { kept } = await log.redo();
    expect(readFileSync(join(first, "made"), "utf8")).toBe("n\n");
    expect(kept.map(({ path }) => path).sort()).toEqual(
      ["made", "run", "tracked"].map((name) => join(second, name)),
    );
    expect(existsSync(second)).toBe(false);
  });

  test("restores files that git converts as they were on the disk, and runs no filter", async () => {
    writeFileSync(at(".gitattributes"), "crlf text eol=lf\nlarge filter=pointer\n");
    writeFileSync(at("large"), "the whole of a large file\n");
    writeFileSync(at("auto"), "one\r\ntwo\r\n");
    for (const name of ["large", "auto"]) utimesSync(at(name), LONG_AGO, LONG_AGO);
    git("config", "filter.pointer.clean", "echo pointer; echo ran >> .git/ran");
    git("config", "core.autocrlf", "input");
    git("add", "-A");
    rmSync(at(".git", "ran"));
    const before = treeHash(project);
    await turn(() => shell("echo x > large; echo x > auto; echo x > crlf"));
    expect((await log.undo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(before);
    expect(existsSync(at(".git", "ran"))).toBe(false);
  });

  test("reverts what a child agent changed in its work tree, also after the child has ended", async () => {
    const tree = join(folder, "tree");
    cpSync(project, tree, { recursive: true });
    const before = treeHash(tree);
    log.beginTurn("delegate");
    await log.before({ id: "1", describe: describeAs(), capabilities: ["execute"] }, tree);
    writeFileSync(join(tree, "tracked"), "by the child");
    await log.after("1", tree);
    expect(readdirSync(join(folder, "state"))).toContain("git-tree");
    log.closeDirectory(tree);
    log.closeDirectory(project);
    expect(readdirSync(join(folder, "state"))).toEqual(["blobs"]);
    await log.endTurn();
    expect((await log.undo()).restored).toEqual([join(tree, "tracked")]);
    expect(treeHash(tree)).toBe(before);
  });

  test("leaves alone what was too large to be saved, also after a command made it small", async () => {
    for (const name of ["kept", "shrunk"]) {
      writeFileSync(at(name), "");
      truncateSync(at(name), 33 * 1024 * 1024);
    }
    await turn(() => shell("echo 2 >> kept; echo 2 > shrunk; echo 2 > tracked"));
    const undone = await log.undo();
    expect(undone.restored).toEqual([at("tracked")]);
    expect(undone.kept).toEqual([{ path: at("shrunk"), reason: "it was too large to be saved" }]);
    expect(readFileSync(at("shrunk"), "utf8")).toBe("2\n");
    expect(lstatSync(at("kept")).size).toBe(33 * 1024 * 1024 + 2);
  });

  test("reverts commands and file tools of one message together", async () => {
    const before = treeHash(project);
    await turn(async () => {
      await call(["tracked"], () => writeFileSync(at("tracked"), "by a tool"));
      await shell("echo more >> tracked; echo n > new");
      await call(["new"], () => rmSync(at("new")), ["destroy"]);
    });
    expect((await log.undo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(before);
  });

  test("does not touch files that the repository excludes by itself, nor repositories inside it", async () => {
    writeFileSync(at(".git", "info", "exclude"), "private\n");
    writeFileSync(at("private"), "1");
    mkdirSync(at("inner"));
    execFileSync("git", ["init", "-q", at("inner")]);
    await turn(() => shell("echo 2 > private; echo 2 > inner/f; echo 2 > tracked"));
    expect((await log.undo()).restored).toEqual([at("tracked")]);
    expect(readFileSync(at("private"), "utf8")).toBe("2\n");
  });

  test("restores files, links and directories that a command replaced by one another", async () => {
    const before = treeHash(project);
    await turn(() =>
      shell(
        "rm tracked run link; mkdir tracked; echo x > tracked/f; ln -s src run; echo y > link; rm -r src; echo z > src",
      ),
    );
    const after = treeHash(project);
    expect((await log.undo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(before);
    expect((await log.redo()).kept).toEqual([]);
    expect(treeHash(project)).toBe(after);
  });

  test("reports why nothing is tracked where git is not installed", async () => {
    vi.stubEnv("PATH", join(folder, "nothing"));
    onTestFinished(() => void vi.unstubAllEnvs());
    await turn(() => call("unknown", () => writeFileSync(at("tracked"), "2"), ["execute"]));
    expect((await log.undo()).untracked).toEqual([
      `what commands changed in ${project} (git is not installed)`,
    ]);
  });

  test("names a file the user changed after the command", async () => {
    await turn(() => shell("echo 2 > tracked; echo 2 > untracked"));
    writeFileSync(at("tracked"), "mine");
    expect((await log.undo()).kept).toEqual([{ path: at("tracked"), reason: "it has changed since" }]);
    expect(readFileSync(at("untracked"), "utf8")).toBe("never added\n");
  });

  test("runs nothing of the repository: neither its hooks nor its filters", async () => {
    const mark = join(folder, "pwned");
    git("config", "core.fsmonitor", `touch ${mark}; false`);
    git("config", "filter.evil.clean", `touch ${mark}; cat`);
    git("config", "filter.evil.smudge", `touch ${mark}; cat`);
    writeFileSync(at(".gitattributes"), "* filter=evil\n");
    await turn(() => shell("echo 2 > tracked"));
    expect((await log.undo()).restored).toEqual([at("tracked")]);
    expect(readdirSync(folder)).not.toContain("pwned");
  });

  describe("outside of a work tree", () => {
    beforeEach(() => {
      const plain = join(folder, "plain");
      cpSync(project, plain, { recursive: true, filter: (path) => !path.includes(".git") });
      project = plain;
      log = new UndoLog(join(folder, "state2"), plain);
    });

    test("reverts what commands changed, except in installed packages, and reports it", async () => {
      mkdirSync(at("node_modules"));
      const before = treeHash(project);
      await turn(() => shell("echo 2 > tracked; mkdir new; echo 3 > new/file; rm untracked"));
      await turn(() => shell("echo 4 > node_modules/a"));
      const undone = await log.undo();
      expect(undone.restored).toEqual(["new", "new/file", "tracked", "untracked"].map((name) => at(name)));
      expect(undone.untracked).toEqual([
        `what commands changed in ignored files, installed packages or outside of ${project}`,
      ]);
      rmSync(at("node_modules", "a"));
      expect(treeHash(project)).toBe(before);
      expect((await log.redo()).kept).toEqual([]);
      expect(readFileSync(at("tracked"), "utf8")).toBe("2\n");
    });

    test("counts the files of a directory, but not those of installed packages", async () => {
      mkdirSync(at("node_modules"));
      for (let file = 0; file <= 20_000; file++) symlinkSync("x", at("node_modules", `${file}`));
      await turn(() => shell("echo 2 > tracked"));
      expect((await log.undo()).restored).toEqual([at("tracked")]);
      renameSync(at("node_modules"), at("modules"));
      log = new UndoLog(join(folder, "state3"), project);
      await turn(() => shell("echo 2 > tracked"));
      expect((await log.undo()).untracked[0]).toContain("has more than 20000 files or 256 MB");
    });

    test("says that a directory is too large, and still reverts what file tools changed", async () => {
      for (let part = 0; part < 10; part++) {
        writeFileSync(at(`large-${part}`), "");
        truncateSync(at(`large-${part}`), 30 * 1024 * 1024);
      }
      await turn(() => call(["tracked"], () => writeFileSync(at("tracked"), "edited")));
      await turn(() => shell("echo 2 > untracked"));
      const undone = await log.undo();
      expect(undone.restored).toEqual([at("tracked")]);
      expect(undone.untracked).toEqual([
        `what commands changed in ${project}, which is in no git repository and has more than 20000 files or 256 MB`,
      ]);
      expect((await log.undo()).message).toBeUndefined();
    });
  });

  test("names ignored files as not tracked if a command ran, also in a new process, and nothing if none did", async () => {
    writeFileSync(at(".gitignore"), "*.log\n");
    await turn(() => call(["a"], () => undefined));
    expect(await log.undo()).toMatchObject({ message: undefined, untracked: [] });
    await turn(() => shell("echo 2 > my.log"));
    log = new UndoLog(join(folder, "state"), project);
    expect(await moveChanges(log, "undo", project)).toEqual({
      lines: [
        "Nothing to undo: no tracked file was changed.",
        `Not tracked: what commands changed in files that git ignores, or outside of ${project}.`,
      ],
    });
    expect(log.turns).toEqual([]);
  });
});

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { describeAs, describeWrites } from "../../test/describedCall.js";
import { BlobStore } from "./blobStore.js";
import { type FileState, MISSING } from "./fileState.js";
import { restore } from "./restore.js";
import { UndoLog } from "./undoLog.js";

const FILES = 30;
const ROUNDS = 30;
// Exchanges the directory d for a link to the directory of the second argument, and back, until it is killed.
const SWAPPER = `
const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
process.chdir(process.argv[1]);
process.stdout.write("swapping");
for (;;) {
  renameSync("d", "hidden");
  symlinkSync(process.argv[2], "d");
  unlinkSync("d");
  renameSync("hidden", "d");
}`;

let folder: string;
let project: string;
let log: UndoLog;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-hostile-undo-")));
  project = join(folder, "project");
  mkdirSync(project);
  log = new UndoLog(join(folder, "state"), project);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const at = (...names: string[]): string => join(project, ...names);
const git = (...args: string[]): void => void execFileSync("git", args, { cwd: project, stdio: "ignore" });

/** A message with one call, which runs a command. */
async function command(work: () => void): Promise<void> {
  log.beginTurn("run something");
  await log.before({ id: "1", describe: describeAs(), capabilities: ["execute"] });
  work();
  await log.after("1");
  await log.endTurn();
}

describe("a git directory made to be looked at", () => {
  test.each(["index", "info/exclude"])("does not stop the agent with a pipe as its %s", async (name) => {
    git("init");
    writeFileSync(at("a"), "1");
    rmSync(at(".git", name), { force: true });
    execFileSync("mkfifo", [at(".git", name)]);
    await command(() => writeFileSync(at("a"), "2"));
    await log.undo();
    expect(readFileSync(at("a"), "utf8")).toBe("1");
  });

  test("is not followed to a work tree that it claims is elsewhere", async () => {
    const elsewhere = join(folder, "home");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "key"), "old");
    git("init");
    git("config", "core.worktree", elsewhere);
    await command(() => writeFileSync(join(elsewhere, "key"), "new"));
    expect((await log.undo()).message).toBeUndefined();
    expect(readFileSync(join(elsewhere, "key"), "utf8")).toBe("new");
  });
});

test("does not run a program of the project that is called git", async () => {
  git("init");
  writeFileSync(at("a"), "1");
  const bin = at("node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "git"), `#!/bin/sh\ntouch ${join(folder, "ran")}\n`);
  chmodSync(join(bin, "git"), 0o755);
  vi.stubEnv("PATH", [bin, process.env.PATH].join(delimiter));
  await command(() => writeFileSync(at("a"), "2"));
  await log.undo();
  expect(existsSync(join(folder, "ran"))).toBe(false);
  expect(readFileSync(at("a"), "utf8")).toBe("1");
});

test("does not follow a directory that is exchanged for a link while changes are reverted", async () => {
  const outside = join(folder, "outside");
  mkdirSync(outside);
  mkdirSync(at("d"));
  const names = Array.from({ length: FILES }, (_, at) => `f${at}`);
  const paths = names.map((name) => `d/${name}`);
  log.beginTurn("write files");
  await log.before({ id: "1", describe: describeWrites(paths, project), capabilities: ["write"] });
  for (const name of names) writeFileSync(at("d", name), "by the model");
  await log.after("1");
  await log.endTurn();
  const swapper = spawn(process.execPath, ["-e", SWAPPER, project, outside], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(swapper.stdout, "data");
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await log.undo();
      await log.redo();
    }
  } finally {
    const ended = once(swapper, "exit");
    if (swapper.exitCode === null) {
      swapper.kill("SIGKILL");
      await ended;
    }
  }
  expect(readdirSync(outside)).toEqual([]);
});

describe.runIf(process.platform === "linux")("a directory exchanged for a link after its check", () => {
  /** Exchanges the directory for a link to the one outside when the content is used for the nth time. */
  class SwappingBlobs extends BlobStore {
    #uses = 0;
    constructor(readonly swapAt: number) {
      super(join(folder, "blobs"));
    }
    override async add(content: Uint8Array): Promise<string> {
      const name = await super.add(content);
      this.#swap();
      return name;
    }
    override async read(name: string): Promise<Buffer> {
      const content = await super.read(name);
      this.#swap();
      return content;
    }
    #swap(): void {
      if (++this.#uses !== this.swapAt) return;
      renameSync(at("d"), at("hidden"));
      symlinkSync(join(folder, "outside"), at("d"));
    }
  }

  beforeEach(() => {
    mkdirSync(join(folder, "outside"));
    mkdirSync(at("d"));
    writeFileSync(join(folder, "outside/f"), "new");
    writeFileSync(at("d/f"), "new");
  });
  const stored = async (content: string): Promise<FileState> => ({
    kind: "file",
    mode: lstatSync(at("d/f")).mode & 0o777,
    blob: await new BlobStore(join(folder, "blobs")).add(Buffer.from(content)),
  });

  test("has no effect on the file that is restored", async () => {
    const change = { path: at("d/f"), before: await stored("old"), after: await stored("new") };
    // The content is added by both checks, then read.
    await restore([change], "undo", new SwappingBlobs(3));
    expect(lstatSync(at("d")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "outside/f"), "utf8")).toBe("new");
    expect(readFileSync(at("hidden/f"), "utf8")).toBe("old");
  });

  test("has no effect on the target of a link that takes the place of the file before it is written", async () => {
    class LinkingBlobs extends BlobStore {
      override async read(name: string): Promise<Buffer> {
        rmSync(at("d/f"));
        symlinkSync(join(folder, "outside/f"), at("d/f"));
        return await super.read(name);
      }
    }
    const change = { path: at("d/f"), before: await stored("old"), after: await stored("new") };
    await restore([change], "undo", new LinkingBlobs(join(folder, "blobs")));
    expect(readFileSync(join(folder, "outside/f"), "utf8")).toBe("new");
    expect(lstatSync(at("d/f")).isFile()).toBe(true);
    expect(readFileSync(at("d/f"), "utf8")).toBe("old");
  });

  test("has no effect on the file that is removed", async () => {
    const change = { path: at("d/f"), before: MISSING, after: await stored("new") };
    await restore([change], "undo", new SwappingBlobs(2));
    expect(lstatSync(at("d")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "outside/f"), "utf8")).toBe("new");
    expect(existsSync(at("hidden/f"))).toBe(false);
  });

  test.each([
    ["restored", () => stored("old")],
    ["removed", async () => MISSING],
  ])("keeps a file that is changed between the check and the moment it would be %s", async (_, before) => {
    /** Changes the file after the first check has read it. */
    class ChangingBlobs extends BlobStore {
      #isChanged = false;
      override async add(content: Uint8Array): Promise<string> {
        const name = await super.add(content);
        if (!this.#isChanged) writeFileSync(at("d/f"), "mine");
        this.#isChanged = true;
        return name;
      }
    }
    const change = { path: at("d/f"), before: await before(), after: await stored("new") };
    const { kept, restored } = await restore([change], "undo", new ChangingBlobs(join(folder, "blobs")));
    expect(restored).toEqual([]);
    expect(kept).toEqual([{ path: at("d/f"), reason: "it has changed since" }]);
    expect(readFileSync(at("d/f"), "utf8")).toBe("mine");
  });

  test("keeps the file and names the reason if it is exchanged before the second check", async () => {
    writeFileSync(join(folder, "outside/f"), "by someone else");
    const change = { path: at("d/f"), before: await stored("old"), after: await stored("new") };
    const { kept, restored } = await restore([change], "undo", new SwappingBlobs(1));
    expect(restored).toEqual([]);
    expect(kept).toEqual([
      { path: at("d/f"), reason: expect.stringContaining("is now a link to another directory") },
    ]);
    expect(readFileSync(join(folder, "outside/f"), "utf8")).toBe("by someone else");
    expect(readFileSync(at("hidden/f"), "utf8")).toBe("new");
  });
});

/** A message with one call that changes this directory. */
async function changeDirectory(directory: string, work: () => void): Promise<void> {
  log.beginTurn("change a directory");
  await log.before({ id: "1", describe: describeWrites([directory], project), capabilities: ["destroy"] });
  work();
  await log.after("1");
  await log.endTurn();
}

test("removes what a call added to a directory, and nothing else in it", async () => {
  mkdirSync(at("data"));
  writeFileSync(at("data/kept"), "1");
  await changeDirectory("data", () => writeFileSync(at("data/added"), "2"));
  expect(await log.undo()).toMatchObject({ restored: [at("data/added")], kept: [] });
  expect(readdirSync(at("data"))).toEqual(["kept"]);
});

test("does not remove a file from a directory that was too large to be saved when the call began", async () => {
  mkdirSync(at("data"));
  writeFileSync(at("data/kept"), "mine");
  const large = Array.from({ length: 5 }, (_, file) => at("data", `${file}`));
  for (const path of large) {
    writeFileSync(path, "x");
    truncateSync(path, 60 * 1024 * 1024);
  }
  await changeDirectory("data", () => {
    for (const path of large) rmSync(path);
  });
  expect((await log.undo()).kept).toContainEqual({
    path: at("data/kept"),
    reason: "it holds too much to be saved",
  });
  expect(readFileSync(at("data/kept"), "utf8")).toBe("mine");
});

test("names a directory with more than can be kept, and does not copy it", async () => {
  mkdirSync(at("data"));
  for (let file = 0; file < 5; file++) {
    writeFileSync(at("data", `${file}`), "x");
    truncateSync(at("data", `${file}`), 60 * 1024 * 1024);
  }
  await changeDirectory("data", () => rmSync(at("data"), { recursive: true }));
  expect((await log.undo()).kept[0]?.reason).toBe("it holds too much to be saved");
});

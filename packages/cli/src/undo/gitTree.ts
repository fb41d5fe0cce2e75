import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRegularFile } from "@agent/internal";
import { ownProgram } from "../process/ownProgram.js";
import type { BlobStore } from "./blobStore.js";
import { type FileState, MISSING, readState } from "./fileState.js";
import type { Change } from "./restore.js";

const LARGEST_FILE = 32 * 1024 * 1024;
const LARGEST_INDEX = 256 * 1024 * 1024;
const LIMIT_MS = 20_000;
const EXECUTABLE = 0o111;
// Contents are kept byte by byte: no line-end conversion, no filter of the repository runs.
const ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n";
// Everything but the files of which no attribute says that git converts them.
const CONVERTED = ":(exclude,attr:!text !eol !crlf !filter !ident !working-tree-encoding)";
const FILTERED = ":(exclude,attr:!filter)";

/**
 * Finds what a shell command changed in a git work tree. It keeps trees in its own repository beside the session, which
 * uses the project's objects as alternates; the project's repository, index and configuration stay untouched. Ignored
 * files, submodules and files over 32 MB are not covered.
 */
export class GitTree {
  readonly root: string;
  readonly #directory: string;
  readonly #blobs: BlobStore;

  private constructor(root: string, directory: string, blobs: BlobStore) {
    this.root = root;
    this.#directory = directory;
    this.#blobs = blobs;
  }

  /** Resolves to nothing where `cwd` is in no work tree, or git is not there. */
  static async open(cwd: string, directory: string, blobs: BlobStore): Promise<GitTree | undefined> {
    try {
      const wanted = ["--show-toplevel", "--git-common-dir", "--git-dir"];
      const answer = await run(["rev-parse", ...wanted], cwd, ownEnvironment());
      const [root = "", common = "", own = ""] = answer.toString().split("\n");
      // Git's configuration can name any directory as the work tree, such as the whole home.
      if (root === "" || !existsSync(join(root, ".git"))) return undefined;
      prepare(directory, resolve(cwd, common), resolve(cwd, own));
      const tree = new GitTree(root, directory, blobs);
      await tree.#readConverted(await conversionSettings(cwd));
      return tree;
    } catch {
      return undefined;
    }
  }

  /**
   * Reads the files again that git converts, such as line ends or the large files of LFS. The project's index has them as
   * the repository keeps them, and undo must restore what was on the disk.
   */
  async #readConverted(settings: ConversionSettings): Promise<void> {
    const index = join(this.#directory, "index");
    const paths = await this.#convertedPaths(settings).catch(() => {
      // An old git cannot list them: without an index every file is read once.
      rmSync(index, { force: true });
      return [];
    });
    writeFileSync(join(this.#directory, "info/attributes"), ATTRIBUTES);
    if (paths.length === 0) return;
    await this.#git(["update-index", "--force-remove", "-z", "--stdin"], `${paths.join("\0")}\0`);
    await this.#update(paths);
  }

  /** Files that a filter makes, and those whose size in the repository is another one than on the disk. */
  async #convertedPaths({ attributesFile, allText }: ConversionSettings): Promise<string[]> {
    const list = async (options: readonly string[], where: readonly string[]): Promise<string[]> => {
      const configured = attributesFile === undefined ? [] : ["-c", `core.attributesFile=${attributesFile}`];
      const listed = await this.#git([...configured, "ls-files", "-z", ...options, "--", ...where]);
      return listed.toString().split("\0");
    };
    const filtered = await list([], [FILTERED]);
    const sized = await list(["--format=%(objectsize)%x09%(path)"], allText ? [] : [CONVERTED]);
    const resized = sized.flatMap((line) => {
      const [, size = "", path = ""] = line.match(/^(\d+)\t(.*)$/s) ?? [];
      const stats = path === "" ? undefined : lstatSync(join(this.root, path), { throwIfNoEntry: false });
      return stats === undefined || stats.size === Number(size) ? [] : [path];
    });
    return [...new Set([...filtered, ...resized])].filter((path) => path !== "");
  }

  /** The work tree as it is now: the name of a tree in the own repository. */
  async capture(): Promise<string> {
    try {
      return await this.#capture();
    } catch {
      // The copied index may be split and refer to other files: a new index is slower the first time, but complete.
      rmSync(join(this.#directory, "index"), { force: true });
      return await this.#capture();
    }
  }

  async #capture(): Promise<string> {
    const listed = await this.#git(["ls-files", "-z", "--modified", "--others", "--exclude-standard"]);
    await this.#update([...new Set(listed.toString().split("\0"))]);
    return (await this.#git(["write-tree"])).toString().trim();
  }

  /** Takes these files, as they are now, into the index. */
  async #update(paths: readonly string[]): Promise<void> {
    const kept = paths.filter((path) => this.#isKept(path));
    if (kept.length === 0) return;
    await this.#git(["update-index", "--add", "--remove", "-z", "--stdin"], `${kept.join("\0")}\0`);
  }

  /** The changes from one tree to the current files. */
  async changesSince(before: string): Promise<Change[]> {
    const after = await this.capture();
    if (after === before) return [];
    const raw = await this.#git(["diff-tree", "-r", "-z", "--no-renames", "--raw", before, after]);
    const fields = raw.toString().split("\0");
    const changes: Change[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [oldMode = "", , oldBlob = ""] = (fields[at] ?? "").slice(1).split(" ");
      const path = join(this.root, fields[at + 1] ?? "");
      const now = await readState(path, this.#blobs);
      changes.push({ path, before: await this.#oldState(oldMode, oldBlob, now), after: now });
    }
    return [...(await this.#directoriesOf(changes, before)), ...changes];
  }

  /**
   * Git stores only whether a file is executable; the other mode bits are those of the current file, or the default.
   */
  async #oldState(mode: string, blob: string, now: FileState): Promise<FileState> {
    if (mode === "000000") return MISSING;
    if (mode === "160000") return { kind: "other", reason: "it is a repository of its own" };
    const content = await this.#git(["cat-file", "blob", blob]);
    if (mode === "120000") return { kind: "link", target: content.toString() };
    const base = now.kind === "file" ? now.mode & ~EXECUTABLE : 0o644 & ~process.umask();
    const executable = mode === "100755" ? (base & 0o444) >> 2 : 0;
    return { kind: "file", mode: base | executable, blob: await this.#blobs.add(content) };
  }

  /** Directories that exist on one side only: git does not list them. */
  async #directoriesOf(changes: readonly Change[], before: string): Promise<Change[]> {
    const listed = await this.#git(["ls-tree", "-r", "-d", "-z", "--name-only", before]);
    const known = new Set(listed.toString().split("\0"));
    const found = new Map<string, Change>();
    for (const { path } of changes) {
      for (let parent = dirname(path); parent !== this.root && !found.has(parent); parent = dirname(parent)) {
        const wasThere = known.has(parent.slice(this.root.length + 1));
        const now = await readState(parent, this.#blobs);
        const mode = 0o777 & ~process.umask();
        const old: FileState = wasThere
          ? now.kind === "directory"
            ? now
            : { kind: "directory", mode }
          : MISSING;
        // A directory that exists on both sides has not changed.
        if (old.kind !== now.kind) found.set(parent, { path: parent, before: old, after: now });
      }
    }
    return [...found.values()];
  }

  #isKept(path: string): boolean {
    // A repository inside this one is listed with a slash at its end.
    if (path === "" || path.endsWith("/")) return false;
    const stats = lstatSync(join(this.root, path), { throwIfNoEntry: false });
    return stats === undefined || stats.isSymbolicLink() || (stats.isFile() && stats.size <= LARGEST_FILE);
  }

  #git(args: readonly string[], input?: string): Promise<Buffer> {
    const env = {
      ...ownEnvironment(),
      GIT_DIR: this.#directory,
      GIT_WORK_TREE: this.root,
      GIT_INDEX_FILE: join(this.#directory, "index"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_OPTIONAL_LOCKS: "0",
    };
    return run(["-c", "core.quotePath=false", "-c", "core.autocrlf=false", ...args], this.root, env, input);
  }
}

/** The environment without git's own variables: they may point to another repository. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
}

/** What the person's and the project's git settings say about conversions. */
interface ConversionSettings {
  /** A file with attributes, besides those in the project. */
  readonly attributesFile: string | undefined;
  /** Whether the line ends of all text files are converted. */
  readonly allText: boolean;
}

async function conversionSettings(cwd: string): Promise<ConversionSettings> {
  const get = async (...args: string[]): Promise<string | undefined> => {
    try {
      return (await run(["config", ...args], cwd, ownEnvironment())).toString().trim();
    } catch {
      // Git ends with 1 where nothing is set.
      return undefined;
    }
  };
  const autocrlf = await get("--get", "core.autocrlf");
  return {
    attributesFile: await get("--path", "--get", "core.attributesFile"),
    allText: autocrlf !== undefined && autocrlf !== "false",
  };
}

/** `common` holds the project's objects, `own` the index of this work tree. */
function prepare(directory: string, common: string, own: string): void {
  rmSync(directory, { recursive: true, force: true });
  for (const part of ["objects/info", "refs", "info"]) {
    mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(directory, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
  writeFileSync(join(directory, "objects/info/alternates"), `${join(common, "objects")}\n`);
  copyRegular(join(common, "info/attributes"), join(directory, "info/attributes"));
  copyRegular(join(common, "info/exclude"), join(directory, "info/exclude"));
  // The project's index knows which files are unchanged: without it every file would be read once.
  copyRegular(join(own, "index"), join(directory, "index"));
}

/** Copies a regular file of limited size. Anything else is skipped: reading a FIFO would never end. */
function copyRegular(from: string, to: string): void {
  const content = readRegularFile(from, LARGEST_INDEX);
  if (content !== undefined) writeFileSync(to, content, { mode: 0o600 });
}

function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, input?: string): Promise<Buffer> {
  return new Promise((settle, reject) => {
    const program = ownProgram("git", cwd);
    if (program === undefined) throw new Error("git is not installed");
    const child: ChildProcess = spawn(program, args, {
      cwd,
      env,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) settle(Buffer.concat(chunks));
      else reject(new Error(`git ${args.join(" ")} ended with ${code}`));
    });
    // Git may end before it has read all: its exit code says why.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

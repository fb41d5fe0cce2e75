import { appendFileSync, type Dirent, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "@agent/core/toolkit";
import { canonicalPath, findRepository, GitConfigs, readRegularFile } from "@agent/internal";
import type { BlobStore } from "./blobStore.js";
import { type FileState, MISSING, readState } from "./fileState.js";
import { PrivateGit } from "./privateGit.js";
import type { FileChange } from "./restore.js";

const LARGEST_FILE = 32 * 1024 * 1024;
const LARGEST_INDEX = 256 * 1024 * 1024;
const LARGEST_ATTRIBUTES = 1024 * 1024;
const EXECUTABLE = 0o111;
const TOO_LARGE: FileState = { kind: "other", reason: "it was too large to be saved" };
// Contents are stored byte for byte: no line-ending conversion, and no filter of the repository runs.
const ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n";
// All files except those with an attribute that makes git convert them.
const CONVERTED = ":(exclude,attr:!text !eol !crlf !filter !ident !working-tree-encoding)";
const FILTERED = ":(exclude,attr:!filter)";

// A directory without a repository is read completely before the first command, so it must not be large.
const MOST_FILES = 20_000;
const MOST_BYTES = 256 * 1024 * 1024;
/** Directories that packages are installed to. Without a repository nothing marks them as ignored. */
const INSTALLED: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  ".cache",
]);

/**
 * Finds what a shell command changed in a directory: in its git worktree, or, without one, in the directory itself. It
 * stores trees in a separate repository next to the session, which uses the project's objects as alternates; the
 * project's repository and index stay untouched, and git never reads its configuration. Ignored files, submodules and
 * files over 32 MB are not covered.
 */
export class GitTree {
  readonly root: string;
  /** What is not covered, as the end of a sentence. */
  readonly uncovered: string;
  readonly #directory: string;
  readonly #git: PrivateGit;
  readonly #blobs: BlobStore;
  /** Files that were too large to be stored with a tree. They are not in it, but they were there. */
  readonly #tooLarge = new Map<string, Set<string>>();

  private constructor(
    root: string,
    directory: string,
    { git, blobs, ignored }: { git: PrivateGit; blobs: BlobStore; ignored: string },
  ) {
    this.root = root;
    this.uncovered = `what commands changed in ${ignored} or outside of ${root}`;
    this.#directory = directory;
    this.#git = git;
    this.#blobs = blobs;
  }

  /** Resolves to the reason if nothing can be tracked, as the end of a sentence. */
  static async open(cwd: string, directory: string, blobs: BlobStore): Promise<GitTree | string> {
    const root = canonicalPath(cwd);
    try {
      const repository = findRepository(join(root, "file"));
      if (repository === undefined) return GitTree.#openPlain(root, directory, blobs);
      const { worktree, gitDirectories } = repository;
      const [own = "", common = own] = gitDirectories;
      const git = PrivateGit.create(directory, worktree, join(common, "objects"));
      copyRegular(join(common, "info/attributes"), join(directory, "info/attributes"));
      copyRegular(join(common, "info/exclude"), join(directory, "info/exclude"));
      // The project's index knows which files are unchanged: without it every file would be read once.
      copyRegular(join(own, "index"), join(directory, "index"));
      const tree = new GitTree(worktree, directory, { git, blobs, ignored: "files that git ignores," });
      await tree.#readConverted(readConversionSettings(worktree));
      return tree;
    } catch (error) {
      return `what commands changed in ${root} (${errorMessage(error)})`;
    }
  }

  /** The files of a directory outside any worktree. */
  static #openPlain(root: string, directory: string, blobs: BlobStore): GitTree | string {
    if (isLarge(root)) {
      return `what commands changed in ${root}, which is in no git repository and has more than ${MOST_FILES} files or 256 MB`;
    }
    const git = PrivateGit.create(directory, root);
    writeFileSync(join(directory, "info/exclude"), [...INSTALLED].map((name) => `${name}/\n`).join(""));
    writeFileSync(join(directory, "info/attributes"), ATTRIBUTES);
    return new GitTree(root, directory, { git, blobs, ignored: "ignored files, installed packages" });
  }

  /**
   * Reads the files again that git converts, such as line endings or the large files of LFS. The project's index has
   * their converted form, and undo must restore what was on the disk.
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
    await this.#git.run(["update-index", "--force-remove", "-z", "--stdin"], {
      input: `${paths.join("\0")}\0`,
    });
    await this.#update(paths);
  }

  /** Files that a filter generates, and those whose size differs between repository and disk. */
  async #convertedPaths({ attributes, allText }: ConversionSettings): Promise<string[]> {
    const attributesFile = join(this.#directory, "attributes");
    for (const content of attributes) appendFileSync(attributesFile, content);
    // Without its own file, git reads the one in the user's directory.
    const configured = attributes.length === 0 ? [] : ["-c", `core.attributesFile=${attributesFile}`];
    const list = async (options: readonly string[], where: readonly string[]): Promise<string[]> => {
      const listed = await this.#git.run([...configured, "ls-files", "-z", ...options, "--", ...where]);
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

  /** The current worktree: the name of a tree in the separate repository. */
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
    const listed = await this.#git.run(["ls-files", "-z", "--modified", "--others", "--exclude-standard"]);
    const paths = [...new Set(listed.toString().split("\0"))];
    await this.#update(paths);
    const tree = (await this.#git.run(["write-tree"])).toString().trim();
    const known = this.#tooLarge.get(tree) ?? [];
    const tooLarge = new Set([...known, ...paths.filter((path) => this.#isTooLarge(path))]);
    if (tooLarge.size > 0) this.#tooLarge.set(tree, tooLarge);
    return tree;
  }

  /** Adds the current content of these files to the index. */
  async #update(paths: readonly string[]): Promise<void> {
    const kept = paths.filter((path) => this.#isKept(path));
    if (kept.length === 0) return;
    await this.#git.run(["update-index", "--add", "--remove", "-z", "--stdin"], {
      input: `${kept.join("\0")}\0`,
    });
  }

  /** The changes from one tree to the current files. */
  async changesSince(before: string): Promise<FileChange[]> {
    const after = await this.capture();
    if (after === before) return [];
    const raw = await this.#git.run(["diff-tree", "-r", "-z", "--no-renames", "--raw", before, after]);
    const fields = raw.toString().split("\0");
    const changes: FileChange[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [oldMode = "", , oldBlob = ""] = (fields[at] ?? "").slice(1).split(" ");
      const name = fields[at + 1] ?? "";
      const path = join(this.root, name);
      const now = await readState(path, this.#blobs);
      const old = this.#tooLarge.get(before)?.has(name)
        ? TOO_LARGE
        : await this.#oldState(oldMode, oldBlob, now);
      changes.push({ path, before: old, after: now });
    }
    const all = new Map<string, FileChange>();
    for (const change of [...(await this.#directoriesOf(changes, before)), ...changes]) {
      // A directory in place of a file, or a file in place of one, is in both lists: in one of them as a new path.
      const other = all.get(change.path);
      if (other === undefined || other.before.kind === "missing") all.set(change.path, change);
    }
    return [...all.values()];
  }

  /** Git stores only the executable bit; the other mode bits are those of the current file, or the default. */
  async #oldState(mode: string, blob: string, now: FileState): Promise<FileState> {
    if (mode === "000000") return MISSING;
    if (mode === "160000") return { kind: "other", reason: "it is its own repository" };
    const content = await this.#git.run(["cat-file", "blob", blob]);
    if (mode === "120000") return { kind: "link", target: content.toString() };
    const base = now.kind === "file" ? now.mode & ~EXECUTABLE : 0o644 & ~process.umask();
    const executable = mode === "100755" ? (base & 0o444) >> 2 : 0;
    return { kind: "file", mode: base | executable, blob: await this.#blobs.add(content) };
  }

  /** Directories that exist on one side only: git does not list them. */
  async #directoriesOf(changes: readonly FileChange[], before: string): Promise<FileChange[]> {
    const listed = await this.#git.run(["ls-tree", "-r", "-d", "-z", "--name-only", before]);
    const known = new Set(listed.toString().split("\0"));
    const found = new Map<string, FileChange>();
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

  #isTooLarge(path: string): boolean {
    const stats = path === "" ? undefined : lstatSync(join(this.root, path), { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size > LARGEST_FILE;
  }
}

/** Whether a directory contains more than can be read before a command. */
function isLarge(root: string): boolean {
  let [files, bytes] = [0, 0];
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of listEntries(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        if (!INSTALLED.has(entry.name)) waiting.push(path);
      } else if (entry.isFile()) bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (++files > MOST_FILES || bytes > MOST_BYTES) return true;
    }
  }
  return false;
}

function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // Not readable: commands of this user cannot change it either.
    return [];
  }
}

/** The conversion settings of the user's and the project's git. */
interface ConversionSettings {
  /** The content of attribute files outside of the work tree. */
  readonly attributes: readonly Buffer[];
  /** Whether the line endings of all text files are converted. */
  readonly allText: boolean;
}

/** Reads the settings without git. The condition of an include is not checked: at worst more files are read again. */
function readConversionSettings(worktree: string): ConversionSettings {
  const configs = new GitConfigs();
  const path = join(worktree, "file");
  const files = configs.named(path).filter(({ key }) => key === "core.attributesfile");
  return {
    attributes: [...new Set(files.map(({ path }) => path))].flatMap((file) => {
      const content = readRegularFile(file, LARGEST_ATTRIBUTES);
      return content === undefined ? [] : [Buffer.concat([content, Buffer.from("\n")])];
    }),
    allText: configs
      .settings(path)
      .some(({ key, value }) => key === "core.autocrlf" && value.toLowerCase() !== "false"),
  };
}

/** Copies a regular file of limited size. Anything else is skipped: reading a FIFO would never finish. */
function copyRegular(from: string, to: string): void {
  const content = readRegularFile(from, LARGEST_INDEX);
  if (content !== undefined) writeFileSync(to, content, { mode: 0o600 });
}

import { appendFileSync, lstatSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalPath, findRepository, GitConfigs, readRegularFile } from "@agent/internal";
import type { BlobStore } from "./blobStore.js";
import { type FileState, MISSING, readState } from "./fileState.js";
import { PrivateGit } from "./privateGit.js";
import type { FileChange } from "./restore.js";

const LARGEST_FILE = 32 * 1024 * 1024;
const LARGEST_INDEX = 256 * 1024 * 1024;
const LARGEST_ATTRIBUTES = 1024 * 1024;
const EXECUTABLE = 0o111;
// Contents are kept byte by byte: no line-end conversion, no filter of the repository runs.
const ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n";
// Everything but the files of which no attribute says that git converts them.
const CONVERTED = ":(exclude,attr:!text !eol !crlf !filter !ident !working-tree-encoding)";
const FILTERED = ":(exclude,attr:!filter)";

/**
 * Finds what a shell command changed in a git work tree. It keeps trees in its own repository next to the session, which
 * uses the project's objects as alternates; the project's repository and index stay untouched, and git never reads its
 * configuration. Ignored files, submodules and files over 32 MB are not covered.
 */
export class GitTree {
  readonly root: string;
  readonly #directory: string;
  readonly #git: PrivateGit;
  readonly #blobs: BlobStore;

  private constructor(root: string, directory: string, git: PrivateGit, blobs: BlobStore) {
    this.root = root;
    this.#directory = directory;
    this.#git = git;
    this.#blobs = blobs;
  }

  /** Resolves to `undefined` if `cwd` is not in a work tree, or git is not installed. */
  static async open(cwd: string, directory: string, blobs: BlobStore): Promise<GitTree | undefined> {
    try {
      const repository = findRepository(join(canonicalPath(cwd), "file"));
      if (repository === undefined) return undefined;
      const { worktree, gitDirectories } = repository;
      const [own = "", common = own] = gitDirectories;
      const git = PrivateGit.create(directory, worktree, join(common, "objects"));
      copyRegular(join(common, "info/attributes"), join(directory, "info/attributes"));
      copyRegular(join(common, "info/exclude"), join(directory, "info/exclude"));
      // The project's index knows which files are unchanged: without it every file would be read once.
      copyRegular(join(own, "index"), join(directory, "index"));
      const tree = new GitTree(worktree, directory, git, blobs);
      await tree.#readConverted(readConversionSettings(worktree));
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
    await this.#git.run(["update-index", "--force-remove", "-z", "--stdin"], `${paths.join("\0")}\0`);
    await this.#update(paths);
  }

  /** Files that a filter makes, and those whose size in the repository is another one than on the disk. */
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
    const listed = await this.#git.run(["ls-files", "-z", "--modified", "--others", "--exclude-standard"]);
    await this.#update([...new Set(listed.toString().split("\0"))]);
    return (await this.#git.run(["write-tree"])).toString().trim();
  }

  /** Takes these files, as they are now, into the index. */
  async #update(paths: readonly string[]): Promise<void> {
    const kept = paths.filter((path) => this.#isKept(path));
    if (kept.length === 0) return;
    await this.#git.run(["update-index", "--add", "--remove", "-z", "--stdin"], `${kept.join("\0")}\0`);
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
}

/** What the user's and the project's git settings say about conversions. */
interface ConversionSettings {
  /** The content of attribute files outside of the work tree. */
  readonly attributes: readonly Buffer[];
  /** Whether the line ends of all text files are converted. */
  readonly allText: boolean;
}

/** Reads the settings without git. A condition of an include is not checked: at worst more files are read again. */
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

/** Copies a regular file of limited size. Anything else is skipped: reading a FIFO would never end. */
function copyRegular(from: string, to: string): void {
  const content = readRegularFile(from, LARGEST_INDEX);
  if (content !== undefined) writeFileSync(to, content, { mode: 0o600 });
}

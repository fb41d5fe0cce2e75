import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { WorktreeEnd } from "@agent/core";
import { errorMessage, quote } from "@agent/core/toolkit";
import {
  canonicalPath,
  escapeToLine,
  findRepository,
  isRecord,
  isSecretName,
  readRegularFile,
} from "@agent/internal";
import { stateDirectory } from "../process/paths.js";
import { markOpen, removeMark } from "../sessions/openMark.js";
import { PrivateGit } from "../undo/privateGit.js";

const NAME = /^[A-Za-z0-9][\w-]{0,80}$/;
const COMMIT = /^[0-9a-f]{40}$/;
const SHA256_COMMIT = /^[0-9a-f]{64}$/;
/** The names that git allows, without "..": a reference is also a path. */
const REF = /^refs\/(?!.*\.\.)[^\p{Cc} ~^:?*[\\]+$/u;
const LARGEST_LINE = 4096;
const LARGEST_REFS = 64 * 1024 * 1024;
const LARGEST_INCLUDED = 16 * 1024 * 1024;
const MOST_INCLUDED = 1000;
const LARGEST_INDEX = 256 * 1024 * 1024;
const MOST_NAMED = 20;
/** A large repository on a slow disk. The user can stop it. */
const CHECK_OUT_MS = 10 * 60_000;
/**
 * Names of files and directories with secrets, in addition to those that `isSecretName` recognises. They are never
 * copied, whatever `.worktreeinclude` contains.
 */
const SECRET_FILES = [
  /^(?!.*\.env\.(example|sample|template)$).*\.env(rc)?([._~-].*)?$/i,
  /\.(pem|key|p12|pfx|jks|keystore|ppk|kdbx|ovpn|kubeconfig|tfvars|tfstate)([._~-].*)?$/i,
  /^[._](netrc|npmrc|pypirc|pgpass|dockercfg|s3cfg|boto)([._~-].*)?$/i,
  /^(\.(ssh|aws|gnupg|kube|docker)|kubeconfig)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)|service[._-]?account|credential|secret/i,
];

/** Stored next to a worktree, to detect changes at its end. */
interface Beginning {
  readonly commit: string;
  readonly source: string;
  /** The files of `.worktreeinclude` that were copied. */
  readonly included: readonly string[];
  /** It is still being created: no agent has worked in it. */
  readonly isUnfinished?: true;
}

/** A worktree of the project's repository in the user's state directory, on its own branch. */
export interface OpenWorktree {
  readonly name: string;
  readonly path: string;
  /** The directory in it that corresponds to the one it was opened from. */
  readonly directory: string;
  readonly branch: string;
  /** Notes for the user at the start: which files are not in it. */
  readonly notices: readonly string[];
  /** Removes it if nothing was changed. Never rejects. */
  close(): Promise<WorktreeEnd>;
}

/**
 * Creates a worktree with the files of the newest commit, or reopens the one with that name. Git never runs with the
 * configuration of the project: the files are written by a private repository, and the entry in the project's
 * repository is written here. Throws with the reason.
 */
export async function openWorktree(
  cwd: string,
  name = newName(),
  signal?: AbortSignal,
): Promise<OpenWorktree> {
  if (!NAME.test(name)) {
    throw new Error(
      `${quote(name)}: a name has letters, digits, "_" and "-", and starts with a letter or digit.`,
    );
  }
  const project = findProject(cwd);
  if (!project) throw new Error("this directory is not in a git repository of yours.");
  return await new Worktree(name, project).open(signal);
}

/**
 * Closes the work trees of the project whose agents ended without doing so, after a crash. Returns what became of each, for the
 * user. Never rejects.
 */
export async function closeLeftovers(cwd: string): Promise<string[]> {
  try {
    const project = findProject(cwd);
    if (!project || !existsSync(project.root)) return [];
    const names = readdirSync(project.root).flatMap((file) => /^(.+)\.open$/.exec(file)?.[1] ?? []);
    const trees = names.filter((name) => NAME.test(name)).map((name) => new Worktree(name, project));
    const ends = await Promise.all(trees.map((tree) => tree.closeLeftover()));
    return ends.filter((end) => end !== undefined);
  } catch {
    // The directory cannot be read. Opening a tree in it reports the error.
    return [];
  }
}

function newName(): string {
  return `w${randomBytes(3).toString("hex")}`;
}

/** Where the work trees of a repository are made, and from what. */
interface Project {
  /** The directory that the agent works in. */
  readonly cwd: string;
  readonly source: string;
  /** The git directory of `source`, and that of the whole repository. */
  readonly own: string;
  readonly common: string;
  readonly root: string;
}

function findProject(directory: string): Project | undefined {
  const cwd = canonicalPath(directory);
  const repository = findRepository(join(cwd, "file"));
  if (!repository) return undefined;
  const { worktree: source, gitDirectories } = repository;
  const [own = "", common = own] = gitDirectories;
  // The same place for all work trees of a repository, so that the next start in any of them finds trees that a crash left.
  const place = canonicalPath(common);
  const id = createHash("sha256").update(place).digest("hex").slice(0, 8);
  const title = basename(basename(place) === ".git" ? dirname(place) : place);
  const root = join(dirname(stateDirectory()), "agent-worktrees", `${title}-${id}`);
  return { cwd, source, own, common, root };
}

/** The paths of the trees that are open in this process: a mark names the process, not the agent. */
const openHere = new Set<string>();

class Worktree {
  readonly #name: string;
  readonly #cwd: string;
  readonly #source: string;
  readonly #own: string;
  readonly #common: string;
  readonly #root: string;

  constructor(name: string, { cwd, source, own, common, root }: Project) {
    this.#name = name;
    this.#cwd = cwd;
    this.#source = source;
    this.#own = own;
    this.#common = common;
    this.#root = root;
  }

  get #path(): string {
    return join(this.#root, this.#name);
  }

  /** The entry of this worktree in the project's repository. */
  get #entry(): string {
    return join(this.#common, "worktrees", this.#name);
  }

  get #ref(): string {
    return `refs/heads/agent/${this.#name}`;
  }

  get #beginningFile(): string {
    return join(this.#root, `${this.#name}.json`);
  }

  async open(signal?: AbortSignal): Promise<OpenWorktree> {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    // Otherwise the first agent to finish would remove an unchanged tree that the other one still uses.
    if (!this.#mark()) {
      throw new Error(
        "another agent works in this work tree. Wait until it has finished, or choose another name.",
      );
    }
    try {
      return await this.#openMarked(signal);
    } catch (error) {
      this.#unmark();
      throw error;
    }
  }

  #mark(): boolean {
    if (openHere.has(this.#path) || !markOpen(this.#path)) return false;
    openHere.add(this.#path);
    return true;
  }

  #unmark(): void {
    openHere.delete(this.#path);
    removeMark(this.#path);
  }

  async #openMarked(signal: AbortSignal | undefined): Promise<OpenWorktree> {
    const known = existsSync(this.#path) ? this.#readBeginning() : undefined;
    if (known?.isUnfinished) this.#remove(known.commit);
    const { beginning, notices } =
      known && !known.isUnfinished
        ? { beginning: known, notices: [] }
        : await this.#create(await this.#uncommitted(), signal);
    return {
      name: this.#name,
      path: this.#path,
      directory: this.#sameDirectory(),
      branch: `agent/${this.#name}`,
      notices,
      close: () => this.#close(beginning),
    };
  }

  /** Where the agent works, in the tree; its root if the commit has no such directory, or a link in its place. */
  #sameDirectory(): string {
    const way = relative(this.#source, this.#cwd);
    if (findLink(this.#path, way) !== undefined) return this.#path;
    const directory = join(this.#path, way);
    return existsSync(directory) ? directory : this.#path;
  }

  /** Closes a tree that a crash left. Resolves to what became of it; `undefined` if there was nothing left. */
  async closeLeftover(): Promise<string | undefined> {
    if (!this.#mark()) return undefined;
    try {
      for (const file of readdirSync(this.#root)) {
        if (new RegExp(`^\\.git-${this.#name}-[0-9a-f]+$`).test(file))
          rmSync(join(this.#root, file), { recursive: true, force: true });
      }
      const isThere = existsSync(this.#path);
      if (!isThere && !existsSync(this.#beginningFile)) return undefined;
      const beginning = this.#readBeginning();
      // The agent was killed while it created or removed the tree, so there is no work in it.
      if (beginning.isUnfinished || (!isThere && this.#readRef(this.#ref) === beginning.commit)) {
        this.#remove(beginning.commit);
        return undefined;
      }
      if (!isThere) return undefined;
      const { summary } = await this.#removeUnchanged(beginning);
      return `An agent ended without closing its work tree. ${summary}`;
    } catch (error) {
      return `An agent ended without closing its work tree ${this.#name}: ${errorMessage(error)}`;
    } finally {
      this.#unmark();
    }
  }

  async #create(
    uncommitted: readonly string[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly beginning: Beginning; readonly notices: readonly string[] }> {
    if (existsSync(join(this.#common, "reftable")))
      throw new Error("repositories whose references are in a reftable are not supported.");
    if (existsSync(this.#path) || existsSync(this.#entry) || this.#readRef(this.#ref) !== undefined) {
      throw new Error(
        `a work tree or a branch agent/${this.#name} already exists. Choose another name, or remove it.`,
      );
    }
    if (this.#readRef("refs/heads/agent") !== undefined) {
      throw new Error(
        `git cannot create the branch agent/${this.#name}, because a branch named agent exists. Rename it: git branch -m agent NEW`,
      );
    }
    // A repository from an archive may contain symlinks there, which may point anywhere.
    for (const place of [`worktrees/${this.#name}`, this.#ref, `logs/${this.#ref}`, "objects/pack"]) {
      const link = findLink(this.#common, place);
      if (link !== undefined) throw new Error(`${link} is a link or not a directory. Nothing was written.`);
    }
    const commit = this.#head();
    try {
      this.#store({ commit, source: this.#source, included: [], isUnfinished: true });
      mkdirSync(this.#path, { recursive: true, mode: 0o700 });
      const other = await this.#checkOut(commit, signal);
      const { included, notices } = await this.#include(commit);
      const beginning = { commit, source: this.#source, included };
      this.#store(beginning);
      const copied = new Set(included);
      const missing = uncommitted?.filter((name) => !copied.has(name));
      return { beginning, notices: [...notCommitted(missing), ...other, ...notices] };
    } catch (error) {
      this.#remove(commit);
      throw error;
    }
  }

  #store(beginning: Beginning): void {
    writeFileSync(this.#beginningFile, JSON.stringify(beginning), { mode: 0o600 });
  }

  /** Works in a private repository that shares the project's objects. */
  async #withGit<T>(worktree: string, work: (git: PrivateGit, directory: string) => Promise<T>): Promise<T> {
    const directory = join(this.#root, `.git-${this.#name}-${randomBytes(3).toString("hex")}`);
    try {
      return await work(PrivateGit.create(directory, worktree, join(this.#common, "objects")), directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** The files of the project that are not as in its newest commit; `undefined` if that cannot be found out. */
  async #uncommitted(): Promise<string[] | undefined> {
    return await this.#withGit(this.#source, async (git, directory) => {
      const changed = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
      const list = async (): Promise<string> => {
        const staged = await git.run(["diff-index", "-z", "--cached", "--name-only", this.#head()]);
        return `${staged.toString()}\0${(await git.run(changed)).toString()}`;
      };
      // The project's index knows which files are unchanged: without it every file is read.
      const index = readRegularFile(join(this.#own, "index"), LARGEST_INDEX);
      if (index) writeFileSync(join(directory, "index"), index, { mode: 0o600 });
      const names = await (index ? list() : Promise.reject()).catch(async () => {
        // The index is missing, or it is split and refers to other files.
        rmSync(join(directory, "index"), { force: true });
        await git.run(["read-tree", this.#head()]);
        return await list();
      });
      return [...new Set(names.split("\0").filter(Boolean))].sort();
    }).catch(() => undefined);
  }

  /** Writes the files and registers the tree with git. Returns the differences from a checkout by git. */
  async #checkOut(commit: string, signal: AbortSignal | undefined): Promise<string[]> {
    const notices = await this.#withGit(this.#path, async (git, directory) => {
      await git.run(["read-tree", commit]);
      const limits = { limitMs: CHECK_OUT_MS, ...(signal && { signal }) };
      await git.run(["checkout-index", "--all", "--quiet", "--index"], limits);
      mkdirSync(this.#entry, { recursive: true });
      copyFileSync(join(directory, "index"), join(this.#entry, "index"));
      return differences(await submodules(git), await listed(git, FILTERED));
    });
    writeFileSync(join(this.#entry, "commondir"), "../..\n");
    writeFileSync(join(this.#entry, "gitdir"), `${join(this.#path, ".git")}\n`);
    const ref = join(this.#common, this.#ref);
    mkdirSync(dirname(ref), { recursive: true });
    writeFileSync(ref, `${commit}\n`, { flag: "wx" });
    writeFileSync(join(this.#entry, "HEAD"), `ref: ${this.#ref}\n`);
    writeFileSync(join(this.#path, ".git"), `gitdir: ${this.#entry}\n`);
    return notices;
  }

  /** Copies the files that `.worktreeinclude` names and git does not track, except secret ones. */
  async #include(
    commit: string,
  ): Promise<{ readonly included: readonly string[]; readonly notices: readonly string[] }> {
    const list = join(this.#source, ".worktreeinclude");
    if (!lstatSync(list, { throwIfNoEntry: false })?.isFile()) return { included: [], notices: [] };
    const names = await this.#withGit(this.#source, async (git) => {
      await git.run(["read-tree", commit]);
      const args = ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${list}`];
      return (await git.run(args)).toString().split("\0").filter(Boolean);
    });
    const included: string[] = [];
    const secret: string[] = [];
    const skipped: string[] = [];
    for (const name of names.slice(0, MOST_INCLUDED)) {
      const from = join(this.#source, name);
      const to = join(this.#path, name);
      const info = lstatSync(from, { throwIfNoEntry: false });
      if (name.split("/").some(isSecretFile)) secret.push(name);
      // A symlink could point anywhere, and files of the commit are not replaced.
      else if (info?.isFile() && info.size <= LARGEST_INCLUDED && isFree(this.#path, name)) {
        mkdirSync(dirname(to), { recursive: true });
        copyFileSync(from, to, constants.COPYFILE_EXCL);
        chmodSync(to, info.mode & 0o777);
        included.push(name);
      } else skipped.push(name);
    }
    const notices = [
      ...(secret.length > 0
        ? [`.worktreeinclude: not copied, because they may hold secrets: ${named(secret)}`]
        : []),
      ...(skipped.length > 0
        ? [
            `.worktreeinclude: not copied, because they are not regular files, are larger than 16 MiB, or the commit has a link or a file in their place: ${named(skipped)}`,
          ]
        : []),
      ...(names.length > MOST_INCLUDED
        ? [`.worktreeinclude names ${names.length} files; the first ${MOST_INCLUDED} were copied.`]
        : []),
    ];
    return { included, notices };
  }

  async #close(beginning: Beginning): Promise<WorktreeEnd> {
    try {
      return await this.#removeUnchanged(beginning);
    } finally {
      this.#unmark();
    }
  }

  async #removeUnchanged(beginning: Beginning): Promise<WorktreeEnd> {
    const kept = `branch agent/${this.#name}, ${this.#path}`;
    let changes: string;
    try {
      changes = await this.#changes(beginning);
    } catch (error) {
      // If it cannot be compared, it may contain work.
      const summary = `The work tree ${this.#name} was kept, since it could not be compared: ${errorMessage(error)} (${kept})`;
      return { isKept: true, summary };
    }
    if (changes !== "") {
      const summary = `The work tree ${this.#name} was kept: ${changes} (${kept}). Open it again with agent --worktree ${this.#name}.`;
      return { isKept: true, summary };
    }
    try {
      this.#remove(beginning.commit);
    } catch (error) {
      const summary = `The work tree ${this.#name} has no changes, but could not be removed completely: ${errorMessage(error)}`;
      return { isKept: false, summary };
    }
    return {
      isKept: false,
      summary: `The work tree ${this.#name} was removed: nothing was changed in it.`,
    };
  }

  /** What was changed since the start; empty if nothing was. Ignored files do not count. */
  async #changes({ commit, source, included }: Beginning): Promise<string> {
    if (readLine(join(this.#entry, "HEAD")) !== `ref: ${this.#ref}`) return "it is on another branch";
    if (this.#readRef(this.#ref) !== commit) return "it has new commits";
    if (existsSync(join(this.#entry, "locked"))) return "it is locked";
    const found = await this.#withGit(this.#path, async (git) => {
      await git.run(["read-tree", commit]);
      // Fails if files were changed: the list names them.
      await git.run(["update-index", "-q", "--refresh"]).catch(() => undefined);
      const names = await listed(git, ["--modified", "--deleted", "--others", "--exclude-standard"]);
      return [...names, ...(await submodules(git)).filter((name) => this.#isFilled(name))];
    });
    const isCopy = (name: string): boolean =>
      isSameFile(join(source, name), join(this.#path, name), LARGEST_INCLUDED);
    const copied = new Set(included);
    const changed = new Set([
      ...found.filter((name) => !copied.has(name)),
      ...included.filter((name) => existsSync(join(this.#path, name)) && !isCopy(name)),
    ]);
    if (changed.size === 0) return "";
    return `${changed.size} changed ${changed.size === 1 ? "file" : "files"}: ${named([...changed].sort())}`;
  }

  /** Whether the directory of a submodule has files. It is created empty, and git lists nothing in it. */
  #isFilled(name: string): boolean {
    const path = join(this.#path, name);
    const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    return isDirectory && readdirSync(path).length > 0;
  }

  /** Removes the tree. If the process is killed meanwhile, `closeLeftover` recognises the rest. */
  #remove(commit: string): void {
    const entry = readLine(join(this.#entry, "gitdir"));
    const isOwn = entry === undefined || entry === join(this.#path, ".git");
    // Rename it first: a half-removed tree would look like changes.
    const old = join(this.#root, `.git-${this.#name}-${randomBytes(3).toString("hex")}`);
    if (existsSync(this.#path)) renameSync(this.#path, old);
    if (isOwn) {
      rmSync(this.#entry, { recursive: true, force: true });
      if (this.#readRef(this.#ref) === commit) {
        rmSync(join(this.#common, this.#ref), { force: true });
        rmSync(join(this.#common, "logs", this.#ref), { force: true });
      }
    }
    rmSync(this.#beginningFile, { force: true });
    rmSync(old, { recursive: true, force: true });
  }

  #readBeginning(): Beginning {
    const text = readRegularFile(this.#beginningFile, LARGEST_REFS)?.toString();
    if (text === undefined) {
      throw new Error(
        `${this.#beginningFile} is missing, so changes cannot be recognized. Choose another name, or remove the tree: git worktree remove ${this.#path}`,
      );
    }
    const value: unknown = JSON.parse(text);
    const { commit, source, included, isUnfinished } = isRecord(value) ? value : {};
    if (typeof commit === "string" && typeof source === "string" && Array.isArray(included))
      return {
        commit,
        source,
        included: included.map(String),
        ...(isUnfinished === true && { isUnfinished }),
      };
    throw new Error(`${this.#beginningFile} does not record which commit the work tree began with.`);
  }

  #head(): string {
    const line = readLine(join(this.#own, "HEAD")) ?? "";
    const [, ref] = /^ref: (.+)$/.exec(line) ?? [];
    const commit = ref === undefined ? line : REF.test(ref) ? this.#readRef(ref) : undefined;
    if (commit !== undefined && COMMIT.test(commit)) return commit;
    if (commit !== undefined && SHA256_COMMIT.test(commit))
      throw new Error("repositories with SHA-256 as their object format are not supported.");
    throw new Error("the repository has no commit yet, or one that cannot be read.");
  }

  #readRef(ref: string): string | undefined {
    const loose = readLine(join(this.#common, ref));
    if (loose !== undefined) return loose;
    const packed = readRegularFile(join(this.#common, "packed-refs"), LARGEST_REFS)?.toString() ?? "";
    return packed
      .split("\n")
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(" ", 1)[0];
  }
}

function notCommitted(names: readonly string[] | undefined): string[] {
  if (names === undefined) return ["What is not committed is not in the work tree. It could not be listed."];
  return names.length === 0 ? [] : [`Not in the work tree, because it is not committed: ${named(names)}.`];
}

/** Files whose attributes name a filter, such as that of Git LFS. */
const FILTERED = ["--", ":(exclude,attr:!filter)", ":(exclude,attr:-filter)"];

function differences(submodules: readonly string[], filtered: readonly string[]): string[] {
  return [
    ...(submodules.length > 0
      ? [`Empty in the work tree, because they are submodules: ${named(submodules)}.`]
      : []),
    ...(filtered.length > 0
      ? [`As stored in the repository, because filters such as Git LFS do not run: ${named(filtered)}.`]
      : []),
  ];
}

/** The files of the index, or of the work tree, that `git ls-files` lists. */
async function listed(git: PrivateGit, options: readonly string[]): Promise<string[]> {
  return (await git.run(["ls-files", "-z", ...options])).toString().split("\0").filter(Boolean);
}

async function submodules(git: PrivateGit): Promise<string[]> {
  const entries = await listed(git, ["--stage"]);
  return entries.flatMap((entry) => /^160000 [^\t]*\t(.+)$/s.exec(entry)?.[1] ?? []);
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => escapeToLine(name));
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function isSecretFile(name: string): boolean {
  return isSecretName(name) || SECRET_FILES.some((pattern) => pattern.test(name));
}

/** Whether a new file can be created below the root: it does not exist, and all its parents are real directories. */
function isFree(root: string, name: string): boolean {
  const parts = name.split("/");
  return parts.every((_, at) => {
    const info = lstatSync(join(root, ...parts.slice(0, at + 1)), { throwIfNoEntry: false });
    return info === undefined || (info.isDirectory() && at < parts.length - 1);
  });
}

/** The first component of a path below `root` that is not a directory; `undefined` if all existing ones are. */
function findLink(root: string, place: string): string | undefined {
  const parts = place.split("/");
  return parts
    .map((_, at) => join(root, ...parts.slice(0, at + 1)))
    .find((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false);
}

function readLine(file: string): string | undefined {
  const text = readRegularFile(file, LARGEST_LINE)?.toString();
  return text === undefined ? undefined : text.split("\n", 1)[0]?.trim();
}

function isSameFile(one: string, other: string, largest: number): boolean {
  const [a, b] = [readRegularFile(one, largest + 1), readRegularFile(other, largest + 1)];
  return a !== undefined && b !== undefined && a.equals(b) && statSync(one).size <= largest;
}

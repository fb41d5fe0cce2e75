import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorMessage, quote } from "@agent/core/toolkit";
import { canonicalPath, findRepository, isRecord, isSecretName, readRegularFile } from "@agent/internal";
import { CliError } from "../process/errors.js";
import { stateDirectory } from "../process/paths.js";
import { markOpen, removeMark } from "../sessions/openMark.js";
import { PrivateGit } from "../undo/privateGit.js";

const NAME = /^[A-Za-z0-9][\w-]{0,60}$/;
const COMMIT = /^[0-9a-f]{40}$/;
const REF = /^refs\/(?!.*\.\.)[\w./-]+$/;
const LARGEST_LINE = 4096;
const LARGEST_REFS = 64 * 1024 * 1024;
const LARGEST_INCLUDED = 16 * 1024 * 1024;
const MOST_INCLUDED = 1000;
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
}

/** A worktree of the project's repository in the user's state directory, on its own branch. */
export interface OpenWorktree {
  readonly name: string;
  readonly path: string;
  readonly branch: string;
  /** Notes for the user at the start, such as secret files that were not copied. */
  readonly notices: readonly string[];
  /** Removes it if nothing was changed. Resolves to one sentence about the result. Never rejects. */
  close(): Promise<string>;
}

/**
 * Creates a worktree with the files of the newest commit, or reopens the one with that name. Git never runs with the
 * configuration of the project: the files are written by a private repository, and the entry in the project's
 * repository is written here. Throws a `CliError`.
 */
export async function openWorktree(cwd: string, wanted: string | true): Promise<OpenWorktree> {
  const name = wanted === true ? `w${randomBytes(3).toString("hex")}` : wanted;
  if (!NAME.test(name)) {
    throw new CliError(
      `--worktree ${quote(name)}: a name has letters, digits, "_" and "-", and starts with a letter or digit.`,
    );
  }
  const repository = findRepository(join(canonicalPath(cwd), "file"));
  if (!repository) throw new CliError("--worktree: this directory is in no git repository of yours.");
  const { worktree: source, gitDirectories } = repository;
  const [own = "", common = own] = gitDirectories;
  const id = createHash("sha256").update(common).digest("hex").slice(0, 8);
  const root = join(dirname(stateDirectory()), "agent-worktrees", `${basename(source)}-${id}`);
  const tree = new Worktree(name, source, own, common, root);
  try {
    return await tree.open();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`--worktree ${name}: ${errorMessage(error)}`);
  }
}

class Worktree {
  readonly #name: string;
  readonly #source: string;
  readonly #own: string;
  readonly #common: string;
  readonly #root: string;

  constructor(name: string, source: string, own: string, common: string, root: string) {
    this.#name = name;
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

  async open(): Promise<OpenWorktree> {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    // Otherwise the first agent to finish would remove an unchanged tree that the other one still uses.
    if (!markOpen(this.#path)) {
      throw new Error("another agent works in this work tree. Wait for its end, or choose another name.");
    }
    try {
      return await this.#openMarked();
    } catch (error) {
      removeMark(this.#path);
      throw error;
    }
  }

  async #openMarked(): Promise<OpenWorktree> {
    const known = existsSync(this.#path) ? this.#readBeginning() : undefined;
    const { beginning, notices } = known ? { beginning: known, notices: [] } : await this.#create();
    return {
      name: this.#name,
      path: this.#path,
      branch: `agent/${this.#name}`,
      notices,
      close: () => this.#close(beginning),
    };
  }

  async #create(): Promise<{ readonly beginning: Beginning; readonly notices: readonly string[] }> {
    if (existsSync(join(this.#common, "reftable")))
      throw new Error("repositories whose references are in a reftable are not supported.");
    if (existsSync(this.#path) || existsSync(this.#entry) || this.#readRef(this.#ref) !== undefined) {
      throw new Error(
        `there is a work tree or a branch agent/${this.#name} already. Choose another name, or remove it.`,
      );
    }
    // A repository from an archive may contain symlinks there, which may point anywhere.
    for (const place of [`worktrees/${this.#name}`, this.#ref, `logs/${this.#ref}`, "objects/pack"]) {
      const link = findLink(this.#common, place);
      if (link !== undefined) throw new Error(`${link} is a link or no directory: nothing was written.`);
    }
    const commit = this.#head();
    mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    try {
      await this.#checkOut(commit);
      const { included, notices } = await this.#include(commit);
      const beginning = { commit, source: this.#source, included };
      writeFileSync(this.#beginningFile, JSON.stringify(beginning), { mode: 0o600 });
      return { beginning, notices };
    } catch (error) {
      this.#remove();
      throw error;
    }
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

  async #checkOut(commit: string): Promise<void> {
    await this.#withGit(this.#path, async (git, directory) => {
      await git.run(["read-tree", commit]);
      await git.run(["checkout-index", "--all", "--quiet", "--index"]);
      mkdirSync(this.#entry, { recursive: true });
      copyFileSync(join(directory, "index"), join(this.#entry, "index"));
    });
    writeFileSync(join(this.#entry, "commondir"), "../..\n");
    writeFileSync(join(this.#entry, "gitdir"), `${join(this.#path, ".git")}\n`);
    const ref = join(this.#common, this.#ref);
    mkdirSync(dirname(ref), { recursive: true });
    writeFileSync(ref, `${commit}\n`, { flag: "wx" });
    writeFileSync(join(this.#entry, "HEAD"), `ref: ${this.#ref}\n`);
    writeFileSync(join(this.#path, ".git"), `gitdir: ${this.#entry}\n`);
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
        ? [`.worktreeinclude: not copied, because they may hold secrets: ${secret.join(", ")}`]
        : []),
      ...(skipped.length > 0
        ? [
            `.worktreeinclude: not copied, because they are not regular files, are larger than 16 MiB, or the commit has a link or a file in their place: ${skipped.join(", ")}`,
          ]
        : []),
      ...(names.length > MOST_INCLUDED
        ? [`.worktreeinclude names ${names.length} files; the first ${MOST_INCLUDED} were copied.`]
        : []),
    ];
    return { included, notices };
  }

  async #close(beginning: Beginning): Promise<string> {
    try {
      return await this.#removeUnchanged(beginning);
    } finally {
      removeMark(this.#path);
    }
  }

  async #removeUnchanged(beginning: Beginning): Promise<string> {
    const kept = `branch agent/${this.#name}, ${this.#path}`;
    let changes: string;
    try {
      changes = await this.#changes(beginning);
    } catch (error) {
      // If it cannot be compared, it may contain work.
      return `The work tree ${this.#name} was kept, since it could not be compared: ${errorMessage(error)} (${kept})`;
    }
    if (changes !== "") {
      return `The work tree ${this.#name} was kept: ${changes} (${kept}). Open it again with agent --worktree ${this.#name}.`;
    }
    try {
      this.#remove();
    } catch (error) {
      return `The work tree ${this.#name} has no changes, but could not be removed: ${errorMessage(error)} Remove it with git worktree remove ${this.#path}.`;
    }
    return `The work tree ${this.#name} was removed: nothing was changed in it.`;
  }

  /** What was changed since the start; empty if nothing was. Ignored files do not count. */
  async #changes({ commit, source, included }: Beginning): Promise<string> {
    if (readLine(join(this.#entry, "HEAD")) !== `ref: ${this.#ref}`) return "it is on another branch";
    if (this.#readRef(this.#ref) !== commit) return "it has new commits";
    if (existsSync(join(this.#entry, "locked"))) return "it is locked";
    const listed = await this.#withGit(this.#path, async (git) => {
      await git.run(["read-tree", commit]);
      // Fails if files were changed: the list names them.
      await git.run(["update-index", "-q", "--refresh"]).catch(() => undefined);
      const args = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
      return (await git.run(args)).toString().split("\0").filter(Boolean);
    });
    const isCopy = (name: string): boolean =>
      isSameFile(join(source, name), join(this.#path, name), LARGEST_INCLUDED);
    const copied = new Set(included);
    const changed = new Set([
      ...listed.filter((name) => !copied.has(name)),
      ...included.filter((name) => existsSync(join(this.#path, name)) && !isCopy(name)),
    ]);
    return changed.size === 0 ? "" : `${changed.size} changed ${changed.size === 1 ? "file" : "files"}`;
  }

  #remove(): void {
    const isOwn = readLine(join(this.#entry, "gitdir")) === join(this.#path, ".git");
    rmSync(this.#path, { recursive: true, force: true });
    rmSync(this.#beginningFile, { force: true });
    if (!isOwn) return;
    rmSync(this.#entry, { recursive: true, force: true });
    rmSync(join(this.#common, this.#ref), { force: true });
    rmSync(join(this.#common, "logs", this.#ref), { force: true });
  }

  #readBeginning(): Beginning {
    const text = readRegularFile(this.#beginningFile, LARGEST_REFS)?.toString();
    if (text === undefined) {
      throw new Error(
        `${this.#beginningFile} is missing, so changes cannot be recognized. Choose another name, or remove the tree: git worktree remove ${this.#path}`,
      );
    }
    const value: unknown = JSON.parse(text);
    const { commit, source, included } = isRecord(value) ? value : {};
    if (typeof commit === "string" && typeof source === "string" && Array.isArray(included))
      return { commit, source, included: included.map(String) };
    throw new Error(`${this.#beginningFile} does not say what the work tree began with.`);
  }

  #head(): string {
    const line = readLine(join(this.#own, "HEAD")) ?? "";
    const [, ref] = /^ref: (.+)$/.exec(line) ?? [];
    const commit = ref === undefined ? line : REF.test(ref) ? this.#readRef(ref) : undefined;
    if (commit !== undefined && COMMIT.test(commit)) return commit;
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

import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CallTarget, EditorFiles, HookCall } from "@agent/core";
import { errorMessage, isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { unsavedText } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { BlobStore } from "./blobStore.js";
import { type FileState, isSameState, MISSING, readState, readTree } from "./fileState.js";
import type { GitTree } from "./gitTree.js";
import type { FileChange, Restored } from "./restore.js";

const MOST_TURNS = 50;
const MOST_BYTES = 512 * 1024 * 1024;

/** A call as the log needs it. */
export type LoggedCall = Pick<HookCall, "id" | "capabilities" | "describe">;

/** The changes of one message. */
interface Turn {
  readonly message: string;
  /** The id of the message in its conversation. */
  readonly id?: string;
  readonly changes: readonly FileChange[];
  /** Possible changes that are not recorded, each as the end of a sentence. */
  readonly untracked?: readonly string[];
}

export interface UndoResult extends Restored {
  /** The start of the message with these changes; `undefined` if no message has recorded changes. */
  readonly message: string | undefined;
  /** Possible unrecorded changes of this message and later ones, each as the end of a sentence. */
  readonly untracked: readonly string[];
}

/** A path that a session changed. */
export interface ChangedFile {
  readonly path: string;
  readonly before: Buffer | { readonly other: string } | undefined;
  readonly after: Buffer | { readonly other: string } | undefined;
}

interface OpenCall {
  readonly states: ReadonlyMap<string, FileState>;
  readonly tree: string | undefined;
  /** What is not recorded of it, as the end of a sentence. */
  readonly untracked?: string;
  readonly paths: readonly string[];
}

/**
 * Records the file changes of each message, for undo and redo. Calls are tracked by the files they declare as targets;
 * calls that run commands, or do not declare their targets, by comparing git trees. Stored next to the session's file.
 */
export class UndoLog {
  readonly #directory: string;
  readonly #cwd: string;
  readonly #blobs: BlobStore;
  readonly #editorFiles: EditorFiles | undefined;
  readonly #open = new Map<string, OpenCall>();
  /** By their directories: child agents may have their own. */
  readonly #git = new Map<string, Promise<GitTree | string>>();
  #message = "";
  #id: string | undefined;
  #current = new Map<string, FileChange>();
  #untracked = new Set<string>();
  #done: Turn[] = [];
  #undone: Turn[] = [];
  #isSaved = true;

  /** `editorFiles` are those of the user's editor: its unsaved text is part of the state before a call. */
  constructor(directory: string, cwd: string, editorFiles?: EditorFiles) {
    this.#directory = directory;
    this.#cwd = cwd;
    this.#editorFiles = editorFiles;
    this.#blobs = new BlobStore(join(directory, "blobs"));
    this.#load();
  }

  /**
   * Starts a new message: changes from now on belong to it. Changes of background agents until now belong to the
   * previous one.
   */
  beginTurn(message: string): void {
    this.#keepCurrent();
    this.#message = shortened(message);
    this.#id = undefined;
  }

  /**
   * Called when the message has joined the conversation with this id. Changes from now on belong to it: a message that
   * steers an answer starts its own turn.
   */
  noteMessage(id: string, message: string): void {
    if (this.#id !== undefined) {
      this.#keepCurrent();
      this.#message = shortened(message);
    }
    this.#id = id;
  }

  /** The changed paths of each message that can be undone, by the message's id. Oldest first. */
  get turns(): readonly { readonly id: string | undefined; readonly paths: readonly string[] }[] {
    return this.#done
      .filter(({ changes }) => changes.length > 0)
      .map(({ id, changes }) => ({ id, paths: changes.map(({ path }) => path) }));
  }

  /**
   * The combined changes of all messages that can be undone: each path before its first change and after its last one.
   * Sorted by path.
   */
  async changedFiles(): Promise<ChangedFile[]> {
    const changes = new Map<string, FileChange>();
    for (const change of this.#done.flatMap((turn) => turn.changes)) {
      const before = changes.get(change.path)?.before ?? change.before;
      changes.set(change.path, { path: change.path, before, after: change.after });
    }
    const changed = [...changes.values()].filter(({ before, after }) => !isSameState(before, after));
    return await Promise.all(
      changed
        .sort((a, b) => (a.path < b.path ? -1 : 1))
        .map(async ({ path, before, after }) => ({
          path,
          before: await this.#contentOf(before),
          after: await this.#contentOf(after),
        })),
    );
  }

  /** The content of a file; `undefined` if there is none, and a description if it is something else. */
  async #contentOf(state: FileState): Promise<ChangedFile["before"]> {
    if (state.kind === "missing") return undefined;
    if (state.kind !== "file") return { other: state.kind === "other" ? state.reason : state.kind };
    return await this.#blobs.read(state.blob).catch(() => ({ other: "its content is not kept" }));
  }

  /** Copies the undo data for a copy of the session. Never rejects: without it, the copy can undo nothing. */
  async copyTo(directory: string): Promise<void> {
    const copy = new UndoLog(directory, this.#cwd);
    copy.#done = [...this.#done];
    try {
      await this.#blobs.copyTo(copy.#blobs, blobsOf(this.#done));
      await copy.#save();
    } catch {
      // The disk is full.
    }
  }

  /**
   * Called right before a call runs. `directory` is the work tree of the child agent that makes it. Never rejects: a call must
   * not fail because it cannot be undone.
   */
  async before(call: LoggedCall, directory = this.#cwd): Promise<void> {
    const key = keyOf(call.id, directory);
    try {
      const { capabilities } = call;
      if (!capabilities.some((one) => one === "write" || one === "destroy" || one === "execute")) return;
      const { targets } = await call.describe();
      const isUnknown = targets?.every(({ type, open }) => !open && type !== "command") !== true;
      const git = isUnknown ? await this.#gitTree(directory) : undefined;
      const tree = typeof git === "object" ? await git.capture() : undefined;
      const untracked = typeof git === "object" ? git.uncovered : git;
      const paths = tree === undefined ? writtenPaths(targets ?? []) : [];
      const states = await withUnsaved(await this.#statesOf(paths), this.#blobs, this.#editorFiles);
      this.#open.set(key, { paths, tree, states, ...(untracked !== undefined && { untracked }) });
    } catch (error) {
      this.#open.delete(key);
      this.#untracked.add(failedCall(error));
    }
  }

  /** Called when the call has ended. Never rejects. */
  async after(id: string, directory = this.#cwd): Promise<void> {
    const key = keyOf(id, directory);
    const call = this.#open.get(key);
    this.#open.delete(key);
    if (!call) return;
    if (call.untracked !== undefined) this.#untracked.add(call.untracked);
    try {
      if (call.tree !== undefined) {
        const git = await this.#gitTree(directory);
        if (typeof git === "string") return;
        for (const change of await git.changesSince(call.tree)) this.#add(change);
        return;
      }
      const after = await this.#statesOf(call.paths);
      for (const path of new Set([...call.states.keys(), ...after.keys()])) {
        const change = {
          path,
          before: call.states.get(path) ?? this.#hidden(path, call.states),
          after: after.get(path) ?? (await readState(path, this.#blobs)),
        };
        if (!isSameState(change.before, change.after)) this.#add(change);
      }
    } catch (error) {
      // The disk is full, or git failed.
      this.#untracked.add(failedCall(error));
    }
  }

  /** Ends the message, answered or stopped, and stores its changes. Never rejects. */
  async endTurn(): Promise<void> {
    this.#keepCurrent();
    if (!this.#isSaved) await this.#save();
  }

  #keepCurrent(): void {
    const changes = [...this.#current.values()];
    const untracked = [...this.#untracked];
    this.#current = new Map();
    this.#untracked = new Set();
    if (changes.length + untracked.length === 0) return;
    this.#done.push({
      message: this.#message,
      ...(this.#id !== undefined && { id: this.#id }),
      changes,
      ...(untracked.length > 0 && { untracked }),
    });
    if (changes.length > 0) this.#undone = [];
    this.#isSaved = false;
    if (this.#done.length > MOST_TURNS) this.#done.shift();
  }

  /** Undoes the last message that changed files. */
  undo(): Promise<UndoResult> {
    return this.#move(this.#done, this.#undone, "undo");
  }

  redo(): Promise<UndoResult> {
    return this.#move(this.#undone, this.#done, "redo");
  }

  async #move(from: Turn[], to: Turn[], direction: "undo" | "redo"): Promise<UndoResult> {
    // Messages without changes are skipped. They stay if there is nothing else.
    const at = from.findLastIndex(({ changes }) => changes.length > 0);
    const passed = from.slice(at + 1);
    const turn = from[at];
    const untracked = [
      ...new Set([...(turn ? [turn] : []), ...passed].flatMap((one) => one.untracked ?? [])),
    ];
    if (!turn) return { restored: [], kept: [], message: undefined, untracked };
    from.splice(at);
    const { restore } = await import("./restore.js");
    const result = await restore(turn.changes, direction, this.#blobs);
    // All of it moves, including skipped paths: earlier messages stay reachable, and undoing and redoing tries again.
    to.push(turn);
    await this.#save();
    return { ...result, message: turn.message, untracked };
  }

  #add(change: FileChange): void {
    const earlier = this.#current.get(change.path);
    if (!earlier) {
      this.#current.set(change.path, change);
      return;
    }
    const mixed = earlier.mixed === true || !isSameState(earlier.after, change.before);
    if (!mixed && isSameState(earlier.before, change.after)) this.#current.delete(change.path);
    else this.#current.set(change.path, { ...earlier, after: change.after, ...(mixed && { mixed }) });
  }

  async #statesOf(paths: readonly string[]): Promise<Map<string, FileState>> {
    const states = new Map<string, FileState>();
    for (const path of paths) {
      for (const [below, state] of await readTree(path, this.#blobs)) states.set(below, state);
    }
    return states;
  }

  /** The state of a path that was not recorded: it did not exist, or is below something that could not be stored. */
  #hidden(path: string, states: ReadonlyMap<string, FileState>): FileState {
    for (const [above, state] of states) {
      if (state.kind === "other" && path.startsWith(`${above}/`)) return state;
    }
    return MISSING;
  }

  #gitTree(directory: string): Promise<GitTree | string> {
    const known = this.#git.get(directory);
    if (known) return known;
    const opened = import("./gitTree.js").then(({ GitTree }) =>
      GitTree.open(directory, this.#gitDirectory(directory), this.#blobs),
    );
    this.#git.set(directory, opened);
    return opened;
  }

  #gitDirectory(directory: string): string {
    return join(this.#directory, directory === this.#cwd ? "git" : `git-${basename(directory)}`);
  }

  /** The child agent that worked in this directory has ended. What it changed can still be undone. */
  closeDirectory(directory: string): void {
    if (!this.#git.delete(directory)) return;
    rmSync(this.#gitDirectory(directory), { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#directory, "turns.json");
  }

  #load(): void {
    if (!existsSync(this.#file)) return;
    try {
      const saved: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      if (!isRecord(saved) || !Array.isArray(saved.done) || !Array.isArray(saved.undone)) return;
      this.#done = saved.done as Turn[];
      this.#undone = saved.undone as Turn[];
    } catch {
      // A crash left an incomplete file: the changes stay as they are.
    }
  }

  async #save(): Promise<void> {
    this.#isSaved = true;
    try {
      while (this.#prune() > MOST_BYTES && this.#done.length > 1) this.#done.shift();
      ensurePrivateDirectory(this.#directory);
      await writeFileAtomic(this.#file, JSON.stringify({ done: this.#done, undone: this.#undone }), {
        mode: 0o600,
      });
    } catch {
      // The disk is full: undo still works from memory.
    }
  }

  #prune(): number {
    const used = blobsOf([...this.#done, ...this.#undone, { changes: [...this.#current.values()] }]);
    // Calls of background agents outlast the message.
    for (const { states } of this.#open.values())
      for (const state of states.values()) if (state.kind === "file") used.add(state.blob);
    return this.#blobs.prune(used);
  }
}

/** Ids of calls are unique in one turn of one agent only, and agents with their own directories work at the same time. */
function keyOf(id: string, directory: string): string {
  return `${directory}\0${id}`;
}

/** The contents needed to undo and redo these messages. */
function blobsOf(turns: readonly Pick<Turn, "changes">[]): Set<string> {
  const states = turns.flatMap(({ changes }) => changes).flatMap(({ before, after }) => [before, after]);
  return new Set(states.flatMap((state) => (state.kind === "file" ? [state.blob] : [])));
}

function failedCall(error: unknown): string {
  return `a call that could not be recorded (${errorMessage(error)})`;
}

function shortened(message: string): string {
  return message.slice(0, 200).toWellFormed();
}

/**
 * The paths that a call may change: those it writes or deletes, the targets of their symlinks, and directories it would
 * create.
 */
function writtenPaths(targets: readonly CallTarget[]): string[] {
  const found = new Set<string>();
  for (const target of targets) {
    if (target.type !== "file" || target.access === "read") continue;
    const { path, realPath = path } = target;
    for (const one of new Set([path, realPath])) {
      found.add(one);
      for (let parent = dirname(one); !existsSync(parent); parent = dirname(parent)) found.add(parent);
    }
  }
  return [...found];
}

/**
 * The states with the unsaved text of the user's editor. A tool edits such a file from the editor's text: undoing to
 * the content on disk would lose the user's own changes.
 */
async function withUnsaved(
  states: ReadonlyMap<string, FileState>,
  blobs: BlobStore,
  files: EditorFiles | undefined,
): Promise<ReadonlyMap<string, FileState>> {
  if (!files?.readText) return states;
  const found = new Map(states);
  for (const [path, state] of states) {
    if (state.kind !== "file") continue;
    const inEditor = await files.readText(path).catch(() => undefined);
    const text = unsavedText((await blobs.read(state.blob)).toString("utf8"), inEditor);
    if (text !== undefined) found.set(path, { ...state, blob: await blobs.add(Buffer.from(text)) });
  }
  return found;
}

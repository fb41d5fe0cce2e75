import { constants, lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "./blobStore.js";

const PERMISSIONS = 0o7777;
// /undo does not store larger files, and reports that: copying them before each call would take too long.
const LARGEST_FILE = 64 * 1024 * 1024;
const MOST_ENTRIES = 20_000;
const MOST_TREE_BYTES = 256 * 1024 * 1024;

/** The state of a path, with everything that is needed to restore it. */
export type FileState =
  | { readonly kind: "missing" }
  | { readonly kind: "file"; readonly mode: number; readonly blob: string }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number }
  /** Something that cannot be stored: a device, a pipe, a huge or unreadable file. */
  | { readonly kind: "other"; readonly reason: string };

export const MISSING: FileState = { kind: "missing" };

export function isSameState(a: FileState, b: FileState): boolean {
  if (a.kind === "file" && b.kind === "file") return a.mode === b.mode && a.blob === b.blob;
  if (a.kind === "directory" && b.kind === "directory") return a.mode === b.mode;
  if (a.kind === "link" && b.kind === "link") return a.target === b.target;
  return a.kind === b.kind && a.kind === "missing";
}

/** Reads the state of one path and stores its content in `blobs`. Never rejects. */
export async function readState(path: string, blobs: BlobStore): Promise<FileState> {
  try {
    const stats = await lstat(path);
    const mode = stats.mode & PERMISSIONS;
    if (stats.isDirectory()) return { kind: "directory", mode };
    if (stats.isSymbolicLink()) return { kind: "link", target: await readlink(path) };
    if (!stats.isFile()) return { kind: "other", reason: "it is not a regular file" };
    if (stats.size > LARGEST_FILE) return { kind: "other", reason: "it is too large to be saved" };
    const content = await readExact(path, stats.size);
    if (content === undefined) return { kind: "other", reason: "it changes while it is read" };
    return { kind: "file", mode, blob: await blobs.add(content) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return MISSING;
    return { kind: "other", reason: `it cannot be read (${code})` };
  }
}

/**
 * The content of a regular file of this size; `undefined` if something else is there by now. Never waits for a FIFO.
 */
async function readExact(path: string, size: number): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size !== size) return undefined;
    const content = Buffer.alloc(size);
    const { bytesRead } = await file.read(content, 0, size, 0);
    return bytesRead === size ? content : undefined;
  } finally {
    await file.close();
  }
}

/** The states of a path and of everything below it, by path. */
export async function readTree(path: string, blobs: BlobStore): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>();
  const giveUp = (reason: string): Map<string, FileState> => new Map([[path, { kind: "other", reason }]]);
  let bytes = 0;
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (states.size >= MOST_ENTRIES) {
      return giveUp(`it holds more than ${MOST_ENTRIES} files`);
    }
    bytes += (await lstat(next).catch(() => undefined))?.size ?? 0;
    if (bytes > MOST_TREE_BYTES) return giveUp("it holds too much to be saved");
    const state = await readState(next, blobs);
    states.set(next, state);
    if (state.kind !== "directory") continue;
    const names = await readdir(next).catch(() => []);
    for (const name of names) waiting.push(join(next, name));
  }
  return states;
}

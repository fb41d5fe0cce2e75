import { createHash, type Hash } from "node:crypto";

const MAX_REMEMBERED = 1000;

/** The part of Node's `BigIntStats` that changes when a file changes. */
export interface FileState {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** The state of a file at one moment: the digest of its content if it was read whole, and its stamp. */
interface Seen {
  readonly digest: string | undefined;
  readonly stamp: string;
}

/** Remembers the state of each file when a tool last read or wrote it, to detect changes by other programs. */
export class SeenFiles {
  readonly #seen = new Map<string, Seen>();

  /** `digest` is the digest of the whole file, or absent if only a part was read. */
  remember(path: string, info: FileState, digest: string | undefined): void {
    this.#seen.delete(path);
    this.#seen.set(path, { digest, stamp: stampOf(info) });
    if (this.#seen.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }

  forget(path: string): void {
    this.#seen.delete(path);
  }

  /** Whether the file differs from what was last seen. A file never seen has not changed. */
  hasChanged(path: string, info: FileState, content: Uint8Array): boolean {
    const seen = this.#seen.get(path);
    if (seen === undefined) return false;
    // Compare the content if its digest is known: a file that was only touched, or changed and restored, has not changed.
    return seen.digest === undefined ? seen.stamp !== stampOf(info) : seen.digest !== digestOf(content);
  }
}

/**
 * A text that changes whenever the file does: identity, size, mtime and ctime in nanoseconds. `contentOnly` leaves out
 * ctime, which also changes with the file's mode, owner and names.
 */
export function stampOf(info: FileState, contentOnly = false): string {
  const stamp = `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}`;
  return contentOnly ? stamp : `${stamp}:${info.ctimeNs}`;
}

/** The SHA-256 digest of a content. */
export function digestOf(content: Uint8Array): string {
  return startDigest().update(content).digest("base64");
}

/** Starts a digest that is fed in pieces and equals `digestOf` the whole. */
export function startDigest(): Hash {
  return createHash("sha256");
}

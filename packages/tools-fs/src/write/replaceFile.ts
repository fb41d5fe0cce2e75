import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { saveInEditor } from "../editor/saveInEditor.js";
import { BYTE_NEWLINE, countNewlines } from "../read/newlines.js";
import type { WholeFile } from "../read/readWhole.js";
import { stampOf, startDigest } from "../read/seenFiles.js";
import type { Workspace } from "../workspace.js";
import { makeDirectories, removeMade } from "./makeDirectories.js";

const NEWLINE = 10;
const PIECE_BYTES = 256 * 1024;
const QUICKLY_READ_BYTES = 1024 * 1024;

/** The result of a write. A last line without a newline counts as a line. */
export interface Written {
  readonly created: boolean;
  readonly lines: number;
  /** A note for the model if the editor saved a different text. */
  readonly remark?: string;
}

/**
 * The version that the new content is based on. If the file differs right before it is replaced, `onChanged` is thrown.
 */
export interface Basis {
  /** Absent if there was no file. Without `onDisk`, only the stamp is compared. */
  readonly expected: (Pick<WholeFile, "info"> & Partial<WholeFile>) | undefined;
  readonly onChanged: () => Error;
}

const SAVED_DIFFERENTLY =
  "The editor took the text, but the file on disk differs from it: it formats what it saves, or saves later. Read the file again before you edit it.";

/**
 * Writes a whole file at a canonical path, parents included, and remembers the new state. If the user's editor can
 * write files, the editor writes it; otherwise it is written to the disk atomically. A failure leaves the old file and
 * no new directory.
 */
export async function replaceFile(
  workspace: Workspace,
  target: string,
  content: Buffer,
  { basis, signal }: { readonly basis?: Basis; readonly signal?: AbortSignal | undefined } = {},
): Promise<Written> {
  const parent = dirname(target);
  const made = await makeDirectories(workspace, parent);
  try {
    const pinned = workspace.pin(parent);
    try {
      const place = join(pinned.path, basename(target));
      const assertBasis = (): void => basis && assertUnchanged(place, basis);
      const saved = await saveInEditor(workspace, {
        ...{ target, place, content, signal },
        assertUnchanged: assertBasis,
      });
      if (saved) return await rememberSaved(workspace, target, place, content, saved);
      // Count lines and compute the digest while the disk writes.
      const [{ created }, { digest, lines }] = await Promise.all([
        writeFileAtomic(place, content, {
          follow: false,
          ...(basis && { beforeRename: assertBasis }),
        }),
        survey(content),
      ]);
      workspace.seen.remember(target, lstatSync(place, { bigint: true }), digest);
      return { created, lines };
    } finally {
      pinned.close();
    }
  } catch (error) {
    await removeMade(workspace, made);
    throw error;
  }
}

async function rememberSaved(
  { seen }: Workspace,
  target: string,
  place: string,
  content: Buffer,
  { created, isExact }: { readonly created: boolean; readonly isExact: boolean },
): Promise<Written> {
  const { digest, lines } = await survey(content);
  const info = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  if (info) seen.remember(target, info, isExact ? digest : undefined);
  else seen.forget(target);
  return { created, lines, ...(!isExact && { remark: SAVED_DIFFERENTLY }) };
}

/** Compares the stamp and, for a small file, the content: two writes within one clock tick share a stamp. */
function assertUnchanged(place: string, { expected, onChanged }: Basis): void {
  const now = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  if (now === undefined && expected === undefined) return;
  if (now === undefined || expected === undefined || stampOf(now) !== stampOf(expected.info))
    throw onChanged();
  const { onDisk } = expected;
  if (onDisk === undefined || onDisk.length > QUICKLY_READ_BYTES) return;
  if (!readFileSync(place).equals(onDisk)) throw onChanged();
}

/** Computes digest and line count in pieces, and yields to the event loop between them, so that the write can proceed. */
async function survey(content: Buffer): Promise<{ digest: string; lines: number }> {
  const digest = startDigest();
  let lines = content.length > 0 && content.at(-1) !== NEWLINE ? 1 : 0;
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise(setImmediate);
    const piece = content.subarray(at, at + PIECE_BYTES);
    digest.update(piece);
    lines += countNewlines(piece, BYTE_NEWLINE);
  }
  return { digest: digest.digest("base64"), lines };
}

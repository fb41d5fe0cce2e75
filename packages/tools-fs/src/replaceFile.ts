import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { BYTE_NEWLINE, countNewlines } from "./newlines.js";
import { makeDirectories, removeMade } from "./parents.js";
import { startDigest } from "./seenFiles.js";
import type { Workspace } from "./workspace.js";

const NEWLINE = 10;
const PIECE_BYTES = 256 * 1024;

/** What was written. A last line without a newline counts. */
export interface Written {
  readonly created: boolean;
  readonly lines: number;
}

/**
 * Writes a whole file at a canonical path, parents included, atomically; remembers what it wrote. A failure
 * leaves the old file and no new directory.
 */
export async function replaceFile(workspace: Workspace, target: string, content: Buffer): Promise<Written> {
  const parent = dirname(target);
  const made = await makeDirectories(workspace, parent);
  try {
    const held = workspace.hold(parent);
    try {
      const place = join(held.path, basename(target));
      // The disk is what takes time: meanwhile there is work to do here.
      const [{ created }, { digest, lines }] = await Promise.all([
        writeFileAtomic(place, content, { follow: false }),
        survey(content),
      ]);
      workspace.seen.remember(target, lstatSync(place, { bigint: true }), digest);
      return { created, lines };
    } finally {
      held.close();
    }
  } catch (error) {
    await removeMade(workspace, made);
    throw error;
  }
}

/** Goes through the content in pieces, and lets others run in between: the write, for one, has several steps. */
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

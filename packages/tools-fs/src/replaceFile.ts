import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { BYTE_NEWLINE, countNewlines } from "./newlines.js";
import { makeDirectories, removeMade } from "./parents.js";
import { digestOf } from "./seenFiles.js";
import type { Workspace } from "./workspace.js";

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
      const writing = writeFileAtomic(place, content, { follow: false });
      // The disk is what takes time: meanwhile there is work to do here.
      const digest = digestOf(content);
      const lines = lineCount(content);
      const { created } = await writing;
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

function lineCount(bytes: Buffer): number {
  const open = bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0;
  return countNewlines(bytes, BYTE_NEWLINE) + open;
}

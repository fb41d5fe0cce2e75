import { type BigIntStats, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { makeDirectories, removeMade } from "./parents.js";
import type { Workspace } from "./workspace.js";

/**
 * Writes a whole file at a canonical path, parents included, atomically; remembers what it wrote. A failure
 * leaves the old file and no new directory.
 */
export async function replaceFile(
  workspace: Workspace,
  target: string,
  content: Buffer,
): Promise<{ created: boolean }> {
  const parent = dirname(target);
  const made = await makeDirectories(workspace, parent);
  try {
    const held = workspace.hold(parent);
    try {
      const place = join(held.path, basename(target));
      const result = await writeFileAtomic(place, content, { follow: false });
      workspace.seen.remember(target, lstatSync(place, { bigint: true }) as BigIntStats, content);
      return result;
    } finally {
      held.close();
    }
  } catch (error) {
    await removeMade(workspace, made);
    throw error;
  }
}

import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { fsError, isMissing } from "../fsError.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import { type Removal, removeTree } from "../tree/remove.js";
import { refuseVital } from "../tree/vital.js";
import type { Workspace } from "../workspace.js";

/** Removes a file, a link (never its target) or a directory with everything in it. */
export const removeEntry: Action = async (workspace, args, call) => {
  const path = requireString(args, "path");
  try {
    const target = workspace.locateEntry(path);
    return await workspace.locks.run([target], () => remove(workspace, path, target, call?.signal), call);
  } catch (error) {
    if (isMissing(error)) return `Nothing to remove: ${showPath(path)} does not exist`;
    throw fsError(error, "remove", path);
  }
};

async function remove(
  workspace: Workspace,
  path: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const info = lstatSync(target);
  if (info.isDirectory()) refuseVital(target, path, "removed", workspace.guard.root);
  workspace.protection.checkTakeAway(target);
  const held = workspace.hold(dirname(target));
  try {
    const removal = await removeTree(held.path, basename(target), path, signal);
    if (removal.left > 0) {
      signal?.throwIfAborted();
      throw incomplete(path, removal);
    }
    workspace.seen.forget(target);
    if (!info.isDirectory()) return `Removed ${showPath(path)} (${kindOf(info)})`;
    const inside = removal.removed - 1;
    return `Removed ${showPath(path)} (directory with ${inside === 1 ? "1 entry" : `${inside} entries`})`;
  } finally {
    held.close();
  }
}

function incomplete(path: string, { removed, left, causes }: Removal): Error {
  const entries = `${removed} of ${removed + left} entries removed, ${left} left`;
  return new Error(`Cannot remove all of ${showPath(path)}: ${entries}.\n${causes.map(showPath).join("\n")}`);
}

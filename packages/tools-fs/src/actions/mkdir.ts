import { lstatSync, statSync } from "node:fs";
import { requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { fsError } from "../fsError.js";
import { makeDirectories } from "../parents.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import type { Workspace } from "../workspace.js";

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export const makeDirectory: Action = async (workspace, args, call) => {
  const path = requireString(args, "path");
  try {
    const target = workspace.locate(path);
    return await workspace.locks.run([target], () => make(workspace, path, target), call);
  } catch (error) {
    throw fsError(error, "create the directory", path);
  }
};

async function make(workspace: Workspace, path: string, target: string): Promise<string> {
  const existing = statSync(target, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return `Already exists: ${showPath(path)}`;
  if (existing) throw new Error(`${showPath(path)} exists already and is a ${kindOf(existing)}.`);
  if (lstatSync(workspace.locateEntry(path), { throwIfNoEntry: false })) {
    throw new Error(`${showPath(path)} is a symbolic link to something that does not exist.`);
  }
  workspace.protection.checkMakeDirectory(target);
  const made = await makeDirectories(workspace, target);
  return made.length === 0 ? `Already exists: ${showPath(path)}` : `Created ${showPath(path)}`;
}

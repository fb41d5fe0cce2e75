import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInside, optionalBoolean, requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { fold } from "../foldedPath.js";
import { fsError } from "../fsError.js";
import { missingError } from "../missing.js";
import { namesDirectory, showPath } from "../pathText.js";
import { readWhole } from "../readWhole.js";
import { kindOf } from "../regularFile.js";
import { carryOut, type Move } from "../tree/move.js";
import { refuseVital } from "../tree/vital.js";
import type { Workspace } from "../workspace.js";

/** Moves or renames a file, a link or a directory, also to another device. Never replaces unasked. */
export const moveEntry: Action = async (workspace, args, call) => {
  const source = requireString(args, "source");
  const destination = requireString(args, "destination");
  const overwrite = optionalBoolean(args, "overwrite", false);
  const from = await findSource(workspace, source);
  try {
    const target = findTarget(workspace, from.path, from.info, destination);
    const carry = async (): Promise<string> => {
      const move = check(workspace, from.path, target, { source, destination, overwrite });
      await checkContent(workspace, move);
      await carryOut(workspace, move, call?.signal);
      workspace.seen.forget(from.path);
      workspace.seen.forget(target);
      return `Moved ${showPath(source)} to ${showPath(inWordsOf(destination, target))}`;
    };
    return await workspace.locks.run([from.path, target], carry, call);
  } catch (error) {
    throw fsError(error, `move ${showPath(source)} to`, destination);
  }
};

async function findSource(workspace: Workspace, source: string): Promise<{ path: string; info: Stats }> {
  let path = source;
  try {
    path = workspace.locateEntry(source);
    return { path, info: lstatSync(path) };
  } catch (error) {
    throw await missingError(error, "move", source, path);
  }
}

/** Everything that can be known before anything is done; throws on what speaks against it. */
function check(
  workspace: Workspace,
  source: string,
  target: string,
  asked: { source: string; destination: string; overwrite: boolean },
): Move {
  const { guard, protection } = workspace;
  const info = lstatSync(source);
  if (info.isDirectory()) {
    refuseVital(source, asked.source, "moved", guard.root);
    if (isInside(source, target)) {
      throw new Error(
        `${showPath(asked.source)} cannot be moved into itself (${showPath(asked.destination)}).`,
      );
    }
  }
  if (source === target) {
    throw new Error(`${showPath(asked.source)} and ${showPath(asked.destination)} are the same.`);
  }
  protection.checkTakeAway(source);
  if (info.isFile()) protection.checkWrite(target);
  else protection.checkPutInto(target);
  const existing = lstatSync(target, { throwIfNoEntry: false });
  const same = existing !== undefined && existing.dev === info.dev && existing.ino === info.ino;
  // On a disk that ignores case, "A" is "a" itself: a rename, not a replacement.
  const respelled = same && isRespelling(source, target);
  if (existing && !respelled) {
    refuseReplacing(asked, target, inWordsOf(asked.destination, target), info, existing);
  }
  return {
    source,
    target,
    info,
    replace: existing !== undefined,
    sameFile: same && !respelled,
    shown: asked.source,
  };
}

async function checkContent(workspace: Workspace, { source, target, info, shown }: Move): Promise<void> {
  const { protection } = workspace;
  if (info.isSymbolicLink()) protection.checkLink(target);
  if (!info.isFile() || !protection.judgesContent(target)) return;
  const [before, after] = [
    await readWhole(workspace, target, target),
    await readWhole(workspace, source, shown),
  ];
  protection.checkContent(target, before?.bytes.toString("utf8"), after?.bytes.toString("utf8") ?? "");
}

/** Like `mv`: into an existing directory, else to the very name given. */
function findTarget(workspace: Workspace, source: string, info: Stats, destination: string): string {
  const followed = workspace.locate(destination);
  const entry = workspace.locateEntry(destination);
  const existing = statSync(followed, { throwIfNoEntry: false });
  if (existing?.isDirectory()) {
    const itself = existing.dev === info.dev && existing.ino === info.ino;
    if (itself && isRespelling(source, entry)) return entry;
    return join(followed, basename(source));
  }
  if (namesDirectory(destination) && !info.isDirectory()) {
    throw new Error(`${showPath(destination)} is not an existing directory. Create it with mkdir first.`);
  }
  return entry;
}

/**
 * Whether two paths of one file are two spellings of one name (another case, another composition), and not two names
 * that are spelt alike: then the directory lists both, and to remove one leaves the other.
 */
function isRespelling(a: string, b: string): boolean {
  if (a === b || dirname(a) !== dirname(b) || fold(a) !== fold(b)) return false;
  const names = readdirSync(dirname(a));
  return !names.includes(basename(a)) || !names.includes(basename(b));
}

function refuseReplacing(
  asked: { overwrite: boolean },
  target: string,
  shown: string,
  info: Stats,
  existing: Stats,
): void {
  if (!asked.overwrite) {
    throw new Error(
      `${showPath(shown)} exists already; nothing was moved. Pass "overwrite": true to replace it.`,
    );
  }
  if (!existing.isFile() && !existing.isDirectory() && !existing.isSymbolicLink()) {
    throw new Error(
      `${showPath(shown)} is a ${kindOf(existing)}, which is never replaced; nothing was moved.`,
    );
  }
  if (existing.isDirectory() !== info.isDirectory()) {
    const kinds = existing.isDirectory()
      ? "a directory cannot be replaced by a file"
      : "a file cannot be replaced by a directory";
    throw new Error(`${showPath(shown)} exists already, and ${kinds}; nothing was moved.`);
  }
  if (existing.isDirectory() && readdirSync(target).length > 0) {
    throw new Error(
      `${showPath(shown)} exists already, and a directory that holds something is never replaced; nothing was moved. Move or remove what is in it first.`,
    );
  }
}

/** The target as the caller would write it: with the file's name where only a directory was given. */
function inWordsOf(destination: string, target: string): string {
  return basename(resolve(destination)) === basename(target)
    ? destination
    : join(destination, basename(target));
}

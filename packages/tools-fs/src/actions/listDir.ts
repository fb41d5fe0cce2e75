import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { escapeToLine, optionalBoolean, optionalInteger, optionalString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { fsCause } from "../fsError.js";
import { missingError } from "../missing.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import type { Workspace } from "../workspace.js";

// Nothing to escape in it; true of nearly every name, and much cheaper to ask.
const PLAIN_NAME = /^[ -~]*$/;

/** Lists one directory: one entry a line, sorted by name, whatever the names contain. */
export const listDirectory: Action = async (workspace, args) => {
  const path = optionalString(args, "path", ".");
  const details = optionalBoolean(args, "details", false);
  const offset = optionalInteger(args, "offset", 1, { min: 1 });
  let target = path;
  try {
    target = workspace.locate(path);
    refuseOthers(path, target);
    const held = workspace.hold(target);
    try {
      return await list(workspace, held.path, { path, details, offset });
    } finally {
      held.close();
    }
  } catch (error) {
    throw await missingError(error, "list", path, target);
  }
};

async function list(
  workspace: Workspace,
  directory: string,
  asked: { path: string; details: boolean; offset: number },
): Promise<string> {
  const { path, details, offset } = asked;
  const entries = await readdir(directory, { withFileTypes: true });
  if (entries.length === 0) return "[The directory is empty.]";
  if (offset > entries.length) {
    throw new Error(
      `"offset" is ${offset}, but ${showPath(path)} has ${entries.length === 1 ? "1 entry" : `${entries.length} entries`}.`,
    );
  }
  const kinds = new Map<string, "directory" | "link">();
  for (const entry of entries) {
    if (entry.isDirectory()) kinds.set(entry.name, "directory");
    else if (entry.isSymbolicLink()) kinds.set(entry.name, "link");
  }
  // Names alone, in code unit order: sorting them is several times faster than sorting the entries.
  const names = entries.map(({ name }) => name).sort();
  const shown = names.slice(offset - 1, offset - 1 + workspace.limits.maxEntries);
  // One look at all names together takes far less time than one at each.
  const asItIs = PLAIN_NAME.test(shown.join(""));
  const lines = shown.map((name) => {
    const line = marked(
      directory,
      name,
      asItIs || PLAIN_NAME.test(name) ? name : escapeToLine(name),
      kinds.get(name),
    );
    return details ? detailed(directory, name, line) : line;
  });
  const rest = entries.length - (offset - 1) - shown.length;
  if (rest > 0) {
    const next = JSON.stringify({ path, ...(details && { details }), offset: offset + shown.length });
    lines.push(`[${rest} more of ${entries.length} entries. To read on, call list_dir with ${next}]`);
  }
  return lines.join("\n");
}

function refuseOthers(path: string, target: string): void {
  const info = statSync(target);
  if (info.isDirectory()) return;
  const hint = info.isFile() ? " Use read_file to read it." : "";
  throw new Error(`${showPath(path)} is a ${kindOf(info)}, not a directory.${hint}`);
}

function marked(
  directory: string,
  name: string,
  line: string,
  kind: "directory" | "link" | undefined,
): string {
  if (kind === "directory") return `${line}/`;
  return kind === "link" ? `${line} -> ${linkTarget(directory, name)}` : line;
}

function detailed(directory: string, name: string, line: string): string {
  const info = lookAt(join(directory, name));
  // Still an entry of the listing that was asked for.
  if (typeof info === "string") return `${info}\t-\t-\t${line}`;
  // Some disks know times that are out of reach for a calendar.
  const isDate = !Number.isNaN(info.mtime.getTime());
  const time = isDate ? info.mtime.toISOString().replace(/\.\d+/, "") : "-";
  return `${kindOf(info)}\t${info.size}\t${time}\t${line}`;
}

/** What the system says of an entry, or why it says nothing: it is gone by now, or nobody may look at it. */
function lookAt(path: string): Stats | "missing" | "unreadable" {
  try {
    // A name that is not UTF-8 cannot be given back to the system as it was.
    return lstatSync(path, { throwIfNoEntry: false }) ?? (path.includes("\ufffd") ? "unreadable" : "missing");
  } catch {
    return "unreadable";
  }
}

function linkTarget(directory: string, name: string): string {
  try {
    return escapeToLine(readlinkSync(join(directory, name)));
  } catch (error) {
    return `? (${fsCause(error)})`;
  }
}

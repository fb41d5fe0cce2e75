import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ApprovalRequest } from "@agent/core";
import { applyEdits, editsOf, readRegularFile } from "@agent/internal";
import { lineDiff } from "../display/lineDiff.js";

const LARGEST_FILE = 1024 * 1024;

/**
 * The change a call of `write_file` or `edit_file` would make, as the lines of a diff. Empty for other calls, for a
 * file that is too large or binary, and if the text to replace is not in the file.
 */
export function editPreview(
  { name, args }: Pick<ApprovalRequest, "name" | "args">,
  cwd: string,
): readonly string[] {
  const { path, content } = args;
  if (typeof path !== "string" || (name !== "write_file" && name !== "edit_file")) return [];
  const before = readText(resolve(cwd, path));
  if (before === undefined) return [];
  const after = name === "write_file" ? content : applyEdits(before, editsOf(args), 2 * LARGEST_FILE);
  return typeof after === "string" ? lineDiff(before, after) : [];
}

/** The text of a file; "" for one that is not there yet. Never waits for a pipe or a device. */
function readText(path: string): string | undefined {
  const bytes = readRegularFile(path, LARGEST_FILE + 1);
  if (bytes === undefined) return existsSync(path) ? undefined : "";
  if (bytes.length > LARGEST_FILE || bytes.includes(0)) return undefined;
  return bytes.toString("utf8");
}

import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ApprovalRequest } from "@agent/core";
import { lineDiff } from "../display/lineDiff.js";

const LARGEST_FILE = 1024 * 1024;

/**
 * What a call of `write_file` or `edit_file` would change, as the lines of a diff; none for other calls, for a file that
 * is too large or binary, and where the text to replace is not there.
 */
export async function editPreview(
  { name, args }: Pick<ApprovalRequest, "name" | "args">,
  cwd: string,
): Promise<readonly string[]> {
  const { path, content, old_text: oldText, new_text: newText } = args;
  if (typeof path !== "string" || (name !== "write_file" && name !== "edit_file")) return [];
  const before = await readText(resolve(cwd, path));
  if (name === "write_file") {
    return before === undefined || typeof content !== "string" ? [] : lineDiff(before, content);
  }
  if (before === undefined || typeof oldText !== "string" || typeof newText !== "string") return [];
  const at = before.indexOf(oldText);
  if (at === -1 || oldText === "") return [];
  const after =
    args.replace_all === true
      ? before.replaceAll(oldText, () => newText)
      : before.slice(0, at) + newText + before.slice(at + oldText.length);
  return lineDiff(before, after);
}

/** The text of a file; "" for one that is not there yet. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isFile() || stats.size > LARGEST_FILE) return undefined;
    const text = await readFile(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "" : undefined;
  }
}

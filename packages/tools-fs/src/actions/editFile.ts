import { statSync } from "node:fs";
import { countOf, describeValue, isRecord, optionalBoolean, requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { applied, compactDiff } from "../edit/diff.js";
import { type Edit, planEdits } from "../edit/plan.js";
import { asTextFile } from "../edit/textFile.js";
import { binaryType } from "../fileType.js";
import { missingError } from "../missing.js";
import { showPath } from "../pathText.js";
import { readWhole } from "../readWhole.js";
import { replaceFile } from "../replaceFile.js";
import { stampOf } from "../seenFiles.js";
import { requireWholeText } from "../wellFormed.js";
import type { Workspace } from "../workspace.js";

/** Replaces text in a file. Either every edit of a call applies or the file stays as it was. */
export const editFile: Action = async (workspace, args, call) => {
  const path = requireString(args, "path");
  const edits = readEdits(args);
  let target = path;
  try {
    target = workspace.locateToWrite(path);
    const found = target;
    return await workspace.locks.run([found], () => edit(workspace, path, found, edits, call?.signal), call);
  } catch (error) {
    throw await missingError(error, "edit", path, target);
  }
};

async function edit(
  workspace: Workspace,
  path: string,
  target: string,
  edits: readonly Edit[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const whole = await readWhole(workspace, target, path);
  if (whole === undefined) throw Object.assign(new Error("missing"), { code: "ENOENT" });
  const { bytes, info } = whole;
  if (workspace.seen.hasChanged(target, info, bytes)) throw changed(path);
  const file = asTextFile(bytes);
  if (file === undefined) {
    throw new Error(`${showPath(path)} is not a text file (${binaryType(bytes)}), so it cannot be edited.`);
  }

  const { regions, remarks } = planEdits(file, edits);
  const content = file.toBytes(applied(file.text, regions));
  if (content.equals(bytes)) throw new Error(`The edit would change nothing in ${showPath(path)}.`);
  workspace.protection.checkContent(target, bytes.toString("utf8"), content.toString("utf8"));
  if (stampOf(statSync(target, { bigint: true })) !== stampOf(info)) throw changed(path);
  signal?.throwIfAborted();
  await replaceFile(workspace, target, content);

  const head = [`Edited ${showPath(path)}: ${countOf(regions.length, "replacement")}.`, ...remarks].join(" ");
  return `${head}\n${file.toShown(compactDiff(file.text, regions))}`;
}

function changed(path: string): Error {
  return new Error(
    `${showPath(path)} was changed on disk since it was last read; nothing was changed. Read it again, then edit.`,
  );
}

function readEdits(args: Record<string, unknown>): Edit[] {
  const { edits = [] } = args;
  if (!Array.isArray(edits)) throw new Error(`"edits" must be an array, got ${describeValue(edits)}.`);
  const several = edits.map((edit: unknown, index) => {
    if (!isRecord(edit)) throw new Error(`"edits[${index}]" must be an object, got ${describeValue(edit)}.`);
    return readEdit(edit, `edits[${index}].`);
  });
  const alone = args.old_text !== undefined || args.new_text !== undefined || several.length === 0;
  return alone ? [readEdit(args, ""), ...several] : several;
}

function readEdit(args: Record<string, unknown>, prefix: string): Edit {
  const name = `${prefix}old_text`;
  const oldText = requireWholeText(args, "old_text", name);
  const newText = requireWholeText(args, "new_text", `${prefix}new_text`);
  if (oldText === "") {
    throw new Error(`"${name}" must not be empty. To write a whole file, use write_file.`);
  }
  if (oldText === newText)
    throw new Error(`"${name}" and its new_text are the same: there is nothing to change.`);
  return { name, oldText, newText, replaceAll: optionalBoolean(args, "replace_all", false) };
}

import { lstatSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CallDescription, defineTool, type FileDiff, type ToolCall } from "@agent/core";
import { compactDiff, countOf, errorMessage, fileDiff, requireString } from "@agent/core/toolkit";
import { asTextFile, type TextFile } from "../edit/textFile.js";
import { fsError } from "../errors/fsError.js";
import { applyChunks } from "../patch/applyChunks.js";
import { type FilePatch, PATCH_GRAMMAR, parsePatch } from "../patch/parsePatch.js";
import { namesDirectory, showPath } from "../paths/pathText.js";
import { binaryType } from "../read/fileType.js";
import { readWhole, type WholeFile } from "../read/readWhole.js";
import { kindOf } from "../read/regularFile.js";
import { digestOf } from "../read/seenFiles.js";
import { checkWorkspace, Workspace, type WorkspaceStep } from "../workspace.js";
import { changedSinceShown, isReadWithApproval, versionOf } from "../write/fileVersion.js";
import { replaceFile } from "../write/replaceFile.js";
import { WRITES } from "./capabilities.js";
import { approvedCall, describeSteps, showsAll } from "./describeSteps.js";

const EMPTY = asTextFile(Buffer.alloc(0));

const DESCRIPTION = `Change files with a patch: all of its changes are made, or none. Format:
*** Begin Patch
*** Add File: new.txt
+line
*** Update File: src/app.py
*** Move to: src/main.py
@@ def greet():
 context line
-removed line
+added line
*** Delete File: old.txt
*** End Patch
"Move to" and "@@ LINE" are optional. Show about three unchanged lines around each change; "@@ LINE" names a line further up if that is not unique.`;

/** The state of one file while a patch is computed: on disk, and after the patch. */
interface PatchedFile {
  readonly path: string;
  readonly target: string;
  readonly whole: WholeFile | undefined;
  readonly file: TextFile;
  /** The text after the changes so far; `undefined` if there is no file. */
  text: string | undefined;
  movedFrom?: string;
  isMoved?: boolean;
}

interface PatchPlan {
  readonly files: readonly PatchedFile[];
  readonly remarks: readonly string[];
  readonly basis: string;
}

const INPUT = {
  type: "object",
  properties: { input: { type: "string", description: "The whole patch" } },
  required: ["input"],
  additionalProperties: false,
} as const;

/**
 * Adds, changes, moves and deletes files with one patch. Everything is checked before the first file is written.
 * `mayDelete` means that the user enabled deleting files. Otherwise, a deletion needs approval.
 */
export function applyPatchTool(workspace = new Workspace(), mayDelete: () => boolean = () => false) {
  checkWorkspace(workspace);
  const describe = (input: Readonly<Record<string, unknown>>): CallDescription => {
    const described = describeSteps(workspace, () =>
      readPatch(input).flatMap((patch) => stepsOf(workspace, patch)),
    );
    if (described.refusal !== undefined) return described;
    const files = readPatch(input);
    const deletes = files.some(({ type }) => type === "delete") && !mayDelete();
    return {
      ...described,
      title: files.map(({ path }) => path).join(", "),
      kind: "edit",
      ...(deletes && { caution: "it deletes files, and the tool remove is off" }),
    };
  };
  return defineTool({
    name: "apply_patch",
    description: DESCRIPTION,
    input: INPUT,
    capabilities: WRITES,
    insteadOf: "edit_file",
    freeform: { argument: "input", lark: PATCH_GRAMMAR },
    // The patch is too long for a title; `describe` names the files.
    titleFrom: [],
    describe,
    async preview(input, { signal }) {
      try {
        const call = approvedCall(describe(input), signal);
        const patches = readPatch(input);
        const isSecret = patches.some(({ path }) => isReadWithApproval(workspace, workspace.locate(path)));
        const { files, basis } = await plan(workspace, patches, call);
        // The error messages of a patch quote the file, and so would the diff.
        if (isSecret) return { changes: [], basis };
        const changes = files.map((file) => diffOf(workspace, file));
        const isShown = changes.every((diff) => diff.change !== "edited" || showsAll(diff));
        return { changes, basis, ...(isShown && { shows: ["input"] }) };
      } catch (error) {
        signal.throwIfAborted();
        return { changes: [], refusal: errorMessage(error) };
      }
    },
    async execute(input, call) {
      const patches = readPatch(input);
      const targets = new Set(patches.flatMap((patch) => targetsOf(workspace, patch)));
      return await workspace.change([...targets].sort(), () => apply(workspace, patches, call), call);
    },
  });
}

function stepsOf(workspace: Workspace, patch: FilePatch): WorkspaceStep[] {
  if (patch.type === "delete") return [{ action: "takeAway", path: workspace.locateEntry(patch.path) }];
  const file = workspace.locateBoth(patch.path);
  const newContent = (before: string | undefined): string | undefined => patchedText(before, patch);
  if (patch.type === "add") return [{ action: "write", ...file, newContent }];
  if (patch.moveTo === undefined)
    return [
      { action: "read", ...file },
      { action: "write", ...file, newContent },
    ];
  const destination = workspace.locateBoth(patch.moveTo);
  return [
    { action: "move", path: workspace.locateEntry(patch.path) },
    { action: "write", ...destination, newContent },
  ];
}

function targetsOf(workspace: Workspace, patch: FilePatch): string[] {
  if (patch.type === "delete") return [workspace.locateEntry(patch.path)];
  const moved = patch.type === "update" && patch.moveTo !== undefined;
  return [workspace.locate(patch.path), ...(moved ? [workspace.locate(patch.moveTo)] : [])];
}

/** Computes all changes without writing anything. Throws if one of them is impossible or not allowed. */
async function plan(
  workspace: Workspace,
  patches: readonly FilePatch[],
  call: ToolCall | undefined,
): Promise<PatchPlan> {
  const files = new Map<string, PatchedFile>();
  const remarks: string[] = [];
  const open = async (path: string, target: string): Promise<PatchedFile> => {
    const known = files.get(target);
    if (known) return known;
    const opened = await openPatched(workspace, path, target, call);
    files.set(target, opened);
    return opened;
  };
  for (const patch of patches) {
    const { path } = patch;
    try {
      if (patch.type === "delete") {
        const target = locateToDelete(workspace, path, call);
        const file = await open(path, target);
        if (file.text === undefined) throw missing(path);
        file.text = undefined;
        continue;
      }
      const target = workspace.locateToWrite(path, call);
      const file = await open(path, target);
      if (patch.type === "add") {
        if (namesDirectory(path)) throw new Error(`${showPath(path)} names a directory.`);
        file.text = addedText(patch.lines);
        continue;
      }
      if (file.text === undefined) throw missing(path);
      const patched = applyChunks(file.file, file.text, patch.chunks, path);
      remarks.push(...patched.remarks.map((remark) => `${path}: ${remark}`));
      if (patch.moveTo === undefined) {
        file.text = patched.text;
        continue;
      }
      const source = workspace.locateEntry(path);
      if (source !== target) throw new Error(`${showPath(path)} is a link, which a patch cannot move.`);
      workspace.assertAllowed({ action: "move", path: source }, call);
      const destination = await open(patch.moveTo, workspace.locateToWrite(patch.moveTo, call));
      if (destination === file) throw new Error(`${showPath(path)} cannot be moved to itself.`);
      // The moved text keeps its encoding.
      files.set(destination.target, {
        ...destination,
        file: file.file,
        text: patched.text,
        movedFrom: file.path,
      });
      file.text = undefined;
      file.isMoved = true;
    } catch (error) {
      throw fsError(error, "patch", path);
    }
  }
  const changed = [...files.values()].filter((file) => !isSame(file));
  if (changed.length === 0) throw new Error("The patch would change nothing.");
  for (const file of changed) checkContent(workspace, file, call);
  const tokens = changed.map(({ target, whole }) =>
    whole ? versionOf(workspace, target, whole).token : `absent ${target}`,
  );
  return { files: changed, remarks, basis: digestOf(Buffer.from(JSON.stringify(tokens))) };
}

function locateToDelete(workspace: Workspace, path: string, call: ToolCall | undefined): string {
  const target = workspace.locateEntry(path);
  workspace.assertAllowed({ action: "takeAway", path: target }, call);
  const info = lstatSync(target, { throwIfNoEntry: false });
  if (info && !info.isFile()) throw new Error(`${showPath(path)} is a ${kindOf(info)}, not a regular file.`);
  return target;
}

async function openPatched(
  workspace: Workspace,
  path: string,
  target: string,
  call: ToolCall | undefined,
): Promise<PatchedFile> {
  const whole = await readWhole(workspace, target, path, call);
  if (whole && workspace.seen.hasChanged(target, whole.info, whole.bytes)) {
    throw new Error(
      `${showPath(path)} was changed on disk since it was last read. Nothing was changed. Read it again, then patch.`,
    );
  }
  const file = whole ? asTextFile(whole.bytes) : EMPTY;
  if (file === undefined) {
    throw new Error(`${showPath(path)} is not a text file (${binaryType(whole?.bytes ?? Buffer.alloc(0))}).`);
  }
  return { path, target, whole, file, text: whole ? file.text : undefined };
}

function checkContent(
  workspace: Workspace,
  { target, whole, file, text }: PatchedFile,
  call: ToolCall | undefined,
): void {
  const { protection } = workspace;
  if (text === undefined || !protection.hasContentRule(target)) return;
  const after = file.toBytes(text).toString("utf8");
  protection.checkContent(target, whole?.bytes.toString("utf8"), after, call?.granted);
}

async function apply(
  workspace: Workspace,
  patches: readonly FilePatch[],
  call: ToolCall | undefined,
): Promise<string> {
  const { files, remarks, basis } = await plan(workspace, patches, call);
  if (call?.basis !== undefined && call.basis !== basis)
    throw changedSinceShown(files[0]?.path ?? "The file");
  call?.signal?.throwIfAborted();
  const done: PatchedFile[] = [];
  // Deletions come last: until then every text is on disk.
  const ordered = [...files].sort((a, b) => Number(a.text === undefined) - Number(b.text === undefined));
  try {
    for (const file of ordered) {
      await writePatched(workspace, file, call);
      done.push(file);
    }
  } catch (error) {
    const lost = await revert(workspace, done);
    const state =
      lost.length === 0 ? "Nothing was changed." : `Not restored: ${lost.map(showPath).join(", ")}.`;
    throw new Error(`${errorMessage(error)} ${state}`);
  }
  const diffs = files.map((file) => diffOf(workspace, file));
  call?.report?.({
    ok: true,
    summary: countOf(files.length, "file"),
    view: { type: "diff", files: diffs },
  });
  return [...files.filter(({ isMoved }) => !isMoved).map(report), ...remarks].join("\n");
}

async function writePatched(
  workspace: Workspace,
  { path, target, whole, file, text }: PatchedFile,
  call: ToolCall | undefined,
): Promise<void> {
  const onChanged = (): Error => new Error(`${showPath(path)} was changed by another program meanwhile.`);
  if (text !== undefined) {
    const basis = { expected: whole, onChanged };
    await replaceFile(workspace, target, file.toBytes(text), { basis, signal: call?.signal });
    return;
  }
  const pinned = workspace.pin(dirname(target));
  try {
    await unlink(join(pinned.path, basename(target)));
    workspace.seen.forget(target);
  } catch (error) {
    throw fsError(error, "delete", path);
  } finally {
    pinned.close();
  }
}

/** Restores files. Returns the paths of those that could not be. */
async function revert(workspace: Workspace, done: readonly PatchedFile[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { path, target, whole } of done.toReversed()) {
    try {
      if (whole) await replaceFile(workspace, target, whole.bytes);
      else await unlink(target);
    } catch {
      lost.push(path);
    }
  }
  return lost;
}

function diffOf(workspace: Workspace, file: PatchedFile): FileDiff {
  const { target, whole, file: own, text, movedFrom } = file;
  const before = whole ? own.text : "";
  const change = text === undefined ? "deleted" : movedFrom ? "moved" : whole ? "edited" : "created";
  const diff = fileDiff(target, before, text ?? "", { change, toShown: own.toShown });
  return movedFrom === undefined ? diff : { ...diff, oldPath: workspace.locateEntry(movedFrom) };
}

function readPatch(args: Readonly<Record<string, unknown>>): FilePatch[] {
  return parsePatch(requireString(args, "input"));
}

function addedText(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function isSame({ whole, file, text, movedFrom }: PatchedFile): boolean {
  if (movedFrom !== undefined) return false;
  return whole === undefined ? text === undefined : text === file.text;
}

/** The text after one patch, for rules about contents; `undefined` if the patch does not apply. */
function patchedText(before: string | undefined, patch: FilePatch): string | undefined {
  if (patch.type === "delete") return undefined;
  if (patch.type === "add") return addedText(patch.lines);
  const file = before === undefined ? undefined : asTextFile(Buffer.from(before));
  if (file === undefined) return undefined;
  try {
    return applyChunks(file, file.text, patch.chunks, patch.path).text;
  } catch {
    // `execute` reports why.
    return undefined;
  }
}

function report({ path, whole, file, text, movedFrom }: PatchedFile): string {
  if (text === undefined) return `Deleted ${showPath(path)}`;
  if (movedFrom !== undefined) {
    return `Moved ${showPath(movedFrom)} to ${showPath(path)}${whole ? ", which it replaced" : ""}`;
  }
  if (!whole) return `Created ${showPath(path)} (${countOf(text.split("\n").length - 1, "line")})`;
  return `Edited ${showPath(path)}\n${file.toShown(compactDiff(file.text, text))}`;
}

function missing(path: string): Error {
  return new Error(`${showPath(path)} does not exist.`);
}

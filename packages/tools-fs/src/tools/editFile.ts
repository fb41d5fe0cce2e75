import { type CallDescription, defineTool, type ToolCall } from "@agent/core";
import {
  applyEdits,
  compactDiff,
  countOf,
  describeValue,
  fileDiff,
  isRecord,
  optionalBoolean,
  requireString,
} from "@agent/core/toolkit";
import { type Edit, planEdits } from "../edit/plan.js";
import { asTextFile } from "../edit/textFile.js";
import { missingError } from "../errors/missing.js";
import { showPath } from "../paths/pathText.js";
import { binaryType } from "../read/fileType.js";
import { readWhole } from "../read/readWhole.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import { assertShown, isReadWithApproval, readVersion, versionOf } from "../write/fileVersion.js";
import { replaceFile } from "../write/replaceFile.js";
import { requireWellFormedText } from "../write/wellFormedText.js";
import { WRITES } from "./capabilities.js";
import { approvedCall, describeSteps, showsAll } from "./describeSteps.js";

const OLD_TEXT = { type: "string", description: "Text to replace; it must occur exactly once" } as const;
const NEW_TEXT = { type: "string", description: "Text to put in its place" } as const;
const REPLACE_ALL = { type: "boolean", description: "Replace every occurrence (default: false)" } as const;

/** The arguments that the diff shows. */
const SHOWN = ["old_text", "new_text", "replace_all", "edits"];

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: {
    path: { type: "string", description: "File to change" },
    old_text: OLD_TEXT,
    new_text: NEW_TEXT,
    replace_all: REPLACE_ALL,
    edits: {
      type: "array",
      description: "Several edits in one call, each found in the file as it is now",
      items: {
        type: "object",
        properties: { old_text: OLD_TEXT, new_text: NEW_TEXT, replace_all: REPLACE_ALL },
        required: ["old_text", "new_text"],
        additionalProperties: false,
      },
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

/** Replaces text in a file. Either every edit of a call applies or the file stays as it was. */
export function editFileTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  const describe = (input: Readonly<Record<string, unknown>>): CallDescription =>
    describeSteps(workspace, () => {
      const file = workspace.locateBoth(requireString(input, "path"));
      // The diff shows lines of the file.
      return [
        { action: "read", ...file },
        { action: "write", ...file, newContent: (before) => edited(before, input) },
      ];
    });
  return defineTool({
    name: "edit_file",
    description:
      "Replace text in a file, keeping its line breaks and encoding. Pass old_text and new_text, or several such pairs in edits: then all apply or none. Returns a diff.",
    input: INPUT,
    capabilities: WRITES,
    titleFrom: "path",
    pathArguments: PATHS,
    describe,
    async preview(input, { signal }) {
      const path = requireString(input, "path");
      const call = approvedCall(describe(input), signal);
      let target = path;
      try {
        target = workspace.locateToWrite(path, call);
        // The error messages of an edit quote the file, so nothing is tried before the user has approved reading it.
        if (isReadWithApproval(workspace, target)) {
          return { changes: [], basis: (await readVersion(workspace, target, path, call)).token };
        }
        const { file, regions, whole } = await plan(workspace, path, target, readEdits(input), call);
        const diff = fileDiff(workspace.locateEntry(path), file.text, regions, { toShown: file.toShown });
        const { token } = versionOf(workspace, target, whole);
        return { changes: [diff], basis: token, ...(showsAll(diff) && { shows: SHOWN }) };
      } catch (error) {
        signal.throwIfAborted();
        return { changes: [], refusal: (await missingError(error, "edit", path, target)).message };
      }
    },
    async execute(input, call) {
      const path = requireString(input, "path");
      const edits = readEdits(input);
      let target = path;
      try {
        target = workspace.locateToWrite(path, call);
        const found = target;
        return await workspace.change([found], () => edit(workspace, path, found, edits, call), call);
      } catch (error) {
        throw await missingError(error, "edit", path, target);
      }
    },
  });
}

async function edit(
  workspace: Workspace,
  path: string,
  target: string,
  edits: readonly Edit[],
  call: ToolCall | undefined,
): Promise<string> {
  const { whole, file, regions, remarks, content } = await plan(workspace, path, target, edits, call);
  call?.signal?.throwIfAborted();
  const { remark } = await replaceFile(workspace, target, content, {
    basis: { expected: whole, onChanged: () => changed(path) },
    signal: call?.signal,
  });
  if (call?.wantsView) {
    const diff = fileDiff(workspace.locateEntry(path), file.text, regions, { toShown: file.toShown });
    call.report?.({ ok: true, view: { type: "diff", files: [diff] } });
  }
  const said = remark === undefined ? remarks : [...remarks, remark];
  const head = [`Edited ${showPath(path)}: ${countOf(regions.length, "replacement")}.`, ...said].join(" ");
  return `${head}\n${file.toShown(compactDiff(file.text, regions))}`;
}

/** Reads the file and computes the changes of the edits. Throws if they are impossible or not allowed. */
async function plan(
  workspace: Workspace,
  path: string,
  target: string,
  edits: readonly Edit[],
  call: ToolCall | undefined,
) {
  const { seen, protection } = workspace;
  const whole = await readWhole(workspace, target, path, call);
  if (whole === undefined) throw Object.assign(new Error("missing"), { code: "ENOENT" });
  if (call?.basis !== undefined) assertShown(versionOf(workspace, target, whole), path, call.basis);
  const { bytes, info } = whole;
  if (seen.hasChanged(target, info, bytes)) throw changed(path);
  const file = asTextFile(bytes);
  if (file === undefined) {
    throw new Error(`${showPath(path)} is not a text file (${binaryType(bytes)}), so it cannot be edited.`);
  }

  const { regions, remarks } = planEdits(file, edits, target);
  const content = file.toBytes(applyEdits(file.text, regions));
  if (content.equals(bytes)) throw new Error(`The edit would change nothing in ${showPath(path)}.`);
  if (protection.hasContentRule(target)) {
    protection.checkContent(target, bytes.toString("utf8"), content.toString("utf8"), call?.granted);
  }
  return { whole, file, regions, remarks, content };
}

/** The text after the edits of a call; `undefined` if they do not apply. */
function edited(before: string | undefined, args: Readonly<Record<string, unknown>>): string | undefined {
  const file = before === undefined ? undefined : asTextFile(Buffer.from(before));
  if (file === undefined) return undefined;
  try {
    return applyEdits(file.text, planEdits(file, readEdits(args), requireString(args, "path")).regions);
  } catch {
    // `execute` reports why.
    return undefined;
  }
}

function changed(path: string): Error {
  return new Error(
    `${showPath(path)} was changed on disk since it was last read; nothing was changed. Read it again, then edit.`,
  );
}

function readEdits(args: Readonly<Record<string, unknown>>): Edit[] {
  const { edits = [] } = args;
  if (!Array.isArray(edits)) throw new Error(`"edits" must be an array, got ${describeValue(edits)}.`);
  const several = edits.map((edit: unknown, index) => {
    if (!isRecord(edit)) throw new Error(`"edits[${index}]" must be an object, got ${describeValue(edit)}.`);
    return readEdit(edit, `edits[${index}].`);
  });
  // Some models fill in every argument: empty texts next to edits, or no edits next to texts.
  const isGiven = [args.old_text, args.new_text].some((text) => text !== undefined && text !== "");
  if (args.edits !== undefined && several.length === 0 && !isGiven) {
    throw new Error('"edits" must not be empty. Pass at least one pair of old_text and new_text.');
  }
  const alone = isGiven || several.length === 0;
  return alone ? [readEdit(args, ""), ...several] : several;
}

function readEdit(args: Readonly<Record<string, unknown>>, prefix: string): Edit {
  const name = `${prefix}old_text`;
  const oldText = requireWellFormedText(args, "old_text", name);
  const newText = requireWellFormedText(args, "new_text", `${prefix}new_text`);
  if (oldText === "") {
    throw new Error(`"${name}" must not be empty. To write a whole file, use write_file.`);
  }
  if (oldText === newText)
    throw new Error(`"${name}" and its new_text are the same: there is nothing to change.`);
  return { name, oldText, newText, replaceAll: optionalBoolean(args, "replace_all", false) };
}

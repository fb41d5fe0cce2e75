import { statSync } from "node:fs";
import { type CallDescription, defineTool, type FileDiff, type ToolCall } from "@agent/core";
import { countOf, fileDiff, requireString } from "@agent/core/toolkit";
import { asTextFile } from "../edit/textFile.js";
import { fsError } from "../errors/fsError.js";
import { namesDirectory, showPath } from "../paths/pathText.js";
import { readWhole } from "../read/readWhole.js";
import { kindOf } from "../read/regularFile.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import {
  assertShown,
  changedSinceShown,
  type FileVersion,
  readToShow,
  readVersion,
} from "../write/fileVersion.js";
import { type Basis, replaceFile } from "../write/replaceFile.js";
import { requireWellFormedText } from "../write/wellFormedText.js";
import { WRITES } from "./capabilities.js";
import { approvedCall, describeSteps, showsAll } from "./describeSteps.js";

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: {
    path: { type: "string", description: "File to write" },
    content: { type: "string", description: "The complete new content" },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

/** Writes a whole file atomically: a crash or a full disk leaves the old content or the new, never a part. */
export function writeFileTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  const describe = (input: { readonly path: string; readonly content: string }): CallDescription =>
    describeSteps(workspace, () => {
      const file = workspace.locateBoth(requireString({ ...input }, "path"));
      return [{ action: "write", ...file, newContent: () => input.content }];
    });
  return defineTool({
    name: "write_file",
    description:
      "Write a whole file as UTF-8, replacing what it held. Creates missing parent directories, keeps the mode of an existing file and writes through symbolic links.",
    input: INPUT,
    capabilities: WRITES,
    titleFrom: "path",
    pathArguments: PATHS,
    describe,
    async preview(input, { signal }) {
      const path = requireString(input, "path");
      try {
        const content = requireWellFormedText(input, "content");
        const call = approvedCall(describe(input), signal);
        const target = locate(workspace, path, call);
        await check(workspace, path, target, content, call);
        const version = await readVersion(workspace, target, path, call);
        const diff = diffOf(workspace, path, version, content);
        const basis = version.token;
        // The replaced content cannot be shown: the user sees the whole argument instead.
        if (diff === undefined) return { changes: [], basis };
        return { changes: [diff], basis, ...(showsAll(diff) && { shows: ["content"] }) };
      } catch (error) {
        signal.throwIfAborted();
        return { changes: [], refusal: fsError(error, "write", path).message };
      }
    },
    async execute(input, call) {
      const path = requireString(input, "path");
      const content = requireWellFormedText(input, "content");
      try {
        const target = locate(workspace, path, call);
        return await workspace.change([target], () => write(workspace, path, target, content, call), call);
      } catch (error) {
        throw fsError(error, "write", path);
      }
    },
  });
}

function locate(workspace: Workspace, path: string, call: ToolCall | undefined): string {
  const target = workspace.locateToWrite(path, call);
  if (namesDirectory(path)) refuseDirectoryName(path);
  return target;
}

async function check(
  workspace: Workspace,
  path: string,
  target: string,
  content: string,
  call: ToolCall | undefined,
): Promise<void> {
  const { protection } = workspace;
  refuseOtherKinds(path, target);
  if (!protection.hasContentRule(target)) return;
  const before = await readWhole(workspace, target, path, call);
  protection.checkContent(target, before?.bytes.toString("utf8"), content, call?.granted);
}

async function write(
  workspace: Workspace,
  path: string,
  target: string,
  content: string,
  call: ToolCall | undefined,
): Promise<string> {
  await check(workspace, path, target, content, call);
  const bytes = Buffer.from(content, "utf8");
  const basis =
    call?.basis === undefined ? undefined : await findBasis(workspace, path, target, call, call.basis);
  const replaced = call?.wantsView ? await readToShow(workspace, target, path, call) : undefined;
  const { created, lines, remark } = await replaceFile(workspace, target, bytes, {
    ...(basis && { basis }),
    signal: call?.signal,
  });
  const diff = replaced && diffOf(workspace, path, replaced, content);
  if (diff) {
    const isSame = replaced.whole?.bytes.equals(bytes) === true;
    call?.report?.({
      ok: true,
      view: { type: "diff", files: [diff] },
      ...(isSame && { summary: "nothing changed" }),
    });
  }
  const size = `${countOf(bytes.length, "byte")}, ${countOf(lines, "line")}`;
  const done = `${created ? "Created" : "Replaced"} ${showPath(path)} (${size})`;
  return remark === undefined ? done : `${done}. ${remark}`;
}

/** The change of a file to the new content; `undefined` if the replaced content cannot be shown. */
function diffOf(
  workspace: Workspace,
  path: string,
  { info, whole }: FileVersion,
  content: string,
): FileDiff | undefined {
  const file = whole && asTextFile(whole.bytes);
  if (info !== undefined && !file?.isDecoded) return undefined;
  const before = file?.text ?? "";
  const change = info === undefined ? "created" : "edited";
  return fileDiff(workspace.locateEntry(path), before, content, { change });
}

/** The version that the user saw. Throws if the file has changed since. */
async function findBasis(
  workspace: Workspace,
  path: string,
  target: string,
  call: ToolCall,
  basis: string,
): Promise<Basis> {
  const version = await readVersion(workspace, target, path, call);
  assertShown(version, path, basis);
  const { info, whole } = version;
  return { expected: whole ?? (info && { info }), onChanged: () => changedSinceShown(path) };
}

function refuseDirectoryName(path: string): never {
  throw new Error(`${showPath(path)} names a directory. Pass the path of a file, or use mkdir.`);
}

function refuseOtherKinds(path: string, target: string): void {
  const info = statSync(target, { throwIfNoEntry: false });
  if (!info || info.isFile()) return;
  throw new Error(`${showPath(path)} is a ${kindOf(info)}, and only regular files can be written.`);
}

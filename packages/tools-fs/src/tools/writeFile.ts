import { statSync } from "node:fs";
import type { CallPreview, ChatTool, DescribeOptions, FileDiff, ToolCall } from "@agent/core";
import { countOf, functionTool, requireString } from "@agent/core/toolkit";
import { differingRegion, fileDiff, showsAll } from "../edit/fileDiff.js";
import { asTextFile } from "../edit/textFile.js";
import { fsError } from "../errors/fsError.js";
import { namesDirectory, showPath } from "../paths/pathText.js";
import { readWhole } from "../read/readWhole.js";
import { kindOf } from "../read/regularFile.js";
import type { Step } from "../workspace.js";
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
import { FileTool } from "./fileTool.js";

/** Writes a whole file, atomically: a crash or a full disk leaves the old content or the new, never a part. */
export class WriteFileTool extends FileTool {
  readonly name = "write_file";
  readonly capabilities = WRITES;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Write a whole file as UTF-8, replacing what it held. Creates missing parent directories, keeps the mode of an existing file and writes through symbolic links.",
      {
        path: { type: "string", description: "File to write" },
        content: { type: "string", description: "The complete new content" },
      },
    );
  }

  protected findSteps(args: Readonly<Record<string, unknown>>): Step[] {
    const { content } = args;
    const newContent = () => (typeof content === "string" ? content : undefined);
    return [{ action: "write", ...this.workspace.locateBoth(requireString(args, "path")), newContent }];
  }

  async previewCall(
    args: Readonly<Record<string, unknown>>,
    { signal }: DescribeOptions,
  ): Promise<CallPreview> {
    const path = requireString(args, "path");
    try {
      const content = requireWellFormedText(args, "content");
      const call = this.approved(args, signal);
      const target = this.#locate(path, call);
      await this.#check(path, target, content, call);
      const version = await readVersion(this.workspace, target, path, call);
      const diff = this.#diff(path, version, content);
      const basis = version.token;
      // What is replaced cannot be shown: the user sees the whole argument instead.
      if (diff === undefined) return { changes: [], basis };
      return { changes: [diff], basis, ...(showsAll(diff) && { shows: ["content"] }) };
    } catch (error) {
      signal.throwIfAborted();
      return { changes: [], refusal: fsError(error, "write", path).message };
    }
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    const content = requireWellFormedText(args, "content");
    try {
      const target = this.#locate(path, call);
      return await this.workspace.change([target], () => this.#write(path, target, content, call), call);
    } catch (error) {
      throw fsError(error, "write", path);
    }
  }

  #locate(path: string, call: ToolCall | undefined): string {
    const target = this.workspace.locateToWrite(path, call);
    if (namesDirectory(path)) refuseDirectoryName(path);
    return target;
  }

  async #check(path: string, target: string, content: string, call: ToolCall | undefined): Promise<void> {
    const { protection } = this.workspace;
    refuseOtherKinds(path, target);
    if (!protection.hasContentRule(target)) return;
    const before = await readWhole(this.workspace, target, path, call);
    protection.checkContent(target, before?.bytes.toString("utf8"), content, call?.granted);
  }

  async #write(path: string, target: string, content: string, call: ToolCall | undefined): Promise<string> {
    await this.#check(path, target, content, call);
    const bytes = Buffer.from(content, "utf8");
    const basis =
      call?.basis === undefined ? undefined : await this.#findBasis(path, target, call, call.basis);
    const replaced = call?.wantsView ? await readToShow(this.workspace, target, path, call) : undefined;
    const { created, lines, remark } = await replaceFile(this.workspace, target, bytes, {
      ...(basis && { basis }),
      signal: call?.signal,
    });
    const diff = replaced && this.#diff(path, replaced, content);
    if (diff) call?.report?.({ ok: true, view: { type: "diff", files: [diff] } });
    const size = `${countOf(bytes.length, "byte")}, ${countOf(lines, "line")}`;
    const done = `${created ? "Created" : "Replaced"} ${showPath(path)} (${size})`;
    return remark === undefined ? done : `${done}. ${remark}`;
  }

  /** The change of a file to the new content; `undefined` if what is replaced cannot be shown. */
  #diff(path: string, { info, whole }: FileVersion, content: string): FileDiff | undefined {
    const file = whole && asTextFile(whole.bytes);
    if (info !== undefined && !file?.isDecoded) return undefined;
    const before = file?.text ?? "";
    const change = info === undefined ? "created" : "edited";
    return fileDiff(this.workspace.locateEntry(path), change, before, differingRegion(before, content));
  }

  /** The version that the user was shown. Throws if the file has changed since. */
  async #findBasis(path: string, target: string, call: ToolCall, basis: string): Promise<Basis> {
    const version = await readVersion(this.workspace, target, path, call);
    assertShown(version, path, basis);
    const { info, whole } = version;
    return { expected: whole ?? (info && { info }), onChanged: () => changedSinceShown(path) };
  }
}

function refuseDirectoryName(path: string): never {
  throw new Error(`${showPath(path)} names a directory. Pass the path of a file, or use mkdir.`);
}

function refuseOtherKinds(path: string, target: string): void {
  const info = statSync(target, { throwIfNoEntry: false });
  if (!info || info.isFile()) return;
  throw new Error(`${showPath(path)} is a ${kindOf(info)}, and only regular files can be written.`);
}

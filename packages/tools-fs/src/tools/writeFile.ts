import { statSync } from "node:fs";
import type { ChatTool, ToolCall } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import { fsError } from "../errors/fsError.js";
import { namesDirectory, showPath } from "../paths/pathText.js";
import { readWhole } from "../read/readWhole.js";
import { kindOf } from "../read/regularFile.js";
import type { Step } from "../workspace.js";
import { replaceFile } from "../write/replaceFile.js";
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

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    const content = requireWellFormedText(args, "content");
    try {
      const target = this.workspace.locateToWrite(path, call);
      if (namesDirectory(path)) refuseDirectoryName(path);
      return await this.workspace.change([target], () => this.#write(path, target, content, call), call);
    } catch (error) {
      throw fsError(error, "write", path);
    }
  }

  async #write(path: string, target: string, content: string, call: ToolCall | undefined): Promise<string> {
    const { protection } = this.workspace;
    refuseOtherKinds(path, target);
    if (protection.hasContentRule(target)) {
      const before = await readWhole(this.workspace, target, path, call);
      protection.checkContent(target, before?.bytes.toString("utf8"), content, call?.granted);
    }
    const bytes = Buffer.from(content, "utf8");
    const { created, lines, remark } = await replaceFile(this.workspace, target, bytes, {
      signal: call?.signal,
    });
    const size = `${countOf(bytes.length, "byte")}, ${countOf(lines, "line")}`;
    const done = `${created ? "Created" : "Replaced"} ${showPath(path)} (${size})`;
    return remark === undefined ? done : `${done}. ${remark}`;
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

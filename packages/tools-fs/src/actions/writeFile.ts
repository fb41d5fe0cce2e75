import { statSync } from "node:fs";
import type { ToolCall } from "@agent/core";
import { countOf, requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { fsError } from "../fsError.js";
import { namesDirectory, showPath } from "../pathText.js";
import { readWhole } from "../readWhole.js";
import { kindOf } from "../regularFile.js";
import { replaceFile } from "../replaceFile.js";
import { requireWholeText } from "../wellFormed.js";
import type { Workspace } from "../workspace.js";

/** Writes a whole file, atomically: a crash or a full disk leaves the old content or the new, never a part. */
export const writeFile: Action = async (workspace, args, call) => {
  const path = requireString(args, "path");
  const content = requireWholeText(args, "content");
  try {
    return await write(workspace, path, content, call);
  } catch (error) {
    throw fsError(error, "write", path);
  }
};

async function write(
  workspace: Workspace,
  path: string,
  content: string,
  call: ToolCall | undefined,
): Promise<string> {
  const target = workspace.locateToWrite(path);
  if (namesDirectory(path)) refuseDirectoryName(path);
  const write = async (): Promise<string> => {
    refuseOtherKinds(path, target);
    if (workspace.protection.judgesContent(target)) {
      const before = await readWhole(workspace, target, path);
      workspace.protection.checkContent(target, before?.bytes.toString("utf8"), content);
    }
    const bytes = Buffer.from(content, "utf8");
    const { created, lines } = await replaceFile(workspace, target, bytes);
    const size = `${countOf(bytes.length, "byte")}, ${countOf(lines, "line")}`;
    return `${created ? "Created" : "Replaced"} ${showPath(path)} (${size})`;
  };
  return await workspace.locks.run([target], write, call);
}

function refuseDirectoryName(path: string): never {
  throw new Error(`${showPath(path)} names a directory. Pass the path of a file, or use mkdir.`);
}

function refuseOtherKinds(path: string, target: string): void {
  const info = statSync(target, { throwIfNoEntry: false });
  if (!info || info.isFile()) return;
  throw new Error(`${showPath(path)} is a ${kindOf(info)}, and only regular files can be written.`);
}

import { type BigIntStats, fstatSync } from "node:fs";
import type { ToolCall } from "@agent/core";
import { readUnsaved } from "../editor/unsavedText.js";
import { isMissing } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import type { Workspace } from "../workspace.js";
import { readFullyAsync } from "./readBytes.js";
import { type OpenFile, openRegularFile } from "./regularFile.js";
import { stampOf } from "./seenFiles.js";

const MAX_BYTES = 64 * 1024 * 1024;

/** A whole file in memory: with unsaved changes (`bytes`), as stored (`onDisk`), and its stat. */
export interface WholeFile {
  /** The content as the person sees it: with changes that are not saved in the editor yet. */
  readonly bytes: Buffer;
  readonly onDisk: Buffer;
  readonly info: BigIntStats;
}

/** Reads a whole regular file in order to change it; `undefined` if it does not exist. Throws above 64 MiB. */
export async function readWhole(
  workspace: Workspace,
  target: string,
  shown: string,
  call: ToolCall | undefined,
): Promise<WholeFile | undefined> {
  const file = openIfThere(workspace, target, shown, call);
  if (file === undefined) return undefined;
  try {
    const size = Number(file.info.size);
    if (size > MAX_BYTES) {
      throw new Error(
        `${showPath(shown)} has ${size} bytes; the most that can be changed in place is ${MAX_BYTES}.`,
      );
    }
    const buffer = Buffer.allocUnsafe(size + 1);
    const length = await readFullyAsync(file.fd, buffer, 0);
    const info = fstatSync(file.fd, { bigint: true });
    if (length !== Number(info.size)) {
      throw new Error(
        stampOf(info) === stampOf(file.info)
          ? `${showPath(shown)} is made up by the system while it is read, and cannot be replaced.`
          : `${showPath(shown)} is being written by another program. Try again when it is done.`,
      );
    }
    const onDisk = buffer.subarray(0, length);
    return { bytes: (await readUnsaved(workspace, target, onDisk, call?.signal)) ?? onDisk, onDisk, info };
  } finally {
    file.close();
  }
}

function openIfThere(
  workspace: Workspace,
  target: string,
  shown: string,
  call: ToolCall | undefined,
): OpenFile | undefined {
  try {
    return openRegularFile(workspace, target, shown, call);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

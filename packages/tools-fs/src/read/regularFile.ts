import { type BigIntStats, closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import type { ToolCall } from "@agent/core";
import { assertNotProcessSecret, assertOpenedIsNotProcessSecret } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import type { Workspace } from "../workspace.js";

// The open never waits for a writer (FIFO), never acquires a controlling terminal, and never follows a symlink.
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** A regular file open for reading. */
export interface OpenFile {
  readonly fd: number;
  readonly info: BigIntStats;
  close(): void;
}

/**
 * Opens a canonical path for reading if it is a readable regular file. Checks this before opening and again on the open
 * file. `shown` is the path as the caller wrote it, for messages.
 */
export function openRegularFile(
  workspace: Workspace,
  path: string,
  shown: string,
  call: Pick<ToolCall, "granted"> | undefined,
): OpenFile {
  assertNotProcessSecret(path, shown);
  workspace.assertAllowed({ action: "read", path }, call);
  refuseOthers(statSync(path, { bigint: true }), shown);
  const fd = openSync(path, READ_FLAGS);
  try {
    const info = fstatSync(fd, { bigint: true });
    refuseOthers(info, shown);
    assertOpenedIsNotProcessSecret(fd, info, shown);
    workspace.assertOpened(fd, path, shown, call);
    return { fd, info, close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The kind of a directory entry, as one word. */
export function kindOf(info: KindOfEntry): string {
  if (info.isFile()) return "file";
  if (info.isDirectory()) return "directory";
  if (info.isSymbolicLink()) return "link";
  if (info.isFIFO()) return "fifo";
  if (info.isSocket()) return "socket";
  if (info.isCharacterDevice() || info.isBlockDevice()) return "device";
  return "unknown";
}

interface KindOfEntry {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isCharacterDevice(): boolean;
  isBlockDevice(): boolean;
}

function refuseOthers(info: BigIntStats, shown: string): void {
  if (info.isFile()) return;
  if (info.isDirectory())
    throw new Error(`${showPath(shown)} is a directory. Use list_dir to see what is in it.`);
  throw new Error(`${showPath(shown)} is a ${kindOf(info)}, and only regular files can be read.`);
}

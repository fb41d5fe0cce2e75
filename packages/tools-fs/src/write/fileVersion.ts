import { type BigIntStats, lstatSync } from "node:fs";
import type { ToolCall } from "@agent/core";
import { showPath } from "../paths/pathText.js";
import { MAX_BYTES, readWhole, type WholeFile } from "../read/readWhole.js";
import { digestOf, stampOf } from "../read/seenFiles.js";
import type { Workspace } from "../workspace.js";

const MAX_SHOWN_BYTES = 4 * 1024 * 1024;

/** The state of a file on which a displayed change is based. */
export interface FileVersion {
  /** Differs as soon as the path resolves elsewhere or the content changes. */
  readonly token: string;
  /** Absent if there is no file. */
  readonly info?: BigIntStats;
  /** Absent if the file is too large, or needs approval to read. */
  readonly whole?: WholeFile;
}

/** Finds the state of the file at a canonical path. */
export async function readVersion(
  workspace: Workspace,
  target: string,
  shown: string,
  call: ToolCall | undefined,
): Promise<FileVersion> {
  const info = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (info === undefined) return { token: tokenOf(target, "absent") };
  if (info.size > MAX_BYTES || isReadWithApproval(workspace, target)) {
    return { token: tokenOf(target, stampOf(info)), info };
  }
  const whole = await readWhole(workspace, target, shown, call);
  if (whole === undefined) return { token: tokenOf(target, "absent") };
  return versionOf(workspace, target, whole);
}

/** The state of a file for displaying a change; `undefined` if it is large or cannot be read. */
export async function readToShow(
  workspace: Workspace,
  target: string,
  shown: string,
  call: ToolCall,
): Promise<FileVersion | undefined> {
  try {
    const info = lstatSync(target, { bigint: true, throwIfNoEntry: false });
    if (info !== undefined && (!info.isFile() || info.size > MAX_SHOWN_BYTES)) return undefined;
    return await readVersion(workspace, target, shown, call);
  } catch {
    // The call itself reports the error.
    return undefined;
  }
}

/** The version of a file that was read already. */
export function versionOf(workspace: Workspace, target: string, whole: WholeFile): FileVersion {
  const { info, bytes } = whole;
  // The digest of secret content must not leave the tool.
  const isSecret = isReadWithApproval(workspace, target);
  return {
    token: tokenOf(target, isSecret ? stampOf(info) : digestOf(bytes)),
    info,
    ...(!isSecret && { whole }),
  };
}

/** Throws if the user saw another version than this one. */
export function assertShown({ token }: FileVersion, shown: string, basis: string): void {
  if (token !== basis) throw changedSinceShown(shown);
}

export function changedSinceShown(shown: string): Error {
  return new Error(
    `${showPath(shown)} was changed after the user was shown what this call would change; nothing was written. Read it again, then make the call anew.`,
  );
}

/** Whether the access rules require approval to read a file. */
export function isReadWithApproval(workspace: Workspace, target: string): boolean {
  return workspace.findNeeds({ action: "read", path: target }).length > 0;
}

function tokenOf(target: string, state: string): string {
  return digestOf(Buffer.from(JSON.stringify([target, state])));
}

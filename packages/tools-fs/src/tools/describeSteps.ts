import type { CallDescription, CallTarget, FileDiff, ToolCall } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { Workspace, WorkspaceStep } from "../workspace.js";

const ACCESS = {
  read: "read",
  write: "write",
  place: "write",
  makeDirectory: "write",
  move: "delete",
  takeAway: "delete",
} as const satisfies Record<WorkspaceStep["action"], string>;

/** Describes a call by its steps. `findSteps` throws the errors that the call would throw. */
export function describeSteps(
  workspace: Workspace,
  findSteps: () => readonly WorkspaceStep[],
): CallDescription {
  let steps: readonly WorkspaceStep[];
  try {
    steps = findSteps();
  } catch (error) {
    // A system error may no longer occur when the call runs, so only the pack's own errors count as refusals.
    return error instanceof Error && "code" in error ? {} : { refusal: errorMessage(error) };
  }
  return {
    targets: steps.map(toTarget),
    needs: steps.flatMap((step) => workspace.findNeeds(step)),
  };
}

/** Whether a diff shows every change. */
export function showsAll({ hunks, more }: FileDiff): boolean {
  return hunks.length > 0 && more === undefined;
}

/** A call as it would run with the user's approval. */
export function approvedCall({ needs = [] }: CallDescription, signal: AbortSignal): ToolCall {
  return { signal, granted: needs, onOutput: () => undefined };
}

function toTarget({ action, path, entry = path, tree, line }: WorkspaceStep): CallTarget {
  return {
    type: "file",
    path: entry,
    ...(entry !== path && { realPath: path }),
    access: ACCESS[action],
    ...(tree && { tree }),
    ...(line !== undefined && { line }),
  };
}

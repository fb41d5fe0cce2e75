import type { ApprovalRequest, Approve, CallHooks } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { FileChange } from "../display/fileChange.js";
import type { AlwaysChoice } from "../permissions/alwaysChoices.js";
import type { Permissions, PersonDecision } from "../permissions/permissions.js";
import type { UndoLog } from "../undo/undoLog.js";
import { editPreview } from "./editPreview.js";

const HOOK_LIMIT_MS = 120_000;

/** Asks a person about a call. `always` is what they can allow for good. */
export type AskPerson = (
  request: ApprovalRequest,
  preview: readonly string[],
  always: readonly AlwaysChoice[],
) => Promise<PersonDecision | "suspend">;

export interface GateOptions {
  readonly permissions: Permissions;
  readonly ask: AskPerson;
  /** The undo log, if file changes are recorded. */
  readonly undo: () => UndoLog | undefined;
  readonly cwd: string;
  /** Receives the change a call is about to make to a file. */
  readonly onPreview?: (id: string, change: FileChange) => void;
  readonly onProblem: (message: string) => void;
}

/**
 * The one place that decides about a call: the rules first, then the person. `/undo` records the files right before the
 * call runs, after the person has answered, so that a change the person makes meanwhile is not taken for the tool's.
 */
export function createGate(options: GateOptions): Approve {
  const { permissions, ask, undo, cwd, onPreview, onProblem } = options;
  return async (request) => {
    const ruling = permissions.decide(request);
    if (ruling.type === "deny") return { deny: ruling.reason };
    let diff = editPreview(request, cwd);
    let wasShown = false;
    if (ruling.type === "ask") {
      const decision = await ask(request, diff, permissions.alwaysChoices(request));
      if (decision === "suspend") return decision;
      if (decision !== "allow" && "deny" in decision) return decision;
      if (decision !== "allow") {
        await permissions.grant(decision.always, decision.scope).catch((error: unknown) => {
          onProblem(`this holds for the session only, it cannot be kept: ${errorMessage(error)}`);
        });
      }
      const asked = diff;
      // The file may have changed while the person thought about it.
      diff = editPreview(request, cwd);
      wasShown = diff.join("\n") === asked.join("\n");
    }
    onPreview?.(request.id, { diff, wasShown });
    await undo()?.before(request);
    return "allow";
  };
}

/** Turns core's `Approve` into an `AskPerson`. Its "always" allows the tool for this session. */
export function askWith(approve: Approve): AskPerson {
  return async (request) => {
    const decision = await approve(request);
    if (decision !== "always") return decision;
    return { always: { tool: request.name, exact: false }, scope: "session" };
  };
}

/** Records the end of every call for `/undo`. */
export function undoHooks(undo: () => UndoLog | undefined): CallHooks {
  return {
    name: "undo",
    timeoutMs: HOOK_LIMIT_MS,
    afterCall: async ({ id }) => {
      await undo()?.after(id);
      return undefined;
    },
  };
}

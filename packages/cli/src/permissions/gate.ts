import type { Approve, CallHooks, HookCall } from "@agent/core";
import type { AskUser, CallRules, PermissionPlace, Permissions } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import type { UndoLog } from "../undo/undoLog.js";

const HOOK_LIMIT_MS = 120_000;

export interface GateOptions {
  readonly permissions: Permissions;
  readonly ask: AskUser;
  /** The undo log, if file changes are recorded. */
  readonly undo: () => UndoLog | undefined;
  readonly onProblem: (message: string) => void;
  /** The work tree of a child agent, if the gate is for one. */
  readonly place?: PermissionPlace | undefined;
}

/** How an agent decides about calls: the rules first, then the user. */
export interface Gate {
  readonly rules: CallRules;
  readonly approve: Approve;
  readonly hooks: CallHooks;
}

/**
 * The one place that decides about a call. `/undo` records the files right before the call runs, after the user has
 * answered, so that a change the user makes meanwhile is not attributed to the tool.
 */
export function createGate(options: GateOptions): Gate {
  const { permissions, ask, undo, onProblem, place } = options;
  return {
    ...permissions.approval(ask, onProblem, place),
    hooks: {
      name: "undo",
      timeoutMs: HOOK_LIMIT_MS,
      beforeRun: async (call) => {
        await undo()?.before({ ...call, id: keyOf(call) }, place?.root);
      },
      afterCall: async (call) => {
        await undo()?.after(keyOf(call), place?.root);
        return undefined;
      },
    },
  };
}

/** Child agents that run at the same time may use the same ids. */
function keyOf({ scope, id }: HookCall): string {
  return `${scope}${id}`;
}

/** Converts core's `Approve` to an `AskUser`. Its "always" allows the tool for this session. */
export function askWith(approve: Approve): AskUser {
  return async (request) => {
    const decision = await approve(request);
    if (decision === "always") return { always: request.name, scope: "session" };
    if (decision === "allow") return "allow";
    if (decision === "suspend") return "suspend";
    if (typeof decision === "string") return { deny: `${quote(decision)} is not a decision.` };
    if ("deny" in decision) return decision;
    return { always: decision.always, scope: "session" };
  };
}

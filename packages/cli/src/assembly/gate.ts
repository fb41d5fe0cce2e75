import type { Approve, CallHooks } from "@agent/core";
import { type CallRules, parseRule } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import type { AskPerson, GrantScope } from "@agent/terminal/host";
import type { Permissions } from "../permissions/permissions.js";
import type { UndoLog } from "../undo/undoLog.js";

const HOOK_LIMIT_MS = 120_000;

export interface GateOptions {
  readonly permissions: Permissions;
  readonly ask: AskPerson;
  /** The undo log, if file changes are recorded. */
  readonly undo: () => UndoLog | undefined;
  readonly onProblem: (message: string) => void;
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
  const { permissions, ask, undo, onProblem } = options;
  const grant = (rule: string, scope: GrantScope): Promise<void> =>
    permissions.grant(parseRule(rule), scope).catch((error: unknown) => {
      onProblem(`this is allowed for the session only, because it cannot be stored: ${errorMessage(error)}`);
    });
  return {
    rules: {
      decide: (request) => permissions.decide(request),
      allow: (rule) => grant(rule, "session"),
    },
    approve: async (request) => {
      const runsInAuto = async (): Promise<boolean> =>
        (await permissions.decide(request, "auto")).type === "allow";
      const decision = await ask(request, await permissions.alwaysChoices(request), runsInAuto);
      if (decision === "suspend" || decision === "allow" || "deny" in decision) return decision;
      if ("mode" in decision) permissions.mode = decision.mode;
      else await grant(decision.always, decision.scope);
      return "allow";
    },
    hooks: {
      name: "undo",
      timeoutMs: HOOK_LIMIT_MS,
      beforeRun: async (call) => {
        await undo()?.before(call);
      },
      afterCall: async ({ id }) => {
        await undo()?.after(id);
        return undefined;
      },
    },
  };
}

/** Turns core's `Approve` into an `AskPerson`. Its "always" allows the tool for this session. */
export function askWith(approve: Approve): AskPerson {
  return async (request) => {
    const decision = await approve(request);
    if (decision === "always") return { always: request.name, scope: "session" };
    if (typeof decision === "string" || "deny" in decision) return decision;
    return { always: decision.always, scope: "session" };
  };
}

import type { CallPreview, DescribedCall } from "../tools/callDescription.js";
import type { ToolCapability } from "../tools/tool.js";
import type { AssistantMessage, ToolMessage } from "./conversation.js";

/** A call that waits for a decision and has not run. Holds everything a user needs to decide. */
export interface PendingCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** The targets and needs of the call: a decision is valid only for these. Absent for a call that cannot run. */
  readonly description?: DescribedCall;
  /** A preview of the change, if the tool provides one. */
  readonly preview?: CallPreview;
}

/** An answer with pending calls. It is added to the history once every call has its result. */
export interface PendingRound {
  readonly answer: AssistantMessage;
  /** The results of the calls that have already run. */
  readonly results: readonly ToolMessage[];
  readonly calls: readonly PendingCall[];
}

/**
 * Describes what is wrong with the pending calls of a saved session, as the end of a sentence; `undefined` if valid.
 */
export function findPendingProblem({ answer, results, calls }: PendingRound): string | undefined {
  const open = new Set((answer.tool_calls ?? []).map(({ id }) => id));
  for (const { tool_call_id: id } of results) {
    if (!open.delete(id)) return `a result answers the tool call "${id}", which no one made`;
  }
  if (!Array.isArray(calls) || calls.length === 0) return "no call waits for a decision";
  const unknown = calls.find((call) => !open.has(call?.id));
  return unknown === undefined
    ? undefined
    : `the call "${unknown?.id}" waits for a decision, and no one made it`;
}

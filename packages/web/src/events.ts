import type {
  AgentEvent,
  ApprovalDecision,
  ApprovalRequest,
  Content,
  PersonAnswer,
  PersonQuestion,
} from "@agent/core";
import type { ChatState } from "./state/chatState.js";

/** A call that waits for a decision. */
export interface PendingApproval
  extends Pick<ApprovalRequest, "name" | "args" | "capabilities" | "description" | "preview" | "label"> {
  /** The id of the question, not of the call: a model may use a call's id again, and one decision must not count for both. */
  readonly id: string;
  readonly callId: string;
}

/** A question of a tool to the user, such as one of `ask_user`. `source` is who asks, and has to be shown. */
export interface PendingQuestion extends Omit<PersonQuestion, "signal"> {
  readonly id: string;
}

/**
 * An event for a page, in order: everything that the agent reports, and what people did. `at` is when a message began, as an
 * ISO date, on the event that begins it.
 */
export type ChatEvent = { readonly at?: string } & (
  | AgentEvent
  /** The whole state: the first event of every connection. */
  | { readonly type: "snapshot"; readonly state: ChatState }
  /** A user's message was accepted and is being answered. With `replaces`, that message and all after it are gone. */
  | { readonly type: "sent"; readonly id: string; readonly content: Content; readonly replaces?: string }
  /** A saved conversation continues: calls that waited for a decision when it was saved are asked about again. */
  | { readonly type: "resumed" }
  | { readonly type: "approval"; readonly request: PendingApproval }
  | { readonly type: "decided"; readonly id: string }
  | { readonly type: "question"; readonly question: PendingQuestion }
  /** A question was answered, or its answer is not wanted any more. */
  | { readonly type: "answered"; readonly id: string }
  /** A user asked the agent to stop: running tools get a moment to end. */
  | { readonly type: "stopping" }
  | { readonly type: "stopped" }
  | { readonly type: "failed"; readonly message: string }
);

/** An action of a page, as the JSON body of a POST. */
export type ChatAction =
  /**
   * A new message, or an addition to the one being answered. With `replaces`, the id of an earlier message of the user, it
   * takes the place of that message and of all after it.
   */
  | { readonly type: "send"; readonly content: Content; readonly replaces?: string }
  | { readonly type: "decide"; readonly id: string; readonly decision: ApprovalDecision }
  | { readonly type: "answer"; readonly id: string; readonly answer: PersonAnswer }
  /** A message of the user is answered again: the one with this id, or the newest. All after it are gone. */
  | { readonly type: "regenerate"; readonly id?: string }
  | { readonly type: "stop" };

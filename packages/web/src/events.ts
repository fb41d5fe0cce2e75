import type {
  AgentEvent,
  ApprovalDecision,
  ApprovalRequest,
  Content,
  UserAnswer,
  UserQuestion,
} from "@agent/core";
import type { ChatState } from "./state/chatState.js";

/** A call that waits for a decision. */
export interface PendingApproval
  extends Pick<
    ApprovalRequest,
    "name" | "args" | "capabilities" | "description" | "preview" | "label" | "directory"
  > {
  /**
   * The id of the question, not of the call: a model may reuse a call's id, and one decision must not count for both.
   */
  readonly id: string;
  readonly callId: string;
}

/** A question of a tool to the user, such as one of `ask_user`. `source` is the asker, and must be shown. */
export interface PendingQuestion extends Omit<UserQuestion, "signal"> {
  readonly id: string;
}

/**
 * An event for a page, in order: everything that the agent reports, and the actions of users. `at` is when a message
 * began, as an ISO date, on its first event.
 */
export type ChatEvent = { readonly at?: string } & (
  | AgentEvent
  /** The whole state: the first event of every connection, which has the name that the answers to actions have too. */
  | { readonly type: "snapshot"; readonly state: ChatState; readonly chat?: string }
  /** A user message was accepted and is being answered. With `replaces`, that message and all after it are removed. */
  | { readonly type: "sent"; readonly id: string; readonly content: Content; readonly replaces?: string }
  /** A saved conversation continues: calls that waited for a decision when it was saved are asked about again. */
  | { readonly type: "resumed" }
  | { readonly type: "approval"; readonly request: PendingApproval }
  | { readonly type: "decided"; readonly id: string }
  | { readonly type: "question"; readonly question: PendingQuestion }
  /** A question was answered, or its answer is no longer needed. */
  | { readonly type: "answered"; readonly id: string }
  /** A user interrupted the agent: running tools have a moment to stop. */
  | { readonly type: "stopping" }
  | { readonly type: "stopped" }
  | { readonly type: "failed"; readonly message: string }
);

/** An action of a page, as the JSON body of a POST. */
export type ChatAction =
  /**
   * A new message, or one that steers the current answer. With `replaces`, the id of an earlier user message, it
   * replaces that message and all after it.
   */
  | { readonly type: "send"; readonly content: Content; readonly replaces?: string }
  | { readonly type: "decide"; readonly id: string; readonly decision: ApprovalDecision }
  | { readonly type: "answer"; readonly id: string; readonly answer: UserAnswer }
  /** A user message is answered again: the one with this id, or the newest. All after it are removed. */
  | { readonly type: "regenerate"; readonly id?: string }
  | { readonly type: "stop" };

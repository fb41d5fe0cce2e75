import type { AgentEvent, ApprovalDecision, ApprovalRequest, Content } from "@agent/core";
import type { ChatState } from "./state/chatState.js";

/** A call that waits for a person's decision. */
export interface PendingApproval extends Pick<ApprovalRequest, "name" | "args" | "capabilities" | "needs"> {
  /** The question's own: a model may use the id of a call again, and an answer given twice would count for both. */
  readonly id: string;
  readonly callId: string;
}

/** What a page is told, in order: everything the agent reports, and what people did. */
export type ChatEvent =
  | AgentEvent
  /** The whole state: the first event of every connection. */
  | { readonly type: "snapshot"; readonly state: ChatState }
  /** A person's message was accepted and is being answered. */
  | { readonly type: "sent"; readonly content: Content }
  /** A saved conversation goes on: calls that waited for a decision when it was saved are asked about again. */
  | { readonly type: "resumed" }
  | { readonly type: "approval"; readonly request: PendingApproval }
  | { readonly type: "decided"; readonly id: string }
  /** A person asked the agent to stop: running tools get a moment to end. */
  | { readonly type: "stopping" }
  | { readonly type: "stopped" }
  | { readonly type: "failed"; readonly message: string };

/** What a page asks for, as the JSON body of a POST. */
export type ChatAction =
  /** A new message, or an addition to the one being answered. */
  | { readonly type: "send"; readonly content: Content }
  | { readonly type: "decide"; readonly id: string; readonly decision: ApprovalDecision }
  | { readonly type: "stop" };

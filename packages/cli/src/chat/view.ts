import type { AgentEvent, ApprovalDecision, ApprovalRequest } from "@agent/core";
import type { Style } from "../display/style.js";

/** Where a chat is shown: a terminal with a live region, or plain lines. It shows; it decides nothing. */
export interface ChatView {
  readonly style: Style;
  /** How wide a line may be to stay one. */
  readonly columns: number;
  /** What `/help` says about the keys that work here. */
  readonly keys: readonly string[];
  /** Lines of the chat itself, safe to show. */
  print(lines: readonly string[]): void;
  event(event: AgentEvent): void;
  /** What the person sent, as it takes effect. */
  echo(input: string): void;
  turnStarted(): void;
  /** `problem` says why there is no answer, if there is none. */
  turnEnded(problem: string | undefined): void;
  ask(request: ApprovalRequest): Promise<ApprovalDecision>;
  /** Messages that wait for their turn, or none. */
  queued(messages: readonly string[]): void;
  /** Nothing is left to answer: it is the person's turn. */
  idle(): void;
  /** Puts text that was not sent back where the person can change it. */
  giveBack(text: string): void;
}

import type { AgentEvent, ApprovalRequest } from "@agent/core";
import type { Style } from "../display/style.js";
import type { PersonDecision } from "../permissions/permissions.js";
import type { MenuItem } from "./menu.js";
import type { Status } from "./statusRow.js";

export interface PickOptions {
  /** Whether what is typed is an answer by itself. An empty one is the selected item, or "" without any. */
  readonly takesText?: boolean;
  readonly signal?: AbortSignal;
}

/** The output of a chat: a terminal with a live region, or plain lines. It displays and decides nothing. */
export interface ChatView {
  readonly style: Style;
  /** How wide a line may be to stay one. */
  readonly columns: number;
  /** What `/help` says about the keys that work here. */
  readonly keys: readonly (readonly [keys: string, does: string])[];
  /** Lines of the chat itself, safe to show. */
  print(lines: readonly string[]): void;
  event(event: AgentEvent): void;
  /** What a call is about to change in a file, as the lines of a diff. */
  preview(id: string, diff: readonly string[]): void;
  /** What the person sent, as it takes effect. */
  echo(input: string): void;
  /** `doing` says what goes on where no event does. */
  turnStarted(doing?: string): void;
  /** `problem` says why there is no answer, if there is none. */
  turnEnded(problem: string | undefined): void;
  ask(request: ApprovalRequest, diff: readonly string[]): Promise<PersonDecision>;
  /** Lets the person choose; resolves to nothing if they do not want to, or when the signal aborts. */
  pick(title: string, items: readonly MenuItem[], options?: PickOptions): Promise<string | undefined>;
  /** What was shown in part, the newest first, and prints one of it by its place. */
  readonly expandable: readonly string[];
  expand(place: number): void;
  /** Messages that wait for their turn, or none. */
  queued(messages: readonly string[]): void;
  /** What is always visible, where something can be. */
  status(status: Status): void;
  /** A long turn has ended: the person may be elsewhere. */
  notify(): void;
  /** Nothing is left to answer: it is the person's turn. */
  idle(): void;
  /** Puts text that was not sent back where the person can change it. */
  giveBack(text: string): void;
}

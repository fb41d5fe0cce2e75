import type { AgentEvent, ApprovalRequest } from "@agent/core";
import type { AlwaysChoice, UserDecision } from "@agent/core/host";
import type { MenuItem } from "../input/menu.js";
import type { Status, StatusLook } from "../screen/statusRow.js";
import type { NotifyBy } from "../screen/terminalSignals.js";
import type { Style } from "../text/style.js";

export interface PickOptions {
  /**
   * Whether typed text is accepted as the answer. An empty line chooses the selected item, or is "" if there are no
   * items.
   */
  readonly takesText?: boolean;
  readonly signal?: AbortSignal;
}

/** The output of a chat: a terminal with a live region, or plain lines. It displays and makes no decisions. */
export interface ChatView {
  readonly style: Style;
  /** The width of a line, in columns. */
  readonly columns: number;
  /** The help text about the available keys. */
  readonly keys: readonly (readonly [keys: string, does: string])[];
  /** Lines of the chat itself, safe to display. */
  print(lines: readonly string[]): void;
  /** A question of a tool with its lines, safe to show. It is drawn in place of the call whose title it is, if one runs. */
  question(text: string, lines: readonly string[]): void;
  /** The answer to it. */
  answered(text: string): void;
  event(event: AgentEvent): void;
  /** The user's input, shown when it takes effect. */
  echo(input: string): void;
  /** `doing` describes work that reports no events. */
  turnStarted(doing?: string): void;
  /** `problem` explains why there is no answer, if there is none. */
  turnEnded(problem: string | undefined): void;
  /** `always` lists the permanent approvals on offer. */
  ask(request: ApprovalRequest, always: readonly AlwaysChoice[]): Promise<UserDecision>;
  /** Lets the user choose; resolves to `undefined` if they close the list, or when the signal aborts. */
  pick(title: string, items: readonly MenuItem[], options?: PickOptions): Promise<string | undefined>;
  /** The titles of truncated results, newest first. `expand` prints one of them by its index. */
  readonly expandable: readonly string[];
  expand(place: number): void;
  /** Queued messages. */
  queued(messages: readonly string[]): void;
  /** Updates the status row, if the view has one. */
  status(status: Status, look?: StatusLook): void;
  /** Draws attention when a long turn has ended or asks something, because the user may look elsewhere. */
  notify(text: string, by: NotifyBy): void;
  /** Sets the title of the terminal's window. */
  title(text: string): void;
  /** Shows in the terminal's tab whether work is running. */
  progress(isWorking: boolean): void;
  /** Copies a text to the clipboard. Returns why it cannot, if it cannot. */
  copy(text: string): string | undefined;
  /** Called when no message is left to answer: it is the user's turn. */
  idle(): void;
  /** Puts unsent text back on the input line. */
  giveBack(text: string): void;
}

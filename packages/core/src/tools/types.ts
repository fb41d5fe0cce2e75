import type { Content, ContentPart } from "../conversation/content.js";
import type { PendingRound } from "../conversation/pending.js";
import type { ChatMessage, FinishReason, TokenUsage } from "../providers/interface.js";
import type { CallContext } from "./callContext.js";

/** What a tool can do to the world: the vocabulary of `--read-only`, call ordering and display. */
export const TOOL_CAPABILITIES = ["read", "write", "destroy", "execute", "network"] as const;
export type ToolCapability = (typeof TOOL_CAPABILITIES)[number];

/** How the work of a call ended, in the tool's own words: `{ ok: false, summary: "exit code 2" }`. */
export interface ToolReport {
  readonly ok: boolean;
  readonly summary: string;
}

/** Something a call would do that needs a person's yes: a write outside the project, a read of a secret place. */
export interface AccessNeed {
  readonly kind: "read" | "write";
  /** The canonical path: every link resolved. */
  readonly path: string;
  /** Why it needs a yes, in words for a person: `outside the project`. */
  readonly reason: string;
}

/**
 * Where tools may go without asking. The host makes the rules and passes them to packs; a tool reports what a call
 * needs (`ExecutableTool.findAccessNeeds`) and enforces the rules again when it runs.
 */
export interface AccessRules {
  /** Canonical directories in which writing needs no yes. Absent: writing needs no yes anywhere. */
  readonly writable?: readonly string[];
  /** Canonical files and directories that are read only after a yes: keys, credentials, browser profiles. */
  readonly secret?: readonly string[];
}

/** What a running tool may use besides its arguments. Every part is optional for the tool to honour. */
export interface ToolCall {
  /** Aborts when the user cancels or the deadline passes. */
  readonly signal: AbortSignal;
  /** Live output for a display. The model never sees it. */
  onOutput(chunk: string): void;
  /** The needs of this call that a person granted. Anything else the access rules cover is refused by the tool. */
  readonly granted?: readonly AccessNeed[];
  /** Says which process does the work, for a person who wants to see or end it. Optional for a caller to offer. */
  onProcess?(pid: number): void;
  /**
   * Marks the call as failed, or sums up a success, although `execute` returns normally: a shell command
   * that exits with 2 still has output for the model, but must never be shown as a success. Optional for a
   * caller to offer: `call?.report?.({ ok: false, summary: "exit code 2" })`.
   */
  report?(status: ToolReport): void;
  /** Adds an image or a file to the result, after its text. Throws for what no model can be given. */
  attach?(part: ContentPart): void;
  /** What the caller of `chat` passed as `context`: the user, the tenant. */
  readonly context?: CallContext;
  /** Starts an agent of this call's own. Absent where no agent made the call. */
  startAgent?(request: ChildAgentRequest): Promise<ChildAgentAnswer>;
}

/** What a child agent is to do. It has its own conversation, and never more tools than its parent has enabled. */
export interface ChildAgentRequest {
  readonly message: Content;
  readonly systemPrompt?: string;
  /** The tools it may use, among those the parent has enabled. Default: all of them. */
  readonly tools?: readonly string[];
  /** The maximum number of model requests; the parent's own limit holds as well. */
  readonly maxTurns?: number;
  /** A few words for a display: what it is for. */
  readonly label?: string;
}

export interface ChildAgentAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly turns: number;
  readonly usage: TokenUsage;
}

/** The agent's live state, read through getters: never a copy, so a tool sees what is true now. */
export interface ToolContext {
  readonly systemPrompt: string;
  readonly sessionContext: readonly ChatMessage[];
  readonly sessionContextFilePath: string;
  /** Saves the conversation where it is recorded already. Absent: it is written to `sessionContextFilePath`. */
  readonly save?: ((reason: string) => Promise<void>) | undefined;
  /** The answer whose calls wait for a decision, if there is one. */
  readonly pending?: PendingRound | undefined;
}

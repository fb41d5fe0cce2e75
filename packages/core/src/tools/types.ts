import type { Content, ContentPart } from "../conversation/content.js";
import type { PackState } from "../conversation/packState.js";
import type { PendingRound } from "../conversation/pending.js";
import type { ChatMessage, Effort, FinishReason, TokenUsage } from "../providers/interface.js";
import type { Schema } from "../toolkit/jsonSchema/standardSchema.js";
import type { ToolResult } from "./execution.js";
import type { ResultView } from "./resultView.js";

/** What a tool can do to the world: the vocabulary of `--read-only`, call ordering and display. */
export const TOOL_CAPABILITIES = ["read", "write", "destroy", "execute", "network"] as const;
export type ToolCapability = (typeof TOOL_CAPABILITIES)[number];

/** How the work of a call ended: `{ ok: false, summary: "exit code 2" }`. A later report replaces the fields it has. */
export interface ToolReport {
  /** `false` marks the call as failed although `execute` returns normally. */
  readonly ok?: boolean;
  /** One short line for a display. */
  readonly summary?: string;
  /** How a display draws the result. At most 16 KB; what is longer is cut and counted. */
  readonly view?: ResultView;
  /** The result as data, for programs. At most 64 KB of JSON; a longer one is dropped. */
  readonly value?: unknown;
}

/** How far a call has come, for a display. */
export interface ToolProgress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

/** Something a call would do that needs the user's approval: a write outside the project, a read of a secret place. */
export interface AccessNeed {
  readonly kind: "read" | "write";
  /** The canonical path: every link resolved. */
  readonly path: string;
  /** Why it needs approval, for the user: `outside the project`. */
  readonly reason: string;
}

/**
 * Where tools may go without asking. The host makes the rules and passes them to packs; a tool reports what a call
 * needs (`ExecutableTool.describeCall`) and enforces the rules again when it runs.
 */
export interface AccessRules {
  /** Canonical directories in which writing needs no approval. Absent: writing needs no approval anywhere. */
  readonly writable?: readonly string[];
  /** Canonical files and directories that are read only after approval: keys, credentials, browser profiles. */
  readonly secret?: readonly string[];
}

/** What a running tool may use besides its arguments. Every part is optional for the tool to honour. */
export interface ToolCall<Context = unknown> {
  /** Aborts when the user cancels or the deadline passes. */
  readonly signal: AbortSignal;
  /** Live output for a display. The model never sees it. */
  onOutput(chunk: string): void;
  /**
   * The needs of this call that were shown to the user and approved. The tool refuses anything else that the access rules
   * cover.
   */
  readonly granted?: readonly AccessNeed[];
  /** The `basis` of the preview that the user saw. Refuse the call if the state has changed since. */
  readonly basis?: string;
  /** Reports the process that does the work, for a user who wants to see or stop it. Optional for a caller to offer. */
  onProcess?(pid: number): void;
  /** Reports how far the call has come. Optional for a caller to offer. */
  progress?(progress: ToolProgress): void;
  /**
   * Marks the call as failed, or sums up a success, although `execute` returns normally: a shell command
   * that exits with 2 still has output for the model, but must never be shown as a success. Optional for a
   * caller to offer: `call?.report?.({ ok: false, summary: "exit code 2" })`.
   */
  report?(status: ToolReport): void;
  /** Whether a view of the result is shown or stored. If not, a tool need not make one. */
  readonly wantsView?: boolean;
  /** Adds an image or a file to the result, after its text. Throws for what no model can be given. */
  attach?(part: ContentPart): void;
  /** What the caller of `chat` passed as `context`: the user, the tenant. */
  readonly context?: Context;
  /** Starts a child agent for this call. Absent where no agent made the call. */
  startAgent?(request: ChildAgentRequest): Promise<ChildAgentAnswer>;
  /**
   * Calls another tool of the agent: it is validated, approved, limited, recorded and shown like any call. Never rejects
   * for a call that fails; rejects once this call has ended. Absent where no agent made the call.
   */
  callTool?(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

/** A call as `defineTool` passes it to `execute`: with everything that works without an agent. */
export type DefinedToolCall<Context = unknown> = ToolCall<Context> &
  Required<Pick<ToolCall, "granted" | "onProcess" | "progress" | "report" | "attach">> &
  (unknown extends Context ? object : { readonly context: Context });

/** What a child agent is to do. It has its own conversation, and never more tools than its parent has enabled. */
export interface ChildAgentRequest {
  readonly message: Content;
  /** Earlier messages of the child, as `ChildAgentAnswer.messages` had them: the child continues that conversation. */
  readonly history?: readonly ChatMessage[];
  readonly systemPrompt?: string;
  /** The tools it may use, among those the parent has enabled. Default: all of them. */
  readonly tools?: readonly string[];
  /** The maximum number of model requests; the parent's own limit holds as well. */
  readonly maxTurns?: number;
  /** How much it thinks. Default: as its parent. */
  readonly effort?: Effort;
  /** The model it uses, by a name that the host knows. Default: as its parent. Rejects where the host knows no such model. */
  readonly model?: string;
  /** Lets it use the agent's small model, if there is one: for reading and summing up. */
  readonly small?: boolean;
  /** What its requests may cost in dollars. The limits of its parent hold as well. */
  readonly maxCost?: number;
  /** How many tokens its requests and answers may take together. */
  readonly maxTokens?: number;
  /** The form of its answer, which is then in `output`. */
  readonly output?: Schema;
  /** Lets it run only while no other exclusive child of the same parent runs: for children that change files. */
  readonly exclusive?: boolean;
  /** A few words for a display: what it is for. */
  readonly label?: string;
}

export interface ChildAgentAnswer {
  readonly text: string;
  /** The value of the form that `output` asked for. */
  readonly output?: unknown;
  readonly finishReason: FinishReason;
  readonly turns: number;
  readonly usage: TokenUsage;
  /** The whole conversation of the child, for `history`. */
  readonly messages: readonly ChatMessage[];
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
  /** What a pack keeps with the conversation. Absent where nothing is kept. */
  packState?(pack: string): PackState;
}

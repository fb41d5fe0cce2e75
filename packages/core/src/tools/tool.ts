import type { Content, ContentPart } from "../conversation/content.js";
import type { PackState } from "../conversation/packState.js";
import type { PendingRound } from "../conversation/pending.js";
import type { ChatMessage, Effort, FinishReason, TokenUsage } from "../providers/interface.js";
import type { Schema, StandardSchema } from "../toolkit/jsonSchema/standardSchema.js";
import type { CallDescription, CallPreview, PermissionLanguage, ToolKind } from "./callDescription.js";
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
  /**
   * Whether the decision about the call relied on its description as `contained`. Then run it contained, whatever has
   * changed since, or not at all.
   */
  readonly contained?: boolean;
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
  Required<Pick<ToolCall, "granted" | "onProcess" | "progress" | "report" | "attach">> & {
    /** Whether the caller takes attached parts. Without it `attach` does nothing. */
    readonly canAttach: boolean;
  } & (unknown extends Context ? object : { readonly context: Context });

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

/** A JSON Schema object. Kept structural so that a pack's types never pull in an SDK. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What the model sees about one tool: the function-tool shape of the chat completions API. */
export interface ChatTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** JSON Schema of the arguments; absent means the tool takes none. */
    readonly parameters?: JsonSchema;
    readonly strict?: boolean | null;
  };
}

/** How a model may write the one argument of a tool as plain text instead of JSON, where its server supports that. */
export interface FreeformInput {
  /** The argument that the text is for. */
  readonly argument: string;
  /** The grammar that the text follows, in the syntax of Lark. */
  readonly lark: string;
}

/** Valid arguments as the tool wants them, or an error message for the model. */
export type ParsedArguments = { readonly value: Record<string, unknown> } | { readonly problem: string };

export interface DescribeOptions {
  /** Aborts when the description is no longer wanted. */
  readonly signal: AbortSignal;
}

/** The call of another tool that a call stands for. */
export interface RedirectedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * One thing the model can do. `getSchema().function.name` equals `name`; `execute` resolves to the text
 * the model reads, and throws to fail: the registry alone turns errors into text.
 */
export interface ExecutableTool {
  readonly name: string;
  /** What running it can do to the world. Used for read-only mode, ordering and display. */
  readonly capabilities?: readonly ToolCapability[];
  /**
   * Milliseconds the registry waits before it gives up on a call, instead of the registry's own default.
   * `Infinity` is for a tool that enforces its own limit.
   */
  readonly deadlineMs?: number;
  /**
   * Whether a call that was interrupted may simply be run again: its effects are the same the second time, or all its
   * work is done by child agents. Default: only if `read` is all it does, over the network or not.
   */
  readonly repeatable?: boolean;
  /**
   * The arguments that name a call, for drafts, requests and old sessions: `"path"`, `["source", "destination"]`.
   * Default: the first required string of the schema.
   */
  readonly titleFrom?: string | readonly string[];
  /**
   * The arguments that are paths, or lists of paths. A model sometimes quotes one, ends it with a line break or writes it
   * as a `file:` address: the agent reads it as it is meant.
   */
  readonly pathArguments?: readonly string[];
  /** The kind of work it does, for display. Default: by its capabilities. */
  readonly kind?: ToolKind;
  /** The JSON Schema of the value that a call reports as its result, if it reports one. */
  readonly outputSchema?: JsonSchema;
  /**
   * Another tool of the same pack that this one replaces where it is offered. Lists and rules that name the other tool
   * turn this one on or off, ask about it and deny it as well; a rule that allows the other one does not.
   */
  readonly insteadOf?: string;
  /** For a tool whose only argument is a long text, such as a patch: how a model may write it without JSON around it. */
  readonly freeform?: FreeformInput;
  /** The patterns of rules for this tool, if its targets are not files, addresses or plain text. */
  readonly permissions?: PermissionLanguage;
  /** How long `describeCall` may take. Default 2000. More is for a tool that has to try something before its first call. */
  readonly describeLimitMs?: number;
  /**
   * Describes a call with these valid arguments: what it acts on and what it needs approval for under the host's
   * `AccessRules`. Has no side effect and is cheap: it looks at names and attributes, and reads no files. Called right
   * before the call is decided about; if it fails or takes longer than `describeLimitMs`, the targets are unknown.
   */
  describeCall?(
    args: Readonly<Record<string, unknown>>,
    options: DescribeOptions,
  ): CallDescription | Promise<CallDescription>;
  /** Shows what a call would change. Called only before the user is asked; it has five seconds, and may read files. */
  previewCall?(
    args: Readonly<Record<string, unknown>>,
    options: DescribeOptions,
  ): CallPreview | undefined | Promise<CallPreview | undefined>;
  /** The needs of a call, for tools that have no `describeCall`. */
  findAccessNeeds?(args: Readonly<Record<string, unknown>>): readonly AccessNeed[];
  /**
   * Checks the arguments instead of the registry's check by the schema, and gives `execute` what it wants in their
   * place: a date for a text, defaults filled in. Used by `defineTool` for schema libraries.
   */
  parseArguments?(args: Readonly<Record<string, unknown>>): ParsedArguments | Promise<ParsedArguments>;
  /**
   * The call that is meant by these valid arguments: the tool with that name is looked up, validated, approved and
   * run instead of this one. For a tool that stands for many, such as those of a large server. Has no side effect.
   */
  redirect?(args: Readonly<Record<string, unknown>>): RedirectedCall | undefined;
  getSchema(): ChatTool;
  execute(args: Record<string, unknown>, call?: ToolCall): Promise<string>;
}

/**
 * A type for the `context` of an agent and its tools, where there is no schema that checks it: a connection, an object of
 * the program's own classes.
 *
 * @example
 * ```ts
 * import { Agent, contextType, defineTool } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const context = contextType<{ readonly user: string }>();
 * const whoami = defineTool({
 *   name: "whoami",
 *   description: "Says who asks.",
 *   context,
 *   input: { type: "object" },
 *   execute: (_input, call) => call.context.user,
 * });
 * const agent = new Agent(scriptedProvider(["Hello."]), { tools: [whoami], context });
 * await agent.chat("Hi.", { context: { user: "ann" } });
 * ```
 */
export function contextType<Context>(): StandardSchema<Context> {
  return {
    "~standard": { version: 1, vendor: "@agent/core", validate: (value) => ({ value: value as Context }) },
  };
}

/** Options whose `context` may be left out only if the agent declares no type for it. */
export type WithContext<Options, Context> = unknown extends Context
  ? [options?: Options & { readonly context?: Context }]
  : [options: Options & { readonly context: Context }];

// Function names that the chat completions API accepts, also inside the history.
const MAX_LENGTH = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

export function isToolName(name: string): boolean {
  return name !== "" && name.length <= MAX_LENGTH && name.search(FORBIDDEN) === -1;
}

/** The name in a form that the API accepts, for names that a model made up. */
export function asToolName(name: string): string {
  return name.replace(FORBIDDEN, "_").slice(0, MAX_LENGTH) || "unknown";
}

import type { Content, ContentPart } from "../conversation/content.js";
import type { PackState } from "../conversation/packState.js";
import type { PendingRound } from "../conversation/pending.js";
import type { WorktreeEnd } from "../loop/children.js";
import type { ChatMessage, Effort, FinishReason, TokenUsage } from "../providers/interface.js";
import type { CheckedSchema } from "../toolkit/jsonSchema/jsonSchemaValue.js";
import type { OutputValue, Schema, StandardSchema } from "../toolkit/jsonSchema/standardSchema.js";
import type { CallDescription, CallPreview, PermissionLanguage, ToolKind } from "./callDescription.js";
import type { ToolResult } from "./execution.js";
import type { ResultView } from "./resultView.js";

/** The effects a tool can have: used for `--read-only`, call ordering and display. */
export const TOOL_CAPABILITIES = ["read", "write", "destroy", "execute", "network"] as const;
export type ToolCapability = (typeof TOOL_CAPABILITIES)[number];

/** The outcome of a call's work: `{ ok: false, summary: "exit code 2" }`. A later report replaces the fields it has. */
export interface ToolReport {
  /** `false` marks the call as failed although `execute` returns normally. */
  readonly ok?: boolean;
  /** One short line for a display. */
  readonly summary?: string;
  /** How a display renders the result. At most 16 KB; the rest is cut off and counted. */
  readonly view?: ResultView;
  /** The result as data, for programs. At most 64 KB of JSON; a longer value is dropped. */
  readonly value?: unknown;
}

/** The progress of a call, for a display. */
export interface ToolProgress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

/** An action of a call that needs the user's approval: a write outside the project, a read of a secret file. */
export interface AccessNeed {
  readonly kind: "read" | "write";
  /** The canonical path: every symlink resolved. */
  readonly path: string;
  /** Why it needs approval, for the user: `outside the project`. */
  readonly reason: string;
}

/**
 * Where tools may read and write without asking. The host creates the rules and passes them to packs; a tool reports
 * what a call needs (`ExecutableTool.describeCall`) and enforces the rules again when it runs.
 */
export interface AccessRules {
  /** Canonical directories in which writing needs no approval. Absent: writing needs no approval anywhere. */
  readonly writable?: readonly string[];
  /** Canonical files and directories that need approval to read: keys, credentials, browser profiles. */
  readonly secret?: readonly string[];
}

/** Services for a running tool besides its arguments. A tool may ignore any of them. */
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
   * Whether the decision about the call relied on `contained` in its description. Then run it contained, whatever has
   * changed since, or not at all.
   */
  readonly contained?: boolean;
  /** The `basis` of the preview that the user saw. Refuse the call if the state has changed since. */
  readonly basis?: string;
  /** Reports the process that does the work, for a user who wants to see or stop it. A caller need not provide it. */
  onProcess?(pid: number): void;
  /** Reports the progress of the call. A caller need not provide it. */
  progress?(progress: ToolProgress): void;
  /**
   * Marks the call as failed, or summarises a success, although `execute` returns normally: a shell command that exits
   * with 2 still has output for the model, but must never be shown as a success. A caller need not provide it:
   * `call?.report?.({ ok: false, summary: "exit code 2" })`.
   */
  report?(status: ToolReport): void;
  /** Whether a view of the result is shown or stored. If not, a tool need not create one. */
  readonly wantsView?: boolean;
  /** Adds an image or a file to the result, after its text. Throws for content that no model accepts. */
  attach?(part: ContentPart): void;
  /** The `context` that was passed to `chat`: the user, the tenant. */
  readonly context?: Context;
  /** Starts a child agent for this call. Absent if no agent made the call. */
  startAgent?<const S extends Schema | undefined = undefined>(
    request: ChildAgentRequest<S>,
  ): Promise<ChildAgentAnswer<OutputValue<S>>>;
  /**
   * Calls another tool of the agent: it is validated, approved, limited, recorded and shown like any call. Never
   * rejects for a call that fails; rejects once this call has finished. Absent if no agent made the call.
   */
  callTool?(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

/** A call as `defineTool` passes it to `execute`: with everything that works without an agent. */
export type DefinedToolCall<Context = unknown> = ToolCall<Context> &
  Required<Pick<ToolCall, "granted" | "onProcess" | "progress" | "report" | "attach">> & {
    /** Whether the caller accepts attached parts. If not, `attach` does nothing. */
    readonly canAttach: boolean;
  } & (unknown extends Context ? object : { readonly context: Context });

/** The task of a child agent. It has its own conversation, and never more tools than its parent has enabled. */
export interface ChildAgentRequest<S extends Schema | undefined = Schema | undefined> {
  readonly message: Content;
  /** Earlier messages of the child, from `ChildAgentAnswer.messages`: the child continues that conversation. */
  readonly history?: readonly ChatMessage[];
  readonly systemPrompt?: string;
  /** `true`: the system prompt of the agent itself comes before `systemPrompt`. */
  readonly inheritPrompt?: boolean;
  /** The tools it may use, among those the parent has enabled. Default: all of them. */
  readonly tools?: readonly string[];
  /** The maximum number of model requests; the parent's limit applies as well. */
  readonly maxTurns?: number;
  /** The reasoning effort. Default: that of its parent. */
  readonly effort?: Effort;
  /**
   * The model it uses, by a name that the host knows. Default: that of its parent. Rejects if the host has no such
   * model.
   */
  readonly model?: string;
  /** Lets it use the agent's small model, if there is one, for reading and summarising. */
  readonly small?: boolean;
  /** The maximum cost of its requests in dollars. The limits of its parent apply as well. */
  readonly maxCost?: number;
  /** The maximum number of tokens of its requests and answers. */
  readonly maxTokens?: number;
  /** The schema of its answer, which is then in `output`. */
  readonly output?: S & CheckedSchema<NoInfer<S>>;
  /** Lets it run only while no other exclusive child of the same parent runs, for children that change files. */
  readonly exclusive?: boolean;
  /**
   * The name of a git work tree in which it works instead of the agent's directory: a new one, or one that was kept under that
   * name. It has the files of the newest commit. Rejects where the host cannot make one (`PackHost.worktrees`).
   */
  readonly worktree?: string;
  /** A short description for a display. */
  readonly label?: string;
}

export interface ChildAgentAnswer<Output = unknown> {
  readonly text: string;
  /** The value that matches `output`. */
  readonly output: Output;
  readonly finishReason: FinishReason;
  readonly turns: number;
  readonly usage: TokenUsage;
  /** The whole conversation of the child, for `history`. */
  readonly messages: readonly ChatMessage[];
  /** What became of its work tree, if it had one. */
  readonly worktree?: WorktreeEnd & { readonly directory: string };
}

/** The agent's live state, read through getters and never copied, so a tool always sees the current values. */
export interface ToolContext {
  readonly systemPrompt: string;
  readonly sessionContext: readonly ChatMessage[];
  readonly sessionContextFilePath: string;
  /** Saves the conversation where it is already recorded. Absent: it is written to `sessionContextFilePath`. */
  readonly save?: ((reason: string) => Promise<void>) | undefined;
  /** The answer with pending calls, if any. */
  readonly pending?: PendingRound | undefined;
  /** The state that a pack keeps with the conversation. Absent if nothing is stored. */
  packState?(pack: string): PackState;
}

/** A JSON Schema object. Kept structural so that a pack's types never pull in an SDK. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The description of a tool for the model: the function-tool shape of the chat completions API. */
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

/** How a model may write the only argument of a tool as plain text instead of JSON, if its server supports that. */
export interface FreeformInput {
  /** The argument that the text is for. */
  readonly argument: string;
  /** The grammar of the text, in Lark syntax. */
  readonly lark: string;
}

/** Valid arguments as the tool expects them, or an error message for the model. */
export type ParsedArguments = { readonly value: Record<string, unknown> } | { readonly problem: string };

export interface DescribeOptions {
  /** Aborts when the description is no longer wanted. */
  readonly signal: AbortSignal;
}

/** The call of another tool that a call redirects to. */
export interface RedirectedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * A tool that the model can call. `getSchema().function.name` equals `name`; `execute` resolves to the text the model
 * reads, and throws to fail: only the registry turns errors into text.
 */
export interface ExecutableTool {
  readonly name: string;
  /** The effects of running it. Used for read-only mode, ordering and display. */
  readonly capabilities?: readonly ToolCapability[];
  /**
   * Milliseconds the registry waits before it abandons a call, instead of the registry's default. `Infinity` is for a
   * tool that enforces its own limit.
   */
  readonly deadlineMs?: number;
  /**
   * Whether an interrupted call may simply be run again: its effects are the same the second time, or all its work is
   * done by child agents. Default: only if it only reads, over the network or not.
   */
  readonly repeatable?: boolean;
  /**
   * The arguments that name a call, for drafts, requests and old sessions: `"path"`, `["source", "destination"]`.
   * Default: the first required string of the schema.
   */
  readonly titleFrom?: string | readonly string[];
  /**
   * The arguments that are paths, or lists of paths. Models sometimes quote a path, end it with a line break or write
   * it as a `file:` URL: the agent cleans it up.
   */
  readonly pathArguments?: readonly string[];
  /** The kind of work it does, for display. Default: derived from its capabilities. */
  readonly kind?: ToolKind;
  /** The JSON Schema of the value that a call reports as its result, if any. */
  readonly outputSchema?: JsonSchema;
  /**
   * Another tool of the same pack that this one replaces when it is offered. Lists and rules that name the other tool
   * enable, disable, ask about and deny this one as well; a rule that allows the other one does not allow this one.
   */
  readonly insteadOf?: string;
  /** For a tool whose only argument is a long text, such as a patch: how a model may write it without JSON around it. */
  readonly freeform?: FreeformInput;
  /** Matches rule patterns for this tool, if its targets are not files, addresses or plain text. */
  readonly permissions?: PermissionLanguage;
  /**
   * The time limit of `describeCall` in milliseconds. Default 2000. Raise it for a tool that must probe the system
   * before its first call.
   */
  readonly describeLimitMs?: number;
  /**
   * Describes a call with these valid arguments: its targets, and what needs approval under the host's `AccessRules`.
   * Must be cheap and without side effects: it checks names and attributes, and reads no files. Called right before the
   * call is decided about; if it fails or takes longer than `describeLimitMs`, the targets are unknown.
   */
  describeCall?(
    args: Readonly<Record<string, unknown>>,
    options: DescribeOptions,
  ): CallDescription | Promise<CallDescription>;
  /** Previews the changes of a call. Called only before the user is asked; it has five seconds and may read files. */
  previewCall?(
    args: Readonly<Record<string, unknown>>,
    options: DescribeOptions,
  ): CallPreview | undefined | Promise<CallPreview | undefined>;
  /** The needs of a call, for tools that have no `describeCall`. */
  findAccessNeeds?(args: Readonly<Record<string, unknown>>): readonly AccessNeed[];
  /**
   * Checks the arguments instead of the registry's schema check, and converts them for `execute`: a date for a text,
   * defaults filled in. Used by `defineTool` for schema libraries.
   */
  parseArguments?(args: Readonly<Record<string, unknown>>): ParsedArguments | Promise<ParsedArguments>;
  /**
   * Redirects to the call that these valid arguments mean: the tool with that name is looked up, validated, approved
   * and run instead of this one. For a tool that represents many, such as those of a large server. Has no side effects.
   */
  redirect?(
    args: Readonly<Record<string, unknown>>,
  ): RedirectedCall | undefined | Promise<RedirectedCall | undefined>;
  getSchema(): ChatTool;
  execute(args: Record<string, unknown>, call?: ToolCall): Promise<string>;
}

/**
 * Sets the type of the `context` of an agent and its tools without a schema that checks it: a connection, an instance
 * of a class of the program. At run time only a missing context is refused.
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
  const validate = (value: unknown) =>
    value === undefined ? { issues: [{ message: "it is missing" }] } : { value: value as Context };
  return { "~standard": { version: 1, vendor: "@agent/core", validate } };
}

/** Options whose `context` is optional only if the agent declares no type for it. */
export type WithContext<Options, Context> = unknown extends Context
  ? [options?: Options & { readonly context?: Context }]
  : [options: Options & { readonly context: Context }];

// Function names that the chat completions API accepts, including in the history.
const MAX_LENGTH = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

export function isToolName(name: string): boolean {
  return name !== "" && name.length <= MAX_LENGTH && name.search(FORBIDDEN) === -1;
}

/** Converts a name that a model made up to a form that the API accepts. */
export function asToolName(name: string): string {
  return name.replace(FORBIDDEN, "_").slice(0, MAX_LENGTH) || "unknown";
}

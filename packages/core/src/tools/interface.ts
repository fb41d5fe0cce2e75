import type { CallDescription, CallPreview, PermissionLanguage, ToolKind } from "./callDescription.js";
import type { AccessNeed, ToolCall, ToolCapability } from "./types.js";

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

/** Valid arguments as the tool wants them, or what is wrong with them in words for the model. */
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
  /** The patterns of rules for this tool, if its targets are not files, addresses or plain text. */
  readonly permissions?: PermissionLanguage;
  /**
   * Describes a call with these valid arguments: what it acts on and what it needs approval for under the host's
   * `AccessRules`. Has no side effect and is cheap: it looks at names and attributes, and reads no files. Called right
   * before the call is decided about; if it fails or takes longer than two seconds, the targets are unknown.
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

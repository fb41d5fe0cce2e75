import type { AccessNeed, ToolCall, ToolCapability } from "./types.js";

/** A JSON Schema object. Kept structural so that a pack's types never pull in an SDK. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What the model is told about one tool: the function-tool shape of the chat completions API. */
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
   * `Infinity` is for a tool that enforces a limit of its own.
   */
  readonly deadlineMs?: number;
  /**
   * Whether a call that was interrupted may simply be run again: its effects are the same the second time, or all its
   * work is done by child agents. Default: only if `read` is all it does, over the network or not.
   */
  readonly repeatable?: boolean;
  /**
   * What a call with these valid arguments would need a person's yes for, under the host's `AccessRules`. Has no
   * side effect. The granted needs come back in `call.granted`.
   */
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

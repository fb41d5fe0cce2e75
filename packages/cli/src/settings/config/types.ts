import type { ChatProvider } from "@agent/core";

/** The tools of the built-in packs, so that an editor completes them. */
export type BuiltInTool =
  | "save_session_context"
  | "read_file"
  | "write_file"
  | "edit_file"
  | "list_dir"
  | "mkdir"
  | "move"
  | "remove"
  | "search_text"
  | "search_files"
  | "run_bash";

/** A tool's name: built-in ones complete in an editor, any other is allowed. */
export type ToolName = BuiltInTool | (string & {});

/** A pack: a package name or a path relative to the config file, with its options if it has any. */
export type PackReference = string | readonly [name: string, options: Readonly<Record<string, unknown>>];

/** An OpenAI-compatible endpoint. What is left out comes from `OPENAI_API_KEY` and `OPENAI_BASE_URL`. */
export interface ProviderSettings {
  readonly model?: string;
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** More fields for each request: `temperature`, `reasoning_effort` … */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The longest silence of the server in milliseconds. */
  readonly timeoutMs?: number;
}

/** A named role for `--agent`. It draws on the same registered tools as every other one. */
export interface AgentProfile {
  readonly systemPrompt?: string;
  /** Only these tools are on, if they are available at all. */
  readonly tools?: readonly ToolName[];
  readonly model?: string;
}

/** The whole config. Every part may be left out. */
export interface AgentConfig {
  /** Default: `["@agent/preset-default"]`. */
  readonly packs?: readonly PackReference[];
  /** Tools to turn on although their pack declares them off. */
  readonly enable?: readonly ToolName[];
  readonly disable?: readonly ToolName[];
  /** Tools whose calls run only after a yes. The lists of all layers add up. */
  readonly confirm?: readonly ToolName[];
  /** Only tools that declare nothing but `read`. Once true in a layer, no later layer lifts it. */
  readonly readOnly?: boolean;
  /**
   * More directories in which tools may write without asking, relative to the config file. One that is itself a secret
   * place, such as `~/.kube`, may also be read. The lists of all layers add up.
   */
  readonly addDirs?: readonly string[];
  /** `"offline"`, `"openai"`, settings for an OpenAI-compatible endpoint, or an own `ChatProvider`. */
  readonly provider?: "offline" | "openai" | ProviderSettings | ChatProvider;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly agents?: Readonly<Record<string, AgentProfile>>;
  /** How often the model is asked for one message. */
  readonly maxTurns?: number;
  /** The conversation's budget in tokens, estimated. */
  readonly contextTokens?: number;
}

import type { ChatProvider, ExecutableTool, ToolPack } from "@agent/core";

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

/** A package name, a path relative to the config file (a file, or a folder with a package.json), or an imported pack. */
type PackSource = string | ToolPack;

/** A pack, with its options if it has any; or a single tool made with `defineTool`. */
export type PackReference =
  | PackSource
  | ExecutableTool
  | readonly [pack: PackSource, options: Readonly<Record<string, unknown>>];

/** A provider that can be named: those with a package of their own, or any other package that is one. */
export type ProviderName = "offline" | "openai" | "anthropic" | "google" | (string & {});

/** A provider with its settings. What is left out comes from its variables, such as `OPENAI_API_KEY` and `OPENAI_BASE_URL`. */
export interface ProviderSettings {
  /** Which one. Default: `"openai"`, which speaks to every OpenAI-compatible server. */
  readonly name?: ProviderName;
  readonly model?: string;
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** More fields for each request: `temperature`, `reasoning_effort` … */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The longest silence of the server in milliseconds. */
  readonly timeoutMs?: number;
}

/** What a model costs, in dollars a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that came from the server's cache. Default: `input`. */
  readonly cachedInput?: number;
  /** Input the server wrote to its cache. Default: `input`. */
  readonly cacheWrite?: number;
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
  /** A provider's name, one with settings, or a `ChatProvider` of your own. */
  readonly provider?: ProviderName | ProviderSettings | ChatProvider;
  /** The model's name, with its provider if you like: `"anthropic/claude-sonnet-4-5"`. */
  readonly model?: string;
  /** A model that answers where the first one fails: `"openai/gpt-5-mini"`. It is announced whenever it does. */
  readonly fallback?: string;
  /** What models cost, so that the cost is shown: `{ "gpt-5-mini": { input: 0.25, output: 2 } }`. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
  readonly systemPrompt?: string;
  readonly agents?: Readonly<Record<string, AgentProfile>>;
  /** How often the model is asked for one message. */
  readonly maxTurns?: number;
  /** How often the same calls may give the same results in a row before the run ends. */
  readonly maxRepeats?: number;
  /** The conversation's budget in tokens, estimated. */
  readonly contextTokens?: number;
}

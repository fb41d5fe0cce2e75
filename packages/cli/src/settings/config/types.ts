import type {
  AgentToolNames,
  ChatProvider,
  CheckedPacks,
  Effort,
  ExecutableTool,
  NamedPacks,
  TokenPrice,
  ToolPack,
} from "@agent/core";
import type { AnyText } from "@agent/core/host";
import type { OutagePolicy } from "@agent/durable";
import type { PresetToolName } from "@agent/preset-default";

/** The tools of a config without packs. */
export type BuiltInTool = "save_session_context" | PresetToolName;

/**
 * The tools of the selected packs, for completion. Another name is a type error, unless one of the packs does not
 * declare its tools to the compiler, such as a pack named by its path.
 */
export type ToolName<Packs extends readonly PackReference[] = readonly PackReference[]> =
  Packs extends readonly [] ? BuiltInTool : AgentToolNames<Packs>;

/**
 * The name of a package, a path relative to the config file (a file, or a folder with a package.json), or an imported
 * pack. An editor completes packs that the compiler knows.
 */
type PackSource = keyof NamedPacks | AnyText | ToolPack;

/** A pack, with its options if it has any; or a single tool made with `defineTool`. */
export type PackReference =
  | PackSource
  | ExecutableTool
  | readonly [pack: PackSource, options: Readonly<Record<string, unknown>>];

/** The name of a provider: one with its own package, or any other provider package. */
export type ProviderName = "offline" | "openai" | "anthropic" | "google" | AnyText;

/**
 * A provider with its settings. Omitted settings come from its variables, such as `OPENAI_API_KEY` and
 * `OPENAI_BASE_URL`.
 */
export interface ProviderSettings {
  /** The provider. Default: `"openai"`, which works with every OpenAI-compatible server. */
  readonly name?: ProviderName;
  readonly model?: string;
  readonly baseURL?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** More fields for each request: `temperature`, `reasoning_effort` … */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The maximum silence of the server in milliseconds. */
  readonly timeoutMs?: number;
  /** Options that only this provider has, which it checks itself: `api` of `openai`, `maxTokens` and `cache` of `anthropic`. */
  readonly [option: string]: unknown;
}

/** A named role for `--agent`. All roles use the same registered tools. */
export interface AgentProfile<Packs extends readonly PackReference[] = readonly PackReference[]> {
  readonly systemPrompt?: string | SystemPromptParts;
  /** Only these tools are enabled, if they are available at all. */
  readonly tools?: readonly ToolName<Packs>[];
  readonly model?: string;
  readonly effort?: Effort;
}

/** Parts of the default system prompt. A text replaces a part, an empty text removes it. */
export interface SystemPromptParts {
  /** Who the agent is: one or two sentences. */
  readonly role?: string;
  /** How it works: reading, changing, verifying. */
  readonly work?: string;
  /** How it answers. */
  readonly style?: string;
  /** Whether the working directory, git branch, platform and date are included. Default: true. */
  readonly environment?: boolean;
  /** Text that is added at the end. */
  readonly append?: string;
}

/** A part of the row below the chat's input line. */
type StatusPart =
  | "mode"
  | "context"
  | "jobs"
  | "model"
  | "effort"
  | "cost"
  | "branch"
  | "session"
  | "tokens"
  | "directory";

/** The actions of chat keys. */
type KeyAction =
  | "send"
  | "newline"
  | "stop"
  | "complete"
  | "next-mode"
  | "expand"
  | "background"
  | "clear-screen"
  | "suspend"
  | "search-history"
  | "open-editor"
  | "paste-image"
  | "older"
  | "newer"
  | "undo"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"
  | "delete-word"
  | "delete-next-word"
  | "delete-to-start"
  | "delete-to-end"
  | "put-back"
  | "rewind"
  | "none";

/** The whole config. Every key is optional. */
export interface AgentConfig<Packs extends readonly PackReference[] = readonly PackReference[]> {
  /** Default: `["@agent/preset-default"]`. */
  readonly packs?: CheckedPacks<Packs, string>;
  /** Tools to enable although their pack disables them by default. */
  readonly enable?: readonly ToolName<Packs>[];
  readonly disable?: readonly ToolName<Packs>[];
  /** Tools whose calls need approval; `"*"` is every tool. The lists of all layers add up. */
  readonly confirm?: readonly (ToolName<Packs> | "*")[];
  /**
   * Rules about calls, by tool and target: `"run_bash(npm test *)"`, `"write_file(src/**)"`, `"fetch"`. `deny` wins
   * over `ask`, `ask` over `allow`. The lists of all layers add up.
   */
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
  /**
   * What runs without asking at first: `"plan"` (only reads), `"ask"`, `"edits"` (files in the project) or `"auto"`
   * (everything `confirm` and `permissions` do not ask about). Default `"edits"`.
   */
  readonly mode?: "plan" | "ask" | "edits" | "auto";
  /**
   * Whether commands run in a sandbox, if one works here, in auto mode and when the user cannot be asked. Default
   * `true`. The pack's own options take precedence.
   */
  readonly sandbox?: boolean;
  /** Enables only tools that declare just `read`. Once true in a layer, no later layer can lift it. */
  readonly readOnly?: boolean;
  /**
   * Additional directories in which tools may write without asking, relative to the config file. A directory that is
   * itself secret, such as `~/.kube`, may also be read. The lists of all layers add up.
   */
  readonly addDirs?: readonly string[];
  /** A provider's name, a provider with settings, or your own `ChatProvider`. */
  readonly provider?: ProviderName | ProviderSettings | ChatProvider;
  /** The model's name, optionally with its provider: `"anthropic/claude-sonnet-5-5"`. */
  readonly model?: string;
  /** A model that answers if the first one fails: `"openai/gpt-5-mini"`. A notice is shown each time. */
  readonly fallback?: string;
  /**
   * Prices of models, in dollars per million tokens, instead of list prices: `{ "gpt-5-mini": { input: 0.25, output: 2
   * } }`.
   */
  readonly prices?: Readonly<Record<string, TokenPrice>>;
  /** Replaces the default system prompt, or parts of it: `{ append: "Answer in French." }`. */
  readonly systemPrompt?: string | SystemPromptParts;
  readonly agents?: Readonly<Record<string, AgentProfile<Packs>>>;
  /**
   * After how many milliseconds a turn notifies you when it asks something or has ended; `false` for never. Default
   * 20000. `by` selects how: with the bell, or with a message that the terminal shows (OSC 9, OSC 777). Default: a
   * message if the terminal is known to support it.
   */
  readonly notify?: number | false | { readonly afterMs?: number; readonly by?: "bell" | "osc9" | "osc777" };
  /** Whether the window title shows the session and that work is running. Default true. */
  readonly title?: boolean;
  /**
   * Whether the terminal's tab or task bar shows that work is running (OSC 9;4). Default: if the terminal is known to
   * support it.
   */
  readonly progress?: boolean;
  /**
   * The parts of the row below the chat's input line, in this order; the mode is always shown. Default: every part. Or
   * a command whose first line of output is shown instead: it gets the status as JSON on its standard input, runs when
   * the status has changed, at most once a second, and is killed after two seconds.
   */
  readonly statusLine?: readonly StatusPart[] | { readonly command: string };
  /**
   * The colours of the chat. Default `"auto"`: the terminal's own, and readable ones on a light background.
   * `"high-contrast"` and `"colour-blind"` follow the background too.
   */
  readonly theme?: "auto" | "dark" | "light" | "high-contrast" | "colour-blind";
  /** Key bindings of the chat: an action, a command, or `"none"`: `{ "ctrl-t": "/tools", f2: "next-mode" }`. */
  readonly keys?: Readonly<Record<string, KeyAction | `/${string}`>>;
  /** Whether the chat's input line has vi key bindings. */
  readonly vim?: boolean;
  /**
   * Whether the chat is plain text, with words instead of symbols. Only in your own config, since it applies to every
   * project. The first prompt is drawn before the config is read, so a change takes effect with the next chat.
   */
  readonly screenReader?: boolean;
  /** The maximum number of model requests for one message. */
  readonly maxTurns?: number;
  /**
   * The maximum cost of a chat, a task or a run in dollars, including child agents. At the limit the chat asks whether
   * to continue, a task exits with code 7, and a run waits for a decision. Needs a known price of the model.
   */
  readonly maxCost?: number;
  /** The maximum number of tokens of a chat, a task or a run, requests and answers together. */
  readonly maxTokens?: number;
  /** How long a message waits for a usage limit of the model's server to end, in milliseconds. Default: it does not wait. */
  readonly waitMs?: number;
  /** A cheaper model for summaries and for reading pages: `"openai/gpt-5-nano"`. Default: the same model. */
  readonly smallModel?: string;
  /** The maximum number of identical tool rounds in a row (same calls, same results) before the run stops. */
  readonly maxRepeats?: number;
  /** The reasoning effort: `"low"`, `"high"` … Default: the model's own. */
  readonly effort?: Effort;
  /** The conversation's budget in estimated tokens. Default: the model's context, if known. */
  readonly contextTokens?: number;
  /** The maximum number of retries of a model request. Default 3. */
  readonly maxRetries?: number;
  /** For `agent runs work`. */
  readonly runs?: {
    /** What happens to a run when the model's server fails temporarily. */
    readonly outages?: OutagePolicy;
    /** After what time a pending call is denied. Default: it waits without limit. */
    readonly approvalTimeoutMs?: number;
  };
}

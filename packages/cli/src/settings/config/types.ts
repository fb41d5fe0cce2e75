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

/** The tools of a config that selects no packs. */
export type BuiltInTool = "save_session_context" | PresetToolName;

/**
 * The tools of the selected packs, which an editor completes. Another name is a mistake, unless one of the packs does not
 * declare its tools to the compiler, as a pack named by its path does not.
 */
export type ToolName<Packs extends readonly PackReference[] = readonly PackReference[]> =
  Packs extends readonly [] ? BuiltInTool : AgentToolNames<Packs>;

/**
 * The name of a package, a path relative to the config file (a file, or a folder with a package.json), or an imported pack.
 * An editor completes packs that the compiler knows.
 */
type PackSource = keyof NamedPacks | AnyText | ToolPack;

/** A pack, with its options if it has any; or a single tool made with `defineTool`. */
export type PackReference =
  | PackSource
  | ExecutableTool
  | readonly [pack: PackSource, options: Readonly<Record<string, unknown>>];

/** A provider that can be named: those with their own package, or any other package that is one. */
export type ProviderName = "offline" | "openai" | "anthropic" | "google" | AnyText;

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
  /** Options that only this provider has, which it checks itself: `api` of `openai`, `maxTokens` and `cache` of `anthropic`. */
  readonly [option: string]: unknown;
}

/** A named role for `--agent`. All roles use the same registered tools. */
export interface AgentProfile<Packs extends readonly PackReference[] = readonly PackReference[]> {
  readonly systemPrompt?: string | SystemPromptParts;
  /** Only these tools are on, if they are available at all. */
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

/** What a key of the chat can do. */
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

/** The whole config. Every part may be left out. */
export interface AgentConfig<Packs extends readonly PackReference[] = readonly PackReference[]> {
  /** Default: `["@agent/preset-default"]`. */
  readonly packs?: CheckedPacks<Packs>;
  /** Tools to turn on although their pack declares them off. */
  readonly enable?: readonly ToolName<Packs>[];
  readonly disable?: readonly ToolName<Packs>[];
  /** Tools whose calls run only after approval; `"*"` is every tool. The lists of all layers add up. */
  readonly confirm?: readonly (ToolName<Packs> | "*")[];
  /**
   * Rules about calls, by tool and by what the call is about: `"run_bash(npm test *)"`, `"write_file(src/**)"`,
   * `"fetch"`. `deny` wins over `ask`, `ask` over `allow`. The lists of all layers add up.
   */
  readonly permissions?: {
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
  /**
   * How much runs without a question at first: `"plan"` (nothing but reading), `"ask"`, `"edits"` (files in the
   * project) or `"auto"` (what `confirm` and `permissions` do not ask for). Default `"edits"`.
   */
  readonly mode?: "plan" | "ask" | "edits" | "auto";
  /**
   * Whether commands run in a sandbox, if one works here, in auto mode and where no one can be asked. Default `true`. What the
   * options of the pack say wins.
   */
  readonly sandbox?: boolean;
  /** Only tools that declare nothing but `read`. Once true in a layer, no later layer lifts it. */
  readonly readOnly?: boolean;
  /**
   * More directories in which tools may write without asking, relative to the config file. One that is itself a secret
   * place, such as `~/.kube`, may also be read. The lists of all layers add up.
   */
  readonly addDirs?: readonly string[];
  /** A provider's name, one with settings, or a `ChatProvider` of your own. */
  readonly provider?: ProviderName | ProviderSettings | ChatProvider;
  /** The model's name, with its provider if you like: `"anthropic/claude-sonnet-5-5"`. */
  readonly model?: string;
  /** A model that answers if the first one fails: `"openai/gpt-5-mini"`. A notice says so each time. */
  readonly fallback?: string;
  /** What models cost, in dollars per million tokens, in place of list prices: `{ "gpt-5-mini": { input: 0.25, output: 2 } }`. */
  readonly prices?: Readonly<Record<string, TokenPrice>>;
  /** Replaces the default system prompt, or parts of it: `{ append: "Answer in French." }`. */
  readonly systemPrompt?: string | SystemPromptParts;
  readonly agents?: Readonly<Record<string, AgentProfile<Packs>>>;
  /**
   * After how many milliseconds a turn notifies you when it asks something or has ended; `false` for never. Default 20000. `by`
   * says how: with the bell, or with a message that the terminal shows (OSC 9, OSC 777). Default: a message where the terminal is
   * known to show it.
   */
  readonly notify?: number | false | { readonly afterMs?: number; readonly by?: "bell" | "osc9" | "osc777" };
  /** Whether the title of the terminal's window names the session and says that work runs. Default true. */
  readonly title?: boolean;
  /** Whether the terminal's tab or task bar shows that work runs (OSC 9;4). Default: where that is known to work. */
  readonly progress?: boolean;
  /**
   * What the row below the chat's input line shows, in this order; the mode is always there. Default: every part. Or a command
   * whose first line of output is shown in place of the parts: it gets the status as JSON on its standard input, runs when the
   * status has changed, at most once a second, and is ended after two seconds.
   */
  readonly statusLine?: readonly StatusPart[] | { readonly command: string };
  /**
   * The colours of the chat. Default `"auto"`: the terminal's own, and readable ones on a light background. `"high-contrast"` and
   * `"colour-blind"` follow the background too.
   */
  readonly theme?: "auto" | "dark" | "light" | "high-contrast" | "colour-blind";
  /** Keys of the chat and what they do: an action, a command, or `"none"`: `{ "ctrl-t": "/tools", f2: "next-mode" }`. */
  readonly keys?: Readonly<Record<string, KeyAction | `/${string}`>>;
  /** Whether the chat's input line has the keys of vi. */
  readonly vim?: boolean;
  /**
   * Whether the chat is plain text from top to bottom, with words in place of marks. Only in your own config, since it holds for
   * every project. The first prompt waits for no config, so a change counts from the next start of the chat on.
   */
  readonly screenReader?: boolean;
  /** The maximum number of model requests for one message. */
  readonly maxTurns?: number;
  /**
   * What a chat, a task or a run may cost in dollars, child agents included. The chat asks whether to continue, a task ends
   * with exit code 7, a run waits for a decision. The price of the model has to be known.
   */
  readonly maxCost?: number;
  /** How many tokens a chat, a task or a run may take, requests and answers together. */
  readonly maxTokens?: number;
  /** How long a message waits for a usage limit of the model's server to end, in milliseconds. Default: it does not wait. */
  readonly waitMs?: number;
  /** A cheaper model for summaries and for reading pages: `"openai/gpt-5-nano"`. Default: the same model. */
  readonly smallModel?: string;
  /** The maximum number of identical rounds in a row (same calls, same results) before the run ends. */
  readonly maxRepeats?: number;
  /** How much the model thinks: `"low"`, `"high"` … The model's own default otherwise. */
  readonly effort?: Effort;
  /** The conversation's budget in tokens, estimated. Default: what the model has, if it is known. */
  readonly contextTokens?: number;
  /** How often a failed request to the model is repeated before it counts as failed. Default 3. */
  readonly maxRetries?: number;
  /** For `agent runs work`. */
  readonly runs?: {
    /** What happens to a run whose model's server fails in a way that may pass. */
    readonly outages?: OutagePolicy;
    /** After what time a call is denied about which no decision was made. Default: it waits without limit. */
    readonly approvalTimeoutMs?: number;
  };
}

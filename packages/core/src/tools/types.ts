import type { Content, ContentPart } from "../conversation/content.js";
import type { PendingRound } from "../conversation/pending.js";
import type { CallHooks } from "../loop/hooks.js";
import type { ChatMessage, FinishReason, TokenUsage } from "../providers/interface.js";
import type { CallContext } from "./callContext.js";
import type { ExecutableTool } from "./interface.js";

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
  /** How often its model is asked at most; the parent's own limit holds as well. */
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

export interface RegisterOptions {
  /** `false` declares a tool that stays off until the user opts in. Default `true`. */
  readonly enabled?: boolean;
  /** Who brings the tool, for messages and listings. Set by `registerPack`; a pack need not. */
  readonly source?: string;
  /**
   * `true` keeps the tool's schema out of what the model is sent with every request. The tool is called through
   * another one that redirects to it, and is switched, approved and reported under its own name.
   */
  readonly deferred?: boolean;
}

/**
 * The part of the registry a pack works with. An interface, so that two copies of core work together. `Names` are the
 * tools the pack registers: with them an editor completes and checks `enable` and `disable` of whoever selects the pack.
 */
export interface PackRegistry<Names extends string = string> {
  register(tool: ExecutableTool & { readonly name: Names }, options?: RegisterOptions): void;
  unregister(name: string): void;
  enable(name: string): boolean;
  disable(name: string): boolean;
  hasTool(name: string): boolean;
  isToolEnabled(name: string): boolean;
  getToolNames(): string[];
  /**
   * The values of the variables a pack declares in `secrets`, those that are set; from then on results do not show them. Called
   * by `registerPack`, also for a pack inside a preset.
   */
  claimSecrets?(pack: string, variables: readonly string[]): Readonly<Record<string, string>>;
  /** The names of all variables that were claimed as secrets: a live list, which grows with every pack. */
  readonly secretVariables?: readonly string[];
  /** Hands over what this registration brings besides tools. May be called more than once. */
  provide?(services: PackServices): void;
  /**
   * Announces tools that are known only later, such as those of a server that must be asked first. `load` starts at
   * once and registers them under the same rules; they appear between two requests to the model. A failure is
   * reported to the host under `description`; tools registered before it stay.
   */
  registerLater?(description: string, load: LoadTools): void;
}

/** Registers tools that take time to find out. `signal` aborts when the registry is disposed of. */
export type LoadTools = (registry: PackRegistry, signal: AbortSignal) => Promise<void>;

/** What a pack brings besides tools, for one registration: two agents in one process share none of it. */
export interface PackServices {
  /** Its background work, if it has any: listed by `/status`. */
  readonly jobs?: BackgroundJobs;
  /** Says what works on this machine and what does not: printed by `agent doctor`. */
  readonly diagnose?: () => readonly Diagnosis[] | Promise<readonly Diagnosis[]>;
  /** Commands a person can give in the chat: `/deploy staging`. */
  readonly commands?: readonly PackCommand[];
  /** Asked about every call of every tool. A pack can deny and change, never allow what a person must decide. */
  readonly hooks?: CallHooks;
  /** What a person can mention in a message, such as the resources of a server. */
  readonly mentions?: readonly MentionSource[];
  /** Ends everything the registration started. Called once; the tools are gone by then. */
  readonly dispose?: () => void | Promise<void>;
  /**
   * Ends at once what must not outlive the process, without waiting and without throwing. A pack installs no handlers for
   * signals: a host that has them, or wants them (`terminateOnSignals`), calls this when the process is about to end.
   */
  readonly terminate?: () => void;
}

/** A command for people. Its result is sent to the model as the person's message, or only shown. */
export interface PackCommand {
  /** What is typed after the slash: letters, digits, `-`, `_` and `:`. */
  readonly name: string;
  readonly description: string;
  run(input: string, signal: AbortSignal): Promise<{ readonly send: Content } | { readonly show: string }>;
}

/** Things that a person can mention with `@` in a message, to be put into it. */
export interface MentionSource {
  /** What the mentions begin with: `@docs:`. Letters, digits, `-` and `_`. */
  readonly name: string;
  /** What can be mentioned, for completion: at most a few dozen that fit `query`, the best first. */
  list(query: string, signal: AbortSignal): Promise<readonly MentionItem[]>;
  /** What stands for a mention in the message. */
  read(id: string, signal: AbortSignal): Promise<Content>;
}

export interface MentionItem {
  /** What is typed after the name: `@docs:guide/start`. */
  readonly id: string;
  readonly description?: string;
}

/** A question of a pack to the person who uses the agent. */
export interface PersonQuestion {
  /** Who asks: `the MCP server "github"`. Shown with the question, so that nobody can pretend to be the agent. */
  readonly source: string;
  readonly message: string;
  /** What the person is to fill in. None: a plain yes or no. */
  readonly fields: readonly QuestionField[];
  /** An address the person is asked to open. The host shows it whole and opens nothing by itself. */
  readonly url?: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface QuestionField {
  readonly name: string;
  readonly type: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  /** What can be chosen, for `choice` and `choices`. */
  readonly options?: readonly { readonly value: string; readonly title?: string }[];
  readonly default?: unknown;
}

/** `values` has what was filled in by name; `no` is a refusal, `dismissed` is no answer at all. */
export type PersonAnswer =
  | { readonly answer: "yes"; readonly values: Readonly<Record<string, unknown>> }
  | { readonly answer: "no" | "dismissed" };

/**
 * The text files of an editor, as the person sees them: unsaved changes included. Paths are absolute and canonical. A
 * tool checks a path under its own rules before it asks: the editor knows none of them.
 */
export interface EditorFiles {
  /** The text the editor has. Rejects for a file that it cannot open. */
  readText?(path: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the whole text and saves it; makes the file if there is none. Rejects if the editor did not. */
  writeText?(path: string, text: string, signal?: AbortSignal): Promise<void>;
}

/**
 * What the host hands to a pack: the agent's live state and the pack's own options block. `Options` is what the pack takes:
 * the compiler checks it where it sees the pack selected. Options also come from files that no compiler reads, so a
 * pack checks them with `packOptions` all the same.
 */
export interface PackHost<Options = unknown> {
  readonly context: ToolContext;
  readonly options?: Options;
  /** Absolute paths the host never lets a tool write, move or remove: its own configuration, trust and sessions. */
  readonly protectedPaths?: readonly string[];
  /** The values of the secrets the pack declares in `secrets`, those that are set. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Names of environment variables that hold secrets: no command may see them. A live list: it may grow. */
  readonly secretVariables?: readonly string[];
  /** Where tools may go without asking. Absent: everywhere. */
  readonly access?: AccessRules;
  /** Where relative paths in the options start: the directory of the config. Absent: the working directory. */
  readonly baseDirectory?: string;
  /** How many tokens the model's context holds. Absent where that is not known. */
  readonly contextTokens?: number;
  /** Asks the person who uses the agent. Absent where nobody can answer. */
  readonly ask?: (question: PersonQuestion) => Promise<PersonAnswer>;
  /** The files of the editor the person works in. Absent where there is none: tools then use the disk alone. */
  readonly editorFiles?: EditorFiles;
}

/** Something a pack keeps running after the call that started it returned, such as a development server. */
export interface BackgroundJob {
  readonly id: string;
  readonly command: string;
  readonly pids: readonly number[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Where its output goes, if anywhere. */
  readonly logFile?: string;
  /** How it ended, if it is over: `ended`, `memory limit exceeded`. Absent while it runs. */
  readonly ended?: string;
}

/** What a host can see and end of a pack's background work. */
export interface BackgroundJobs {
  /** What runs, and the last few that have ended. Oldest first. */
  list(): readonly BackgroundJob[];
  /** Ends a job and everything it started. Resolves to whether it did: false for one that is over or unknown. */
  end(id: string): Promise<boolean>;
  /**
   * Ends a command that a call is still waiting for, by the process id the call gave to `onProcess`. The call
   * returns what the command had printed and says who ended it; the turn goes on. Resolves to whether there was
   * such a command. Absent if the pack's calls cannot be ended one by one.
   */
  endProcess?(pid: number): Promise<boolean>;
  /**
   * Moves a command that a call is still waiting for to the background, by the same process id. The call returns what the
   * command had printed and the id of the job; the command goes on and is listed. Resolves to whether there was such a
   * command.
   */
  detachProcess?(pid: number): Promise<boolean>;
}

/** One thing a pack found out about the machine, for `agent doctor`. */
export interface Diagnosis {
  /** What was looked at: `memory limit`. */
  readonly subject: string;
  readonly ok: boolean;
  /** What was found. */
  readonly detail: string;
  /** What to do about it, if it is not ok. */
  readonly cure?: string;
}

/**
 * A tool pack: any module with a named export `register`. It registers its tools, declares which start
 * disabled, and does nothing else at import time.
 */
export interface ToolPack {
  register(registry: PackRegistry, host?: PackHost): void;
  /** The package's name, for messages and listings. */
  readonly packName?: string;
  /**
   * Environment variables that hold its secrets: `["ACME_TOKEN"]`. A host that knows them passes their values as
   * `host.secrets`, withholds them from commands and hides them in results; read `process.env` where it passes none.
   */
  readonly secrets?: readonly string[];
  /** The pack API version it was built for; absent means 1. */
  readonly packApiVersion?: number;
}

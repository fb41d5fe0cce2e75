import type { Content } from "../conversation/content.js";
import type { PackState } from "../conversation/packState.js";
import type { AgentEvent } from "../events.js";
import type { CallHooks } from "../loop/hooks.js";
import type { Effort } from "../providers/interface.js";
import type { ToolDetails } from "./registry.js";
import type {
  AccessRules,
  ChildAgentAnswer,
  ChildAgentRequest,
  ExecutableTool,
  ToolContext,
} from "./tool.js";

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
  readonly secrets?: readonly string[] | undefined;
  /** What it needs where it runs in its own process. Default: what follows from the capabilities of its tools. */
  readonly needs?: PackNeeds | undefined;
  /** The pack API version it was built for; absent means 1. */
  readonly packApiVersion?: number;
}

/**
 * What a pack needs in its own process. It is shown to the user, who grants all of it or does not add the pack. Writes and
 * commands go through the agent's tools (`call.callTool`).
 */
export interface PackNeeds {
  /** `"read"`: the files of the project. Default: only if its tools do something and none connects anywhere. */
  readonly files?: "read";
  /**
   * The hosts that `fetch` connects to: `api.acme.com`, `*.acme.com`, `localhost:8080`; `*` is every host of the public
   * internet. Default: `*` if a tool has the capability `network`, else none.
   */
  readonly hosts?: readonly string[];
}

export interface RegisterOptions {
  /** `false` declares a tool that stays off until the user opts in. Default `true`. */
  readonly enabled?: boolean;
  /** The pack that brings the tool, for messages and listings. `registerPack` sets it; a pack need not. */
  readonly source?: string;
  /**
   * `true`: the pack is not one of `@agent`, whatever `source` says, so its tools ask until they are allowed. For a host
   * that knows where a pack comes from.
   */
  readonly foreign?: boolean;
  /**
   * `true` keeps the tool's schema out of what the model is sent with every request. The tool is called through
   * another one that redirects to it, and is switched, approved and reported under its own name.
   */
  readonly deferred?: boolean;
}

/**
 * The part of the registry a pack works with. An interface, so that two copies of core work together. `Names` are the
 * tools the pack registers: with them an editor completes and checks `enable` and `disable` of anyone who selects the pack.
 */
export interface PackRegistry<Names extends string = string> {
  register(tool: ExecutableTool & { readonly name: Names }, options?: RegisterOptions): void;
  unregister(name: string): void;
  enable(name: string): boolean;
  disable(name: string): boolean;
  /**
   * Takes a tool of the pack's own away for now, whether the user has it on or not: the model is not offered it, and a call
   * is answered with the reason. Returns whether there is such a tool.
   */
  withhold?(name: string, reason: string): boolean;
  /** Gives a withheld tool back; it is on or off as the user has it. */
  release?(name: string): boolean;
  hasTool(name: string): boolean;
  isToolEnabled(name: string): boolean;
  getToolNames(): string[];
  /** A registered tool of any pack as another tool may call it (`ToolCall.callTool`), or `undefined` for an unknown name. */
  describeTool?(name: string): ToolDetails | undefined;
  /**
   * The values of the variables a pack declares in `secrets`, those that are set; from then on results do not show them. Called
   * by `registerPack`, also for a pack inside a preset.
   */
  claimSecrets?(pack: string, variables: readonly string[]): Readonly<Record<string, string>>;
  /** The names of all variables that were claimed as secrets: a live list, which grows with every pack. */
  readonly secretVariables?: readonly string[];
  /** What the registry adds to the host's data for the pack of this name. Called by `registerPack`, also for a pack inside a preset. */
  hostFor?(pack: string): Pick<PackHost, "directories" | "agents">;
  /**
   * Provides what this registration brings besides tools. May be called more than once. `source` is the pack, which
   * `registerPack` sets.
   */
  provide?(services: PackServices, source?: string): void;
  /**
   * Announces tools that are known only later, such as those of a server that must be asked first. `load` starts at
   * once and registers them under the same rules; they appear between two requests to the model. A failure is
   * reported to the host under `description`; tools registered before it stay.
   */
  registerLater?(description: string, load: LoadTools): void;
  /**
   * Lets the pack bring its tools up to date with what changes outside, such as a file of the user's: `refresh` is called
   * before every request to the model and before tools are listed, and may register and unregister under the same rules. It
   * must return quickly; a failure leaves the tools as they are.
   */
  onRefresh?(refresh: (registry: PackRegistry) => void): void;
}

/** Registers tools that must be loaded first. `signal` aborts when the registry is disposed of. */
export type LoadTools = (registry: PackRegistry, signal: AbortSignal) => Promise<void>;

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
  /**
   * Names the host never lets a tool write, move or remove in any directory, because it loads files by them:
   * `agent.config.ts`. `package.json#agent` means one key of that file.
   */
  readonly protectedNames?: readonly string[];
  /** The values of the secrets the pack declares in `secrets`, those that are set. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Names of environment variables that hold secrets: no command may see them. A live list: it may grow. */
  readonly secretVariables?: readonly string[];
  /** Where tools may go without asking. Absent: everywhere. */
  readonly access?: AccessRules;
  /**
   * Whether the user trusts the project in the working directory to run its own code, such as a language server with the
   * plugins that the project configures. Absent: the program that runs the agent makes no difference.
   */
  readonly trusted?: boolean;
  /** Where relative paths in the options start: the directory of the config. Absent: the working directory. */
  readonly baseDirectory?: string;
  /** The model that answers. Read it when it is needed: the user may switch to another. Absent where there is no model. */
  readonly model?: HostModel;
  /**
   * What a name of a model stands for, such as the `model` of a child agent. Rejects, naming the model, if the host has none of
   * that name. Absent where the host knows no other model.
   */
  readonly resolveModel?: (name: string) => Promise<HostModel>;
  /** What the pack keeps with the session. Absent where nothing is kept, and for a pack without `packName`. */
  readonly state?: PackState;
  /** Where the pack may keep its own files. Absent where the host has no place, and for a pack without `packName`. */
  readonly directories?: PackDirectories;
  /** The agents that all packs define, for a tool that starts them. A live list. */
  readonly agents?: () => readonly PackAgent[];
  /**
   * Starts a turn with a notice that the model reads as not written by the user, as soon as no message is being answered.
   * Absent where no one would see the turn, such as in a single task: then say how to look instead.
   */
  readonly wake?: (notice: WakeNotice) => void;
  /**
   * Starts a child agent that works on after the call that started it has ended, under the same rules, limits and approvals.
   * `onEvent` gets what it does. Absent where no one would learn how it ends: start it with `call.startAgent` then.
   */
  readonly startAgent?: (
    request: ChildAgentRequest,
    onEvent?: (event: AgentEvent) => void,
  ) => BackgroundAgent;
  /** Asks the user. Absent where no one can answer. */
  readonly ask?: (question: PersonQuestion) => Promise<PersonAnswer>;
  /**
   * Asks whether a running call may do something that its approval did not cover, such as connecting to a host. The host
   * may remember the answer for the session or the project. Absent: nothing of that kind is allowed.
   */
  readonly permit?: (request: PermitRequest) => Promise<PermitAnswer>;
  /** Whether commands should run in a sandbox, if the pack's options do not say. Absent: they run without one. */
  readonly containment?: Containment;
  /** Shows the user a line that belongs to no single result: how commands run. Absent where no one would read it. */
  readonly notice?: (message: string) => void;
  /** The files of the editor the user works in. Absent where there is none: tools then use the disk alone. */
  readonly editorFiles?: EditorFiles;
}

/** What a host says to a tool that can run its commands in a sandbox. */
export interface Containment {
  /** Whether the next call should run in a sandbox, if one works here. Asked for each call: the user may switch the mode. */
  wanted(): boolean;
  /** What the user does to run commands without one: `--no-sandbox`. */
  readonly optOut: string;
}

/** The model that answers, as far as its provider tells. A live object: it follows the user's choice. */
export interface HostModel {
  /** The provider's id: `anthropic`. */
  readonly provider: string | undefined;
  /** The model's name. */
  readonly id: string | undefined;
  /** How many tokens its context holds. */
  readonly contextTokens: number | undefined;
}

/** Absolute paths of directories of a pack's own, which the pack creates when it needs them. */
export interface PackDirectories {
  /** For what belongs to this project on this machine. */
  readonly project?: string;
  /** For what belongs to this user. */
  readonly user?: string;
}

/** Something that happened while no message was being answered. */
export interface WakeNotice {
  /** Its subject: `job-1`. Notices of the same source that wait are joined. */
  readonly source: string;
  /** What happened, for the model. */
  readonly text: string;
}

/** Something that a running call wants to do and that the user has to allow. */
export interface PermitRequest {
  /** Who asks: `A command in the sandbox`. */
  readonly source: string;
  /**
   * What to allow, under the name by which the host remembers and lists it: `net.connect(example.com)`. The part in front
   * of the bracket has a dot, which no name of a tool has.
   */
  readonly permission: string;
  /** The question. Lines may be broken with a newline. */
  readonly message: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** `allowed` holds until the call has ended. `unanswered`: no one can be asked, or the question was closed. */
export type PermitAnswer = "allowed" | "refused" | "unanswered";

/** A question of a pack to the user. */
export interface PersonQuestion {
  /** Who asks: `the MCP server "github"`. Shown with the question, so that no one can pretend to be the agent. */
  readonly source: string;
  readonly message: string;
  /** The fields of the form that the user fills in. Empty: the question is answered with yes or no. */
  readonly fields: readonly QuestionField[];
  /** `true`: the answer to the only field is sent without a final yes, because only the model gets it. */
  readonly immediate?: boolean;
  /** An address the user is asked to open. The host shows it whole and opens nothing by itself. */
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
  /** For `choice`: whether another text may be the answer. A host that cannot take one offers the options only. */
  readonly other?: boolean;
  readonly default?: unknown;
}

/** `values` has what was filled in by name; `no` is a refusal; `dismissed` means that the user did not answer. */
export type PersonAnswer =
  | { readonly answer: "yes"; readonly values: Readonly<Record<string, unknown>> }
  | { readonly answer: "no" | "dismissed" };

/**
 * The text files of an editor, as the user sees them: unsaved changes included. Paths are absolute and canonical. A
 * tool checks a path under its own rules before it asks: the editor knows none of them.
 */
export interface EditorFiles {
  /** The text the editor has. Rejects for a file that it cannot open. */
  readText?(path: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the whole text and saves it; makes the file if there is none. Rejects if the editor did not. */
  writeText?(path: string, text: string, signal?: AbortSignal): Promise<void>;
}

/** What a pack brings besides tools, for one registration: two agents in one process share none of it. */
export interface PackServices {
  /** Its background work, if it has any: listed by `/status`. Read only when a host asks for it. */
  readonly jobs?: BackgroundJobs;
  /** Says what works on this machine and what does not: printed by `agent doctor`. */
  readonly diagnose?: () => readonly Diagnosis[] | Promise<readonly Diagnosis[]>;
  /** Commands a user can give in the chat: `/deploy staging`. */
  readonly commands?: readonly PackCommand[];
  /**
   * Asked about every call of every tool, and about messages and sessions. A pack can deny, change and add, never allow what
   * the user must decide.
   */
  readonly hooks?: CallHooks;
  /**
   * Text for the system prompt: what the model has to know about the tools, notes from earlier sessions. Read when a message
   * starts, and the same until it ends. At most 2,000 tokens; a longer text is cut. `undefined`: nothing for now.
   */
  readonly prompt?: () => PackPrompt | undefined;
  /** Skills: instructions for special tasks. The model gets their names and reads the file of one that it needs. */
  readonly skills?: readonly PackSkill[];
  /** Agents that a tool can start as child agents. */
  readonly agents?: readonly PackAgent[];
  /**
   * Gets ready what the first call would wait for, such as threads. Called once, without waiting, while the model is
   * asked for the first time. Must return quickly.
   */
  readonly warmUp?: () => void | Promise<void>;
  /** What a user can mention in a message, such as the resources of a server. */
  readonly mentions?: readonly MentionSource[];
  /** Ends everything the registration started. Called once; the tools are gone by then. */
  readonly dispose?: () => void | Promise<void>;
  /**
   * Kills what must not outlive the process, without waiting and without throwing. A pack installs no handlers for
   * signals: a host that has them, or wants them (`terminateOnSignals`), calls this when the process is about to end.
   */
  readonly terminate?: () => void;
}

/** A section of the system prompt. */
export interface PackPrompt {
  readonly title: string;
  readonly text: string;
}

/** Instructions for a special task, in a file that the model reads when it needs them. */
export interface PackSkill {
  /** Letters, digits, `-` and `_`, starting with a letter: `release-notes`. */
  readonly name: string;
  /** When to use it. */
  readonly description: string;
  /** The absolute path of its text: `…/SKILL.md`. */
  readonly file: string;
}

/** An agent with its own task, which a tool starts with `startAgent`. */
export interface PackAgent {
  /** Letters, digits, `-` and `_`, starting with a letter: `reviewer`. */
  readonly name: string;
  /** When to use it. */
  readonly description: string;
  readonly systemPrompt: string;
  /** The tools it may use. Default: all that its parent has. */
  readonly tools?: readonly string[];
  /** A name of a model that the host resolves. Default: as its parent. */
  readonly model?: string;
  readonly effort?: Effort;
  readonly maxTurns?: number;
}

/** A command for people. Its result is sent to the model as the user's message, or only shown. */
export interface PackCommand {
  /** What is typed after the slash: letters, digits, `-`, `_` and `:`. */
  readonly name: string;
  readonly description: string;
  run(input: string, signal: AbortSignal): Promise<{ readonly send: Content } | { readonly show: string }>;
}

/** Things that a user can mention with `@` in a message, to be put into it. */
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

/** A child agent that does not belong to a call. */
export interface BackgroundAgent {
  /** Resolves when it has answered. Rejects with an `AgentError` if it fails, was stopped, or may not start. */
  readonly done: Promise<ChildAgentAnswer>;
  /** Stops it with everything it runs. */
  stop(): void;
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
   * returns what the command had printed and says who ended it; the turn continues. Resolves to whether there was
   * such a command. Absent if the pack's calls cannot be ended one by one.
   */
  endProcess?(pid: number): Promise<boolean>;
  /**
   * Moves a command that a call is still waiting for to the background, by the same process id. The call returns what the
   * command had printed and the id of the job; the command continues and is listed. Resolves to whether there was such a
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
 * Packs by the name of their package, so that an editor knows the options and tools of a pack that a config only names.
 * A pack adds itself. A typed config that names it also needs `import type {} from "@acme/agent-pack-weather"`.
 *
 * @example
 * ```ts
 * import type { PackHost, PackRegistry } from "@agent/core";
 *
 * export function register(registry: PackRegistry<"weather_now">, host?: PackHost<{ readonly city?: string }>): void {
 *   void [registry, host];
 * }
 *
 * declare module "@agent/core" {
 *   interface NamedPacks {
 *     "@acme/agent-pack-weather": { register: typeof register };
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: packs add to it by declaration merging.
export interface NamedPacks {}

/** A pack, a pack with its options, or a single tool: `fs`, `[fs, { root: "." }]`, `defineTool({ … })`. */
export type PackEntry = ToolPack | readonly [pack: ToolPack, options: unknown] | ExecutableTool;

/** `string` that does not absorb the literals next to it in a union, so that an editor still completes those. */
export type AnyText = string & Record<never, never>;

/** The pack an entry means: a name stands for the pack that added itself under it. */
type Named<Pack> = Pack extends keyof NamedPacks ? NamedPacks[Pack] : Pack;

/** The options of a pack, from the host type its `register` declares. `unknown` if it declares none. */
export type PackOptions<Pack> =
  Named<Pack> extends { readonly register: (registry: never, host: infer Host) => unknown }
    ? NonNullable<Host> extends { readonly options?: infer Options }
      ? Options
      : unknown
    : unknown;

/** The tool names of an entry: those its `register` declares, or the tool's own. `string` where it declares none. */
type EntryTools<Entry> = Entry extends readonly [infer Pack, unknown]
  ? PackTools<Named<Pack>>
  : PackTools<Named<Entry>>;

type PackTools<Pack> = Pack extends { readonly register: (registry: infer Registry, host: never) => unknown }
  ? Registry extends PackRegistry<infer Names>
    ? Names
    : string
  : Pack extends { readonly name: infer Name extends string }
    ? Name
    : string;

/**
 * The names of the tools that these entries bring. An editor completes them; any other name is a mistake, unless one of
 * the packs does not say what it brings.
 */
export type ToolNames<Entries extends readonly unknown[], Own extends string = never> =
  string extends EntryTools<Entries[number]>
    ? KnownTools<Entries> | Own | AnyText
    : EntryTools<Entries[number]> | Own;

/** The names that some entries declare, where others declare none. */
type KnownTools<Entries extends readonly unknown[]> = {
  [Key in keyof Entries]: string extends EntryTools<Entries[Key]> ? never : EntryTools<Entries[Key]>;
}[number];

/** The entries with each pack's options narrowed to the type that the pack takes. */
export type CheckedPacks<Entries extends readonly unknown[]> = {
  readonly [Key in keyof Entries]: Entries[Key] extends readonly [infer Pack, unknown]
    ? readonly [pack: Pack, options: PackOptions<Pack>]
    : Entries[Key];
};

/** The names of all tools an agent with these packs has, its own `save_session_context` included. */
export type AgentToolNames<Entries extends readonly unknown[]> = ToolNames<Entries, "save_session_context">;

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
 * A tool pack: any module with a named export `register`, which registers its tools and declares which start disabled.
 * It does nothing else at import time.
 */
export interface ToolPack {
  register(registry: PackRegistry, host?: PackHost): void;
  /** The package's name, for messages and listings. */
  readonly packName?: string;
  /**
   * Environment variables that hold its secrets: `["ACME_TOKEN"]`. A host that supports them passes their values as
   * `host.secrets`, withholds them from commands and redacts them in results; read `process.env` if it passes none.
   */
  readonly secrets?: readonly string[] | undefined;
  /** The access it needs when it runs in its own process. Default: derived from the capabilities of its tools. */
  readonly needs?: PackNeeds | undefined;
  /**
   * `true`: its tools work in `host.directory`, if the host names one. Without it, such a host withholds its tools, except
   * those that only use the network: they would act in the directory of the process.
   */
  readonly followsDirectory?: boolean | undefined;
  /** The pack API version it was built for; absent means 1. */
  readonly packApiVersion?: number;
}

/** The access that a pack needs in its own process. The user sees it and grants all of it or does not add the pack. */
export interface PackNeeds {
  /**
   * `"read"`: the files of the project. `"write"`: also to change them, in calls of tools that declare `write`, with `writeFile`,
   * `appendFile` and `mkdir`; the agent does it for the pack, and never to hidden or protected files. Default: what the
   * capabilities of its tools say, and nothing if one of them connects anywhere.
   */
  readonly files?: "read" | "write";
  /**
   * The hosts that `fetch` connects to: `api.acme.com`, `*.acme.com`, `localhost:8080`; `*` is every host of the public
   * internet. Default: `*` if a tool has the capability `network`, else none.
   */
  readonly hosts?: readonly string[];
  /**
   * `true`: its calls may call tools of other packs (`call.callTool`, `redirect`) and start child agents, and get the results.
   * Default: they may not, since the results can contain what the pack itself may not read.
   */
  readonly calls?: boolean;
}

export interface RegisterOptions {
  /** `false` declares a tool that stays off until the user enables it. Default `true`. */
  readonly enabled?: boolean;
  /** The pack of the tool, for messages and listings. `registerPack` sets it; packs do not need to. */
  readonly source?: string;
  /**
   * `true`: the pack is not one of `@agent`, whatever `source` contains, so its tools ask until they are allowed. For a
   * host that knows the origin of a pack.
   */
  readonly foreign?: boolean;
  /**
   * `true` omits the tool's schema from model requests. The tool is called through another one that redirects to it,
   * and is enabled, approved and reported under its own name.
   */
  readonly deferred?: boolean;
}

/**
 * The part of the registry a pack works with. An interface, so that two copies of core work together. `Names` are the
 * tools the pack registers: editors complete and check `enable` and `disable` with them.
 */
export interface PackRegistry<Names extends string = string> {
  register(tool: ExecutableTool & { readonly name: Names }, options?: RegisterOptions): void;
  unregister(name: string): void;
  enable(name: string): boolean;
  disable(name: string): boolean;
  /**
   * Makes one of the pack's own tools unavailable, whether it is enabled or not: the model is not offered it, and a
   * call is answered with the reason. Returns whether the tool exists.
   */
  withhold?(name: string, reason: string): boolean;
  /** Makes a withheld tool available again; it is enabled or disabled as the user chose. */
  release?(name: string): boolean;
  hasTool(name: string): boolean;
  isToolEnabled(name: string): boolean;
  getToolNames(): string[];
  /**
   * A registered tool of any pack, as another tool may call it (`ToolCall.callTool`); `undefined` for an unknown name.
   */
  describeTool?(name: string): ToolDetails | undefined;
  /**
   * The values of the variables a pack declares in `secrets`, as far as they are set; from then on they are redacted in
   * results. Called by `registerPack`, including for a pack inside a preset.
   */
  claimSecrets?(pack: string, variables: readonly string[]): Readonly<Record<string, string>>;
  /** The names of all variables that were claimed as secrets: a live list that grows with every pack. */
  readonly secretVariables?: readonly string[];
  /**
   * Adds registry data to the host's data for the pack with this name. Called by `registerPack`, including for a pack
   * inside a preset.
   */
  hostFor?(pack: string): Pick<PackHost, "directories" | "agents">;
  /**
   * Provides the services of this registration besides tools. May be called more than once. `source` is the pack, which
   * `registerPack` sets.
   */
  provide?(services: PackServices, source?: string): void;
  /**
   * Announces tools that are known only later, such as those of a server. `load` starts immediately and registers them
   * under the same rules; they appear between two model requests. A failure is reported to the host under
   * `description`; tools registered before it stay.
   */
  registerLater?(description: string, load: LoadTools): void;
  /**
   * Lets the pack update its tools when something outside changes, such as a user's file: `refresh` is called before
   * every model request and before tools are listed, and may register and unregister under the same rules. It must
   * return quickly; a failure leaves the tools unchanged.
   */
  onRefresh?(refresh: (registry: PackRegistry) => void): void;
}

/** Registers tools that must be loaded first. `signal` aborts when the registry is disposed of. */
export type LoadTools = (registry: PackRegistry, signal: AbortSignal) => Promise<void>;

/**
 * The host data passed to a pack: the agent's live state and the pack's own options. `Options` is the type of the
 * pack's options: the compiler checks it where it sees the pack selected. Options also come from files that no compiler
 * reads, so a pack must also check them with `packOptions`.
 */
export interface PackHost<Options = unknown> {
  readonly context: ToolContext;
  readonly options?: Options;
  /** Absolute paths that tools must never write, move or remove: the host's own configuration, trust and sessions. */
  readonly protectedPaths?: readonly string[];
  /**
   * Names that tools must never write, move or remove in any directory, because the host loads files with these names:
   * `agent.config.ts`. `package.json#agent` means one key of that file.
   */
  readonly protectedNames?: readonly string[];
  /** The values of the secrets that the pack declares in `secrets`, as far as they are set. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * Names of environment variables that hold secrets, which must not be passed to commands. A live list: it may grow.
   */
  readonly secretVariables?: readonly string[];
  /** Where tools may read and write without asking. Absent: everywhere. */
  readonly access?: AccessRules;
  /**
   * Whether the user trusts the project in the working directory to run its own code, such as a language server with
   * project plugins. Absent: the host does not distinguish.
   */
  readonly trusted?: boolean;
  /**
   * Where the tools work: relative paths of calls start there, and commands run there. Absent: the working directory of the
   * process. A pack that uses it declares `followsDirectory`.
   */
  readonly directory?: string;
  /** Whether child agents can have their own git work tree: `ChildAgentRequest.worktree`. */
  readonly worktrees?: boolean;
  /**
   * Whether files of the project may instruct the model, such as definitions of agents: the user may have declined. Ask on
   * use, since they can change it. Absent: they may.
   */
  readonly usesInstructions?: () => boolean;
  /** The base of relative paths in the options: the directory of the config. Absent: the working directory. */
  readonly baseDirectory?: string;
  /** The current model. Read it on use: the user may switch to another. Absent if there is no model. */
  readonly model?: HostModel;
  /**
   * Resolves a model name, such as the `model` of a child agent. Rejects, naming the model, if the host has no such
   * model. Absent if the host has only one model.
   */
  readonly resolveModel?: (name: string) => Promise<HostModel>;
  /** State that the pack keeps with the session. Absent if nothing is stored, and for a pack without `packName`. */
  readonly state?: PackState;
  /** Directories for the pack's own files. Absent if the host has none, and for a pack without `packName`. */
  readonly directories?: PackDirectories;
  /** The agents that all packs define, for a tool that starts them. A live list. */
  readonly agents?: () => readonly PackAgent[];
  /**
   * Starts a turn with a notice, which the model reads as not written by the user, as soon as no message is being
   * answered. Absent if the user would not see the turn, such as in a single task: then explain how to check instead.
   */
  readonly wake?: (notice: WakeNotice) => void;
  /**
   * Starts a child agent that continues after the call that started it has finished, under the same rules, limits and
   * approvals. `onEvent` receives its events. Absent if its result would be lost: use `call.startAgent` then.
   */
  readonly startAgent?: (
    request: ChildAgentRequest,
    onEvent?: (event: AgentEvent) => void,
  ) => BackgroundAgent;
  /** Asks the user. Absent if no one can answer. */
  readonly ask?: (question: UserQuestion) => Promise<UserAnswer>;
  /**
   * Asks whether a running call may do something that its approval did not cover, such as connecting to a host. The
   * host may remember the answer for the session or the project. Absent: it is not allowed.
   */
  readonly permit?: (request: PermitRequest) => Promise<PermitAnswer>;
  /** Whether commands should run in a sandbox, unless the pack's options decide. Absent: they run without one. */
  readonly containment?: Containment;
  /**
   * Shows the user a line that belongs to no single result, such as how commands run. Absent if no one would read it.
   */
  readonly notice?: (message: string) => void;
  /** The files of the user's editor. Absent if there is none: tools then use only the disk. */
  readonly editorFiles?: EditorFiles;
}

/** The host's setting for a tool that can run its commands in a sandbox. */
export interface Containment {
  /**
   * Whether the next call should run in a sandbox, if one works here. Called for each call: the user may switch the
   * mode.
   */
  wanted(): boolean;
  /** How the user can run commands without one: `--no-sandbox`. */
  readonly optOut: string;
}

/** The current model, as far as its provider describes it. A live object: it follows the user's choice. */
export interface HostModel {
  /** The provider's id: `anthropic`. */
  readonly provider: string | undefined;
  /** The model's name. */
  readonly id: string | undefined;
  /** The size of its context in tokens. */
  readonly contextTokens: number | undefined;
}

/** Absolute paths of the pack's own directories, which the pack creates when it needs them. */
export interface PackDirectories {
  /** For files that belong to this project on this machine. */
  readonly project?: string;
  /** For files that belong to this user. */
  readonly user?: string;
}

/** An event that happened while no message was being answered. */
export interface WakeNotice {
  /** Its subject: `job-1`. Pending notices of the same source are joined. */
  readonly source: string;
  /** The event, as text for the model. */
  readonly text: string;
}

/** Something that a running call wants to do and that the user has to allow. */
export interface PermitRequest {
  /** The asker: `A command in the sandbox`. */
  readonly source: string;
  /**
   * The permission, under the name by which the host remembers and lists it: `net.connect(example.com)`. The part
   * before the bracket contains a dot, unlike tool names.
   */
  readonly permission: string;
  /** The question. May contain newlines. */
  readonly message: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** `allowed` is valid until the call has finished. `unanswered`: the user cannot be asked, or closed the question. */
export type PermitAnswer = "allowed" | "refused" | "unanswered";

/** A question of a pack to the user. */
export interface UserQuestion {
  /** The asker: `the MCP server "github"`. Shown with the question, so that no pack can impersonate the agent. */
  readonly source: string;
  readonly message: string;
  /** The fields of a form for the user. Empty: the question is answered with yes or no. */
  readonly fields: readonly QuestionField[];
  /** `true`: the answer to the only field is sent without a final confirmation, because only the model gets it. */
  readonly immediate?: boolean;
  /** A URL the user is asked to open. The host shows it in full and opens nothing by itself. */
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
  /** The options of `choice` and `choices`. */
  readonly options?: readonly { readonly value: string; readonly title?: string }[];
  /** For `choice`: whether free text is accepted as well. A host without support for that shows only the options. */
  readonly other?: boolean;
  readonly default?: unknown;
}

/**
 * `values` contains the filled-in fields by name; `no` is a refusal; `dismissed` means that the user did not answer.
 */
export type UserAnswer =
  | { readonly answer: "yes"; readonly values: Readonly<Record<string, unknown>> }
  | { readonly answer: "no" | "dismissed" };

/**
 * The text files of an editor, including unsaved changes. Paths are absolute and canonical. A tool checks a path
 * against its own rules first: the editor does not.
 */
export interface EditorFiles {
  /** The editor's text of a file. Rejects if the editor cannot open it. */
  readText?(path: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the whole text and saves it; creates the file if it does not exist. Rejects if the editor fails. */
  writeText?(path: string, text: string, signal?: AbortSignal): Promise<void>;
}

/** The services of a pack besides tools, for one registration: two agents in one process share none of it. */
export interface PackServices {
  /** Its background work, if any: listed by `/status`. Read only when a host needs it. */
  readonly jobs?: BackgroundJobs;
  /** Reports what works on this machine and what does not: printed by `agent doctor`. */
  readonly diagnose?: () => readonly Diagnosis[] | Promise<readonly Diagnosis[]>;
  /** Commands a user can give in the chat: `/deploy staging`. */
  readonly commands?: readonly PackCommand[];
  /**
   * Called for every call of every tool, and for messages and sessions. A pack can deny, change and add, but never
   * allow what the user must decide.
   */
  readonly hooks?: CallHooks;
  /**
   * Text for the system prompt: facts the model needs about the tools, notes from earlier sessions. Read when a message
   * starts and unchanged until it ends. At most 2,000 tokens; a longer text is cut off. `undefined`: nothing for now.
   */
  readonly prompt?: () => PackPrompt | undefined;
  /** Skills: instructions for special tasks. The model gets their names and reads the file of the one it needs. */
  readonly skills?: readonly PackSkill[];
  /** Agents that a tool can start as child agents. */
  readonly agents?: readonly PackAgent[];
  /**
   * Prepares resources that the first call would wait for, such as threads. Called once, without being awaited, during
   * the first model request. Must return quickly.
   */
  readonly warmUp?: () => void | Promise<void>;
  /** Things a user can mention in a message, such as the resources of a server. */
  readonly mentions?: readonly MentionSource[];
  /** Stops everything the registration started. Called once, after the tools were removed. */
  readonly dispose?: () => void | Promise<void>;
  /**
   * Kills processes that must not outlive the program, without waiting and without throwing. A pack installs no signal
   * handlers: a host with its own, or with `terminateOnSignals`, calls this when the process is about to exit.
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
  /** The tools it may use. Default: all tools of its parent. */
  readonly tools?: readonly string[];
  /** A model name that the host resolves. Default: the model of its parent. */
  readonly model?: string;
  readonly effort?: Effort;
  readonly maxTurns?: number;
  /** `"worktree"`: it works in its own git work tree. */
  readonly isolation?: "worktree";
}

/** A chat command. Its result is sent to the model as the user's message, or only displayed. */
export interface PackCommand {
  /** The name after the slash: letters, digits, `-`, `_` and `:`. */
  readonly name: string;
  readonly description: string;
  run(input: string, signal: AbortSignal): Promise<{ readonly send: Content } | { readonly show: string }>;
}

/** Things that a user can mention with `@` in a message, to insert their content. */
export interface MentionSource {
  /** The prefix of its mentions: `@docs:`. Letters, digits, `-` and `_`. */
  readonly name: string;
  /** Completions: at most a few dozen that match `query`, best first. */
  list(query: string, signal: AbortSignal): Promise<readonly MentionItem[]>;
  /** The content that is inserted for a mention. */
  read(id: string, signal: AbortSignal): Promise<Content>;
}

export interface MentionItem {
  /** The text after the prefix: `@docs:guide/start`. */
  readonly id: string;
  readonly description?: string;
}

/** A child agent that does not belong to a call. */
export interface BackgroundAgent<Output = unknown> {
  /**
   * Resolves when it has answered. Rejects with an `AgentError` if it fails, was stopped, or is not allowed to start.
   */
  readonly done: Promise<ChildAgentAnswer<Output>>;
  /** Stops it and everything it runs. */
  stop(): void;
}

/** Background work that continues after the call that started it, such as a development server. */
export interface BackgroundJob {
  readonly id: string;
  readonly command: string;
  readonly pids: readonly number[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The file of its output, if any. */
  readonly logFile?: string;
  /** How it ended: `ended`, `memory limit exceeded`. Absent while it runs. */
  readonly ended?: string;
}

/** A host's view of a pack's background work. */
export interface BackgroundJobs {
  /** The running jobs and the last few finished ones. Oldest first. */
  list(): readonly BackgroundJob[];
  /** Stops a job and everything it started. Resolves to `false` if it has finished or is unknown. */
  end(id: string): Promise<boolean>;
  /**
   * Stops a command that a call is waiting for, by the process id that the call passed to `onProcess`. The call returns
   * the output so far and says that the user stopped the command; the turn continues. Resolves to whether there was
   * such a command. Absent if the pack's calls cannot be stopped individually.
   */
  endProcess?(pid: number): Promise<boolean>;
  /**
   * Moves a command that a call is waiting for to the background, by the same process id. The call returns the output
   * so far and the id of the job; the command continues and is listed. Resolves to whether there was such a command.
   */
  detachProcess?(pid: number): Promise<boolean>;
}

/** One finding of a pack about the machine, for `agent doctor`. */
export interface Diagnosis {
  /** The subject of the check: `memory limit`. */
  readonly subject: string;
  readonly ok: boolean;
  /** The result. */
  readonly detail: string;
  /** How to fix it, if it is not ok. */
  readonly hint?: string;
}

/**
 * Packs by package name, so that an editor knows the options and tools of a pack that a config only names. A pack adds
 * itself. A typed config that names it also needs `import type {} from "@acme/agent-pack-weather"`.
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

/** A `string` type that does not absorb the literals next to it in a union, so that an editor still completes those. */
export type AnyText = string & Record<never, never>;

/** The pack of an entry: a name refers to the pack that added itself under it. */
type Named<Pack> = Pack extends keyof NamedPacks ? NamedPacks[Pack] : Pack;

/** The options of a pack, from the host type its `register` declares. `unknown` if it declares none. */
export type PackOptions<Pack> =
  Named<Pack> extends { readonly register: (registry: never, host: infer Host) => unknown }
    ? NonNullable<Host> extends { readonly options?: infer Options }
      ? Options
      : unknown
    : unknown;

/** The tool names of an entry: those its `register` declares, or the tool's own. `string` if it declares none. */
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
 * The names of the tools in these entries. An editor completes them; any other name is a type error, unless one of the
 * packs does not declare its names.
 */
export type ToolNames<Entries extends readonly unknown[], Own extends string = never> =
  string extends EntryTools<Entries[number]>
    ? KnownTools<Entries> | Own | AnyText
    : EntryTools<Entries[number]> | Own;

/** The names that some entries declare, if others declare none. */
type KnownTools<Entries extends readonly unknown[]> = {
  [Key in keyof Entries]: string extends EntryTools<Entries[Key]> ? never : EntryTools<Entries[Key]>;
}[number];

/**
 * The entries with each pack's options narrowed to the type that the pack takes. A pack may also be given by its `Name`.
 * Anything else must be a `ToolPack`, so that the compiler says what is missing.
 */
export type CheckedPacks<Entries extends readonly unknown[], Name = never> = WholeList<Entries> & {
  readonly [Key in keyof Entries]: Entries[Key] extends readonly [infer Pack, unknown]
    ? readonly [pack: Pack extends ToolPack | Name ? Pack : ToolPack, options: PackOptions<Pack>]
    : unknown extends Entries[Key]
      ? PackEntry
      : Entries[Key] extends PackEntry | Name
        ? Entries[Key]
        : ToolPack;
};

/**
 * Always `unknown`, so it checks nothing. From it the compiler infers the whole list, also for
 * `condition ? [fs] : [fs, bash]`: from the members of a list it would infer only one of the two.
 */
type WholeList<Entries> = Entries extends readonly unknown[] ? unknown : Entries;

/** The names of all tools of an agent with these packs, including core's own `save_session_context`. */
export type AgentToolNames<Entries extends readonly unknown[]> = ToolNames<Entries, "save_session_context">;

import type { Content } from "../conversation/content.js";
import type { CallHooks } from "../loop/hooks.js";
import type { Effort } from "../providers/interface.js";

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
   * Ends at once what must not outlive the process, without waiting and without throwing. A pack installs no handlers for
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

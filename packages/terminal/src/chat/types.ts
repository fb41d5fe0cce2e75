import type { Agent, BackgroundJobs, Effort, PackHost, ToolInfo } from "@agent/core";
import type { Mode } from "@agent/core/host";
import type { AskPermit, AskPerson } from "../approval/decision.js";
import type { SlashCommand } from "../commands/context.js";
import type { MentionPlace } from "../input/mentions.js";
import type { MenuItem } from "../input/menu.js";
import type { ChatExit } from "../system/signals.js";

/** One kept conversation. */
export interface ChatSessionInfo {
  readonly id: string;
  /** The first words of the conversation. */
  readonly title: string;
  readonly savedAt: string;
  readonly messages: number;
  /** The size of its file. */
  readonly bytes: number;
}

/** What the agent may do without asking, as far as the chat shows and switches it. */
export interface ChatPermissions {
  readonly mode: Mode;
  /** Switches to the next mode and returns it. */
  cycle(): Mode;
  /** Called when the user turned a tool off, which must stay so. */
  leaveOff(name: string): void;
}

/** Is informed when a message begins and ends. */
export interface TurnObserver {
  begin(message: string): void;
  end(): Promise<void>;
}

/** Leaves the terminal to `work` while it asks in plain lines. */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

/** The kept conversations of a project, as the chat switches between them. */
export interface ChatSessions {
  /** The name of the current one, for `agent --resume`. */
  readonly id: () => string;
  list(): Promise<readonly ChatSessionInfo[]>;
  /** Continues with another one, by the start of its name. Rejects if there is none. */
  open(id: string): Promise<void>;
  /** Starts a new one, without the conversation so far. */
  startNew(): Promise<void>;
  /** Continues in a copy. */
  fork(): Promise<void>;
}

/** An instruction file of the project or the user, given to the model at the start. */
interface ReadInstruction {
  readonly path: string;
  /** How large it is, and how much of it the model sees. */
  readonly size: string;
}

/** Information the chat needs besides the agent. */
export interface ChatSettings {
  /** Shown when the chat starts: which model answers, what is not available, warnings. */
  readonly banner: readonly string[];
  readonly model: string;
  /** Tools whose calls run only after approval. */
  readonly confirm: ReadonlySet<string>;
  readonly permissions: ChatPermissions;
  /** Is informed about each message, to record what it changes. */
  readonly turns?: TurnObserver;
  /** Background work of all packs together, for `/status`. */
  readonly jobs: BackgroundJobs;
  /** Why a tool is on or off, for `/tools`: "off by default", "enabled in agent.config.ts". */
  readonly explain: (tool: ToolInfo) => string;
  /** Switches to another model for the next message and resolves to its name; absent where that is not possible. */
  readonly switchModel?: (model: string) => Promise<string>;
  /** The models the server has, where it says so. */
  readonly listModels?: () => Promise<readonly string[]>;
  /** The kept conversations; absent where none is kept. */
  readonly sessions?: ChatSessions;
  /** What was read from AGENTS.md and the like, for `/context`. */
  readonly instructions?: () => readonly ReadInstruction[];
  /** Commands of the host, by their names with the slash. One with the name of a built-in command replaces it. */
  readonly commands?: Readonly<Record<string, SlashCommand>>;
  /** Commands of the user and the project. One with the name of another command is left out. */
  readonly ownCommands?: Readonly<Record<string, SlashCommand>>;
  /** The size of the model's context, where it is known. */
  readonly contextTokens?: () => number | undefined;
  /** The reasoning efforts of the model, where they are known. */
  readonly efforts?: () => readonly Effort[] | undefined;
  /** A turn that took this long ends with a bell. Absent: there is no bell. */
  readonly notifyAfterMs?: number;
}

/** Paths of the chat's own files. */
export interface ChatPlaces {
  /** Input of earlier chats; absent: nothing is remembered. */
  readonly historyFile: string | undefined;
  /** Which files a message can attach, and where pasted images are kept. */
  readonly mentions: MentionPlace;
}

/** The agent, and everything the chat needs to know about it. */
export interface ReadyChat {
  readonly agent: Agent;
  readonly settings: ChatSettings;
  /** Called once when the chat is over and the terminal is restored. */
  end(): Promise<void>;
}

/** The chat in a terminal. Created first, because the agent asks it for approval. */
export interface Chat {
  readonly ask: AskPerson;
  /** Puts a question of a pack to the user. */
  readonly question: NonNullable<PackHost["ask"]>;
  /** Asks whether a running call may do more than was approved. */
  readonly askPermit: AskPermit;
  /** Starts a turn with a notice of a pack, as soon as no message is being answered. */
  readonly wake: NonNullable<PackHost["wake"]>;
  /** Hides the prompt while something asks in plain lines, and brings it back. */
  readonly aside: Aside;
  /** Shows a warning. */
  readonly notice: (message: string) => void;
  /** Lets the user choose from a list. */
  readonly pick: (title: string, items: readonly MenuItem[]) => Promise<string | undefined>;
  /**
   * Runs the chat until the user quits; the terminal is restored whatever happens. Messages written while `load` runs
   * wait for its end. Its signal aborts when the user leaves meanwhile; what it makes all the same is ended. `isPromptShown`
   * says that `drawFirstPrompt` has drawn the first prompt. Rejects with what `load`
   * rejects with.
   */
  run(load: (left: AbortSignal) => Promise<ReadyChat>, isPromptShown?: boolean): Promise<ChatExit>;
}

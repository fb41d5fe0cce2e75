import type { Agent, BackgroundJobs, Effort, PackHost, ToolInfo } from "@agent/core";
import type { AskPerson } from "../assembly/gate.js";
import type { OwnCommand } from "../assembly/ownCommands.js";
import type { SessionInfo } from "../assembly/sessions.js";
import type { Style } from "../display/style.js";
import type { Permissions } from "../permissions/permissions.js";
import type { AskPermit } from "../permissions/permit.js";
import type { Aside } from "../process/ask.js";
import type { ExitCode } from "../process/exitCodes.js";
import type { UndoLog } from "../undo/undoLog.js";
import type { MenuItem } from "./menu.js";

/** The kept conversations of a project, as the chat switches between them. */
export interface ChatSessions {
  /** The name of the current one, for `agent --resume`. */
  readonly id: () => string;
  list(): Promise<SessionInfo[]>;
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
  readonly permissions: Permissions;
  /** The file changes of each message; absent if they are not recorded. */
  readonly undo?: () => UndoLog | undefined;
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
  /** Commands and skills of the user and the project. */
  readonly ownCommands?: readonly OwnCommand[];
  /** The size of the model's context, where it is known. */
  readonly contextTokens?: () => number | undefined;
  /** The reasoning efforts of the model, where they are known. */
  readonly efforts?: () => readonly Effort[] | undefined;
  /** A turn that took this long ends with a bell. Absent: there is no bell. */
  readonly notifyAfterMs?: number;
  /** The lines of a resumed conversation, to show it again. */
  readonly resumed?: (style: Style) => readonly string[];
}

/** The slash commands. They are loaded together with the agent: the first prompt does not wait for them. */
type SlashCommands = typeof import("./commands/slashCommands.js").slashCommands;

/** Paths of the chat's own files. */
export interface ChatPlaces {
  /** Input of earlier chats; absent: nothing is remembered. */
  readonly historyFile: string | undefined;
  /** Images that were pasted. */
  readonly imageDirectory: string;
}

/** The agent, and everything the chat needs to know about it. */
export interface ReadyChat {
  readonly agent: Agent;
  readonly settings: ChatSettings;
  readonly slash: SlashCommands;
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
  run(load: (left: AbortSignal) => Promise<ReadyChat>, isPromptShown?: boolean): Promise<ExitCode>;
}

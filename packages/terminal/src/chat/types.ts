import type { Agent, PackHost, ToolInfo } from "@agent/core";
import type { AskPerson, Permissions } from "@agent/core/host";
import type { AskPermit } from "../approval/personQuestion.js";
import type { SlashCommand } from "../commands/context.js";
import type { KeyBindings } from "../input/bindings.js";
import type { MentionPlace } from "../input/mentions.js";
import type { MenuItem } from "../input/menu.js";
import type { Status, StatusPart } from "../screen/statusRow.js";
import type { NotifyBy } from "../screen/terminalSignals.js";
import type { ChatExit } from "../system/signals.js";
import type { Theme } from "../text/theme.js";

/** An instruction file of the project or the user, given to the model at the start. */
export interface ReadInstruction {
  readonly path: string;
  /** How large it is, and how much of it the model sees. */
  readonly size: string;
}

/** Is informed when a message begins and ends. */
export interface TurnObserver {
  begin(message: string): void;
  end(): Promise<void>;
}

/** What a chat shows and offers besides the agent. */
export interface ChatOptions {
  /** The program and its version, shown with the directory and the branch when the chat starts. */
  readonly program?: string;
  /** Lines that are shown when the chat starts: which model answers, what is not available. */
  readonly banner?: readonly string[];
  /** The name of the model, for the status row. */
  readonly model?: () => string | undefined;
  /** The size of the model's context, where it is known, for the status row and `/context`. */
  readonly contextTokens?: () => number | undefined;
  /** The id of the conversation, for the name of an export. */
  readonly sessionId?: () => string | undefined;
  /** The name of the conversation, if it has one, for the status row, the title of the terminal and of an export. */
  readonly sessionName?: () => string | undefined;
  /** The git branch of the working directory, for the status row. */
  readonly branch?: () => string | undefined;
  /** What the row below the input line shows, in this order. The mode is always there. Default: every part. */
  readonly statusParts?: readonly StatusPart[];
  /**
   * Makes a text that is shown in place of the parts. It is called after a message and while it is answered, at most once a
   * second, and never for a key. The text is one line and safe to show.
   */
  readonly statusText?: (status: Status) => Promise<string | undefined>;
  /** Why a tool is on or off, for `/tools`: "by default". */
  readonly explainTool?: (tool: ToolInfo) => string;
  /** What was read from AGENTS.md and the like, for `/context`. */
  readonly instructions?: () => readonly ReadInstruction[];
  /** Commands by their names with the slash. One with the name of a built-in command replaces it. */
  readonly commands?: Readonly<Record<string, SlashCommand>>;
  /** Commands of the user and the project. One with the name of another command is left out. */
  readonly ownCommands?: Readonly<Record<string, SlashCommand>>;
  /** Called once, when the chat has started, with a function that shows the status anew. */
  readonly onStart?: (updateStatus: () => void) => void;
  /** Is informed about each message, to record what it changes. */
  readonly turns?: TurnObserver;
  /** A turn that takes this long notifies the user when it asks something or has ended. Absent: there is no notification. */
  readonly notifyAfterMs?: number;
  /** How: the bell, or a message that the terminal shows. Default: a message where the terminal is known to show one. */
  readonly notifyBy?: NotifyBy;
  /** Whether the title of the terminal's window names the session and says that work runs. Default: it does not. */
  readonly title?: boolean;
  /** Whether the terminal's tab shows that work runs. Default: where that is known to work, if `title` is true. */
  readonly progress?: boolean;
  /** The colours. Default: those of the terminal. `auto` has its own on a light background. */
  readonly theme?: Theme;
  /** Keys and what they do: an action, a command such as `/tools`, or `none`. */
  readonly keys?: KeyBindings;
  /** Whether the input line has the keys of vi. */
  readonly vim?: boolean;
  /** Lines that are printed after the chat, such as how to continue the conversation. */
  readonly farewell?: () => readonly string[];
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
  readonly permissions: Permissions;
  readonly options: ChatOptions;
  /** Called once when the chat is over and the terminal is restored. */
  end?(): Promise<void>;
}

/** Leaves the terminal to `work` while it asks in plain lines. */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

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
   * wait for its end. Its signal aborts when the user leaves meanwhile; what it makes all the same is ended. A prompt of
   * `drawFirstPrompt` is taken over. Rejects with what `load` rejects with.
   */
  run(load: (left: AbortSignal) => Promise<ReadyChat>): Promise<ChatExit>;
}

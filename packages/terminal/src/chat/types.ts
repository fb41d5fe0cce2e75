import type { Agent, PackHost, ToolInfo } from "@agent/core";
import type { AskUser, Permissions } from "@agent/core/host";
import type { AskPermit } from "../approval/userQuestion.js";
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
  /** Its size, and how much of it the model sees. */
  readonly size: string;
}

/** Notified when a message starts and ends. */
export interface TurnObserver {
  begin(message: string): void;
  end(): Promise<void>;
}

/** What a chat shows and offers besides the agent. */
export interface ChatOptions {
  /** The program and its version, shown with the directory and the branch when the chat starts. */
  readonly program?: string;
  /** Lines shown when the chat starts: the model, unavailable features. */
  readonly banner?: readonly string[];
  /** The name of the model, for the status row. */
  readonly model?: () => string | undefined;
  /** The size of the model's context, if known, for the status row and `/context`. */
  readonly contextTokens?: () => number | undefined;
  /** The id of the conversation, for the name of an export. */
  readonly sessionId?: () => string | undefined;
  /** The name of the conversation, if it has one, for the status row, the title of the terminal and of an export. */
  readonly sessionName?: () => string | undefined;
  /** The git branch of the working directory, for the status row. */
  readonly branch?: () => string | undefined;
  /** The parts of the row below the input line, in this order. The mode is always shown. Default: every part. */
  readonly statusParts?: readonly StatusPart[];
  /**
   * Returns a text that is shown instead of the parts. Called after a message and while it is answered, at most once a
   * second, and never for a key. The text must be one line and safe to display.
   */
  readonly statusText?: (status: Status) => Promise<string | undefined>;
  /** Why a tool is enabled or disabled, for `/tools`: "by default". */
  readonly explainTool?: (tool: ToolInfo) => string;
  /** The instructions read from AGENTS.md and similar files, for `/context`. */
  readonly instructions?: () => readonly ReadInstruction[];
  /** Commands by name, including the slash. One with the name of a built-in command replaces it. */
  readonly commands?: Readonly<Record<string, SlashCommand>>;
  /** Commands of the user and the project. One with the name of another command is ignored. */
  readonly ownCommands?: Readonly<Record<string, SlashCommand>>;
  /** Called once when the chat has started, with a function that refreshes the status. */
  readonly onStart?: (updateStatus: () => void) => void;
  /** Notified about each message, to record its changes. */
  readonly turns?: TurnObserver;
  /**
   * A turn that takes at least this long notifies the user when it asks something or has ended. Absent: no
   * notification.
   */
  readonly notifyAfterMs?: number;
  /**
   * How to notify: the bell, or a message that the terminal shows. Default: a message if the terminal is known to
   * support it.
   */
  readonly notifyBy?: NotifyBy;
  /** Whether the window title shows the session and that work is running. Default: it does not. */
  readonly title?: boolean;
  /**
   * Whether the terminal's tab shows that work is running. Default: if the terminal supports it and `title` is true.
   */
  readonly progress?: boolean;
  /** The colour theme. Default: the terminal's own colours. `auto` uses different ones on a light background. */
  readonly theme?: Theme;
  /** Key bindings: an action, a command such as `/tools`, or `none`. */
  readonly keys?: KeyBindings;
  /** Whether the input line has vi key bindings. */
  readonly vim?: boolean;
  /** Lines printed after the chat, such as how to resume the conversation. */
  readonly farewell?: () => readonly string[];
}

/** Paths of the chat's own files. */
export interface ChatPlaces {
  /** The history file for input of earlier chats; absent: nothing is remembered. */
  readonly historyFile: string | undefined;
  /** Which files a message can attach, and where pasted images are stored. */
  readonly mentions: MentionPlace;
}

/** The agent, and everything the chat needs to know about it. */
export interface ReadyChat {
  readonly agent: Agent;
  readonly permissions: Permissions;
  readonly options: ChatOptions;
  /** Called once when the chat has ended and the terminal is restored. */
  end?(): Promise<void>;
}

/** Leaves the terminal to `work` while it asks in plain lines. */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

/** The chat in a terminal. Created first, because the agent asks it for approval. */
export interface Chat {
  readonly ask: AskUser;
  /** Asks the user a question of a pack. */
  readonly question: NonNullable<PackHost["ask"]>;
  /** Asks whether a running call may do more than was approved. */
  readonly askPermit: AskPermit;
  /** Starts a turn with a notice of a pack, as soon as no message is being answered. */
  readonly wake: NonNullable<PackHost["wake"]>;
  /** Hides the prompt while something asks in plain lines, and restores it. */
  readonly aside: Aside;
  /** Shows a warning. */
  readonly notice: (message: string) => void;
  /** Lets the user choose from a list. */
  readonly pick: (title: string, items: readonly MenuItem[]) => Promise<string | undefined>;
  /**
   * Runs the chat until the user quits; the terminal is restored in any case. Messages written while `load` runs are
   * queued. Its signal aborts when the user quits meanwhile; what it still creates is disposed of. A prompt of
   * `drawFirstPrompt` is taken over. Rejects with the rejection of `load`.
   */
  run(load: (left: AbortSignal) => Promise<ReadyChat>): Promise<ChatExit>;
}

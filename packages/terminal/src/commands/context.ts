import type { Agent, Content } from "@agent/core";
import type { Permissions } from "@agent/core/host";
import type { CallLog } from "../chat/callLog.js";
import type { ChatUsage } from "../chat/chatUsage.js";
import type { ChatOptions } from "../chat/types.js";
import type { ChatView } from "../chat/view.js";

/** The state that commands work on. */
export interface CommandContext {
  readonly agent: Agent;
  readonly permissions: Permissions;
  readonly options: ChatOptions;
  readonly log: CallLog;
  readonly view: Pick<
    ChatView,
    "style" | "columns" | "keys" | "pick" | "expandable" | "expand" | "giveBack" | "copy"
  >;
  readonly usage: ChatUsage;
  /** Whether a message is being answered. */
  readonly busy: () => boolean;
  readonly stopTurn: () => void;
  readonly quit: () => void;
  /** Adds a note for the model to the next message. */
  readonly tellModel: (text: string) => void;
  /** Sends a message as if the user had written it. */
  readonly send: (content: Content, shown: string) => void;
  /** Runs slow work as a turn: `doing` is shown meanwhile, Esc interrupts it, and messages are queued. */
  readonly work: <T>(doing: string, run: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  readonly updateStatus: () => void;
  /** Tools that were enabled or disabled in this chat, for `/tools`. */
  readonly switched: Map<string, boolean>;
  /** Files that `/export` wrote in this chat, which it may overwrite. */
  readonly exported: Set<string>;
}

export interface SlashCommand {
  readonly usage: string;
  readonly help: string;
  /** The possible next words, for completion. */
  readonly words?: (
    context: CommandContext,
    before: readonly string[],
  ) => Promise<readonly string[]> | readonly string[];
  /** Resolves to the lines to show. */
  readonly run: (argument: string, context: CommandContext) => Promise<readonly string[]> | readonly string[];
}

export const BUSY = "A message is being answered. Stop it with Esc first.";

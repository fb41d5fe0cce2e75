import type { Agent } from "@agent/core";
import { type Mode, Permissions } from "@agent/core/host";
import type { MentionPlace } from "../input/mentions.js";
import type { ChatExit } from "../system/signals.js";
import { createChat } from "./createChat.js";
import type { ChatOptions } from "./types.js";

/** Options of `runChat`. */
export interface RunChatOptions extends ChatOptions {
  /** What runs without asking. Default `"edits"`: reads and edits of files run, everything else is asked about. */
  readonly mode?: Mode;
  /** Decides about calls instead of `mode`: with rules, or with grants that are stored on disk. */
  readonly permissions?: Permissions;
  /** The history file for input of earlier chats. Default: input is forgotten when the chat ends. */
  readonly historyFile?: string;
  /**
   * Which files `@file` can attach. Default: all files the process can read, except symlinks out of the working
   * directory.
   */
  readonly mentions?: Partial<MentionPlace>;
}

/**
 * Runs a chat with the agent on the terminal of this process until the user quits, and resolves to an exit code: 0, or
 * that of the signal that terminated it. During the chat it decides about the agent's calls, instead of the agent's own
 * `approve` and `rules`. Without a terminal, or with `TERM=dumb`, it reads and prints plain lines.
 */
export async function runChat(agent: Agent, options: RunChatOptions = {}): Promise<ChatExit> {
  const { mode = "edits", historyFile, mentions } = options;
  const permissions = options.permissions ?? new Permissions({ registry: agent.registry, mode });
  const chat = createChat({ historyFile, mentions: { cwd: process.cwd(), ...mentions } });
  const restore = agent.setApproval(permissions.approval(chat.ask, chat.notice));
  try {
    return await chat.run(async () => ({ agent, permissions, options }));
  } finally {
    restore();
  }
}

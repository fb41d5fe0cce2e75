/** The terminal chat of the `agent` command, for any program with an agent. */

export { type RunChatOptions, runChat } from "./chat/runChat.js";
export type { ChatOptions, ReadInstruction, TurnObserver } from "./chat/types.js";
export type { CommandContext, SlashCommand } from "./commands/context.js";
export type { MentionPlace } from "./input/mentions.js";

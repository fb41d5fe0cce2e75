/** A terminal chat with an agent, for any program: the one of the `agent` command. */

export { type RunChatOptions, runChat } from "./chat/runChat.js";
export type { ChatOptions, ReadInstruction, TurnObserver } from "./chat/types.js";
export type { CommandContext, SlashCommand } from "./commands/context.js";
export type { MentionPlace } from "./input/mentions.js";

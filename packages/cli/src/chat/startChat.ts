import { join } from "node:path";
import { type Aside, createChat } from "@agent/terminal/host";
import type { InstructionUse } from "../instructions/instructions.js";
import type { ExitCode } from "../process/exitCodes.js";
import { stateDirectory } from "../process/paths.js";
import { mentionPlace } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";

export interface StartOptions {
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
}

/** Loads everything from disk before the provider is chosen. Questions meanwhile are asked in plain lines. */
export interface ChatSetup {
  readonly loaded: LoadedSettings;
  /** Which AGENTS.md and similar files the model gets. */
  readonly instructions: InstructionUse;
  /** Lines for the start screen. */
  readonly notes: readonly string[];
}

/** `agent` in a terminal. Draws the prompt first; settings, provider and tools are loaded meanwhile. */
export async function startChat(
  options: StartOptions,
  setUp: (aside: Aside) => Promise<ChatSetup>,
): Promise<ExitCode> {
  const mentions = mentionPlace(process.cwd());
  const chat = createChat({ historyFile: join(stateDirectory(), "history"), mentions });
  return await chat.run(async (left) => {
    const [setup, { prepareChat }] = await Promise.all([setUp(chat.aside), import("./prepareChat.js")]);
    return await prepareChat(setup, options, chat, left);
  });
}

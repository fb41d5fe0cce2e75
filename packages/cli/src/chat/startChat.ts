import { join } from "node:path";
import type { CrashGuard } from "../process/crash.js";
import type { ExitCode } from "../process/exitCodes.js";
import { stateDirectory } from "../process/paths.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { createChat } from "./createChat.js";
import type { Chat, ReadyChat } from "./types.js";

export interface StartOptions {
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
  readonly guard: CrashGuard;
}

/** `agent` in a terminal. The prompt comes first; who answers and the tools are loaded behind it. */
export async function startChat(loaded: LoadedSettings, options: StartOptions): Promise<ExitCode> {
  const chat = createChat(join(stateDirectory(), "history"));
  return await chat.run(() => prepare(loaded, options, chat));
}

async function prepare(
  loaded: LoadedSettings,
  options: StartOptions,
  { approve, notice }: Chat,
): Promise<ReadyChat> {
  const { assembleAgent } = await import("../assembly/assembleAgent.js");
  const assembled = await assembleAgent(loaded, { ...options, approve, onProblem: notice });
  const { agent, tools, chosen, provider, problems, recording, dispose } = assembled;
  const { withModel } = chosen;
  return {
    agent,
    settings: {
      // A sentence a line: a terminal would break them in the middle of a word.
      banner: [...chosen.description.split(/(?<=\.) /), ...problems],
      model: chosen.model,
      confirm: tools.confirm,
      jobs: agent.registry.services.jobs,
      explain: ({ name }) => tools.reasons.get(name) ?? "",
      ...(recording && { startNewSession: () => recording.startNew() }),
      ...(withModel && {
        switchModel: async (model: string) => {
          provider.use(await withModel(model));
          return model;
        },
      }),
    },
    end: dispose,
  };
}

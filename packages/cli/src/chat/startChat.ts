import { join } from "node:path";
import type { Approve } from "@agent/core";
import type { ExitCode } from "../process/exitCodes.js";
import { stateDirectory } from "../process/paths.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { createChat } from "./createChat.js";
import type { ReadyChat } from "./types.js";

export interface StartOptions {
  readonly resume: string | true | undefined;
  readonly keepSession: boolean;
}

/** `agent` in a terminal. The prompt comes first; who answers and the tools are loaded behind it. */
export async function startChat(loaded: LoadedSettings, options: StartOptions): Promise<ExitCode> {
  const chat = createChat(join(stateDirectory(), "history"));
  return await chat.run(() => prepare(loaded, options, chat.approve));
}

async function prepare(
  loaded: LoadedSettings,
  { resume, keepSession }: StartOptions,
  approve: Approve,
): Promise<ReadyChat> {
  const { compose } = await import("../assembly/assembleAgent.js");
  const { agent, toolbox, chosen, provider, jobs, problems, keep } = await compose(loaded, resume, approve);
  const { withModel } = chosen;
  return {
    agent,
    settings: {
      // A sentence a line: a terminal would break them in the middle of a word.
      banner: [...chosen.description.split(/(?<=\.) /), ...problems],
      model: chosen.model,
      confirm: toolbox.confirm,
      jobs,
      explain: ({ name }) => toolbox.reasons.get(name) ?? "",
      ...(withModel && {
        switchModel: async (model: string) => {
          provider.use(await withModel(model));
          return model;
        },
      }),
    },
    end: async () => {
      await Promise.all(jobs.list().map(({ id }) => jobs.end(id)));
      if (keepSession) await keep();
    },
  };
}

import { EFFORTS } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine } from "@agent/internal";
import type { CommandContext, SlashCommand } from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";

interface Models extends Pick<AssembledAgent, "provider"> {
  /** The models of the server, if it lists them. */
  readonly list: (() => Promise<readonly string[]>) | undefined;
  readonly withModel: AssembledAgent["chosen"]["withModel"];
}

interface ModelSource extends Pick<AssembledAgent, "provider"> {
  readonly chosen: Pick<AssembledAgent["chosen"], "listModels" | "withModel">;
}

/** Commands about the model that answers. */
export function modelCommands({
  chosen: { listModels, withModel },
  provider,
}: ModelSource): Readonly<Record<string, SlashCommand>> {
  const list = listModels && onceDone(async () => (await listModels()).map(({ id }) => id));
  const models: Models = { provider, list, withModel };
  return {
    "/model": {
      usage: "/model [NAME] [EFFORT]",
      help: "show or change the model and how much it thinks",
      words: async (_context, before) =>
        before.length === 1 ? [...((await list?.()) ?? []), ...EFFORTS] : before.length === 2 ? EFFORTS : [],
      run: (argument, context) => switchModel(argument, models, context),
    },
    "/effort": {
      usage: "/effort [LEVEL]",
      help: "show or change how much the model thinks",
      words: () => EFFORTS,
      run: (argument, context) => switchEffort(argument, models, context),
    },
  };
}

async function switchEffort(argument: string, models: Models, context: CommandContext): Promise<string[]> {
  const { agent, view } = context;
  const { efforts = EFFORTS } = models.provider;
  const now = agent.effort ?? "the model's own default";
  if (argument === "" && efforts.length === 0)
    return [`${escapeToLine(models.provider.model)} has no reasoning effort to choose.`];
  const items = efforts.map((one) => ({
    value: one,
    label: one,
    detail: one === agent.effort ? "now" : "",
  }));
  const wanted = argument === "" ? await view.pick(`Reasoning effort (now: ${now})`, items) : argument;
  if (wanted === undefined) return [];
  if (!EFFORTS.some((one) => one === wanted))
    return [`There is no effort ${quote(wanted)}. ${didYouMean(wanted, EFFORTS)}`];
  return await switchModel(wanted, models, context);
}

async function switchModel(
  argument: string,
  models: Models,
  { view, agent, updateStatus }: CommandContext,
): Promise<string[]> {
  const { provider, list, withModel } = models;
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const effort = EFFORTS.find((one) => one === words.at(-1));
  const name = (effort === undefined ? words : words.slice(0, -1)).join(" ");
  const effortLine = (): string => {
    const { efforts, model } = provider;
    const supported = agent.effort === undefined || !efforts || efforts.includes(agent.effort);
    return supported
      ? `Reasoning effort: ${agent.effort}.`
      : `${escapeToLine(model)} does not support the effort ${agent.effort}; the nearest it has is used. It has: ${efforts.join(", ") || "none"}.`;
  };
  if (effort !== undefined && name === "") {
    agent.setEffort(effort);
    updateStatus();
    return [effortLine()];
  }
  const known = await list?.().catch(() => undefined);
  let wanted: string | undefined = name;
  if (name === "") {
    if (!known || known.length === 0 || !withModel) return [`${escapeToLine(provider.model)} answers.`];
    const items = known.map((one) => ({
      value: one,
      label: one,
      detail: one === provider.model ? "answers now" : "",
    }));
    wanted = await view.pick("Which model", items);
    if (wanted === undefined) return [];
  }
  if (!withModel) return ["The model cannot be changed in this chat. Start again with --model."];
  if (known && known.length > 0 && !known.includes(wanted)) {
    return [
      `The server has no model ${quote(wanted)}. ${didYouMean(wanted, [...known, ...EFFORTS], { otherwise: didYouMean(wanted, known) })}`,
    ];
  }
  provider.use(await withModel(wanted));
  if (effort !== undefined) agent.setEffort(effort);
  updateStatus();
  return [
    `${escapeToLine(provider.model)} answers from the next message on.`,
    ...(effort === undefined ? [] : [effortLine()]),
  ];
}

/** Does the work on the first call. A failure is not cached: the next call tries again. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import type { BudgetLimits, Telemetry } from "@agent/core";
import type { RunDefinition } from "@agent/durable";
import { assembleAgent } from "../../assembly/assembleAgent.js";
import { askWith } from "../../permissions/gate.js";
import { note } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import type { LoadedSettings } from "../../settings/loadSettings.js";

/** The input of a run of this command. */
export interface TaskInput extends BudgetLimits {
  readonly task: string;
}

export const TASK = "task";

/**
 * The label of this directory. Only workers in the same directory claim a run, because a journal does not contain
 * files.
 */
export function directoryLabel(): string {
  return `dir:${realpathSync(process.cwd())}`;
}

/** A task like `agent "…"`, with the settings of the worker. */
export function taskDefinition(loaded: LoadedSettings, telemetry?: Telemetry): RunDefinition<TaskInput> {
  return {
    name: TASK,
    version: `${readVersion()}+${settingsDigest(loaded)}`,
    async create(run) {
      const { agent, dispose } = await assembleAgent(loaded, {
        resume: undefined,
        record: false,
        unattended: true,
        instructions: "all",
        ask: askWith(run.approve),
        steps: run.steps,
        limits: limitsOf(run.input),
        onBudget: run.onBudget,
        ...(telemetry && { telemetry }),
        onProblem: (message) => note(`agent: ${message}`),
      });
      return {
        agent: {
          streamChat: (message, options) => agent.streamChat(message, options),
          steer: (message) => agent.steer(message),
          settled: () => agent.settled(),
          dispose,
        },
        message: run.input.task,
        waitsInWorker: loaded.settings.fallback !== undefined,
      };
    },
  };
}

function limitsOf({ maxCost, maxTokens }: TaskInput): BudgetLimits {
  return { ...(maxCost !== undefined && { maxCost }), ...(maxTokens !== undefined && { maxTokens }) };
}

/**
 * A digest of the settings, so that a run that continues with another model, prompt or set of tools reports it.
 * Functions in a config are compared by their source text.
 */
function settingsDigest({ settings }: LoadedSettings): string {
  const { packs, switches, confirm, permissions, provider, model, systemPrompt, agents, ...rest } = settings;
  const relevant = {
    packs: packs.map(({ name, options }) => ({ name, options })),
    switches: switches.map(({ action, names }) => ({ action, names })),
    confirm: confirm.map(({ names }) => names),
    permissions,
    mode: rest.mode,
    sandbox: rest.sandbox,
    provider,
    model,
    systemPrompt,
    agents,
    readOnly: rest.readOnly,
    fallback: rest.fallback,
    addDirs: rest.addDirs,
    limits: [rest.maxTurns, rest.maxRepeats, rest.contextTokens],
    effort: rest.effort,
    smallModel: rest.smallModel,
  };
  const seen = new Set<unknown>();
  const text = JSON.stringify(relevant, (_, value) => {
    if (typeof value === "function") return String(value);
    // A provider object of a config may contain cycles.
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value;
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

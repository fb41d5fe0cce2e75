import { realpathSync } from "node:fs";
import type { RunDefinition } from "@agent/durable";
import { assembleAgent } from "../../assembly/assembleAgent.js";
import { askWith } from "../../assembly/gate.js";
import type { CrashGuard } from "../../process/crash.js";
import { note } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import type { LoadedSettings } from "../../settings/loadSettings.js";

/** What a run of the command is about. */
export interface TaskInput {
  readonly task: string;
}

export const TASK = "task";

/** Runs are given only to workers in the directory they were started in: a journal moves words, not files. */
export function directoryLabel(): string {
  return `dir:${realpathSync(process.cwd())}`;
}

/** A task as `agent "…"` does it, with the settings of the worker. */
export function taskDefinition(loaded: LoadedSettings, guard: CrashGuard): RunDefinition<TaskInput> {
  return {
    name: TASK,
    version: readVersion(),
    async create(run) {
      const { agent, dispose } = await assembleAgent(loaded, {
        resume: undefined,
        record: false,
        // What the settings do not ask for runs: there may be nobody to switch the mode.
        mode: "auto",
        instructions: true,
        ask: askWith(run.approve),
        steps: run.steps,
        guard,
        onProblem: (message) => note(`agent: ${message}`),
      });
      return {
        agent: {
          streamChat: (message, options) => agent.streamChat(message, options),
          settled: () => agent.settled(),
          dispose,
        },
        message: run.input.task,
      };
    },
  };
}

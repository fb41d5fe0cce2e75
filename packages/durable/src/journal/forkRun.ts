import { AgentError } from "@agent/core";
import type { JournalEntry, RunAccess } from "../engine/engine.js";
import { MESSAGES_KEY, VERSION_KEY } from "./keys.js";

/** A completed step of a run: an answer of its model, or a call of a tool. */
export interface RunStep {
  /** Counted from 1. */
  readonly number: number;
  readonly key: string;
  readonly value: unknown;
}

/** The completed steps of a run, in order. */
export function stepsOf(journal: readonly JournalEntry[]): readonly RunStep[] {
  return journal.filter(isStep).map(({ key, value }, index) => ({ number: index + 1, key, value }));
}

export interface ForkOptions {
  /** How many completed steps it takes over. Default: all. */
  readonly steps?: number;
  /** The id of the new run. Default: a new one. */
  readonly id?: string;
}

/**
 * Starts a run with the input and the first steps of another one, which is unchanged. Later steps are executed again:
 * the model is asked again, and calls run again. Resolves to the id of the new run.
 */
export async function forkRun(engine: RunAccess, id: string, options: ForkOptions = {}): Promise<string> {
  const run = await engine.get(id);
  if (!run) throw new AgentError("invalid_argument", `There is no run "${id}".`);
  const journal = await engine.journal(id);
  const { steps = stepsOf(journal).length, id: newId = crypto.randomUUID() } = options;
  if (!Number.isInteger(steps) || steps < 0 || steps > stepsOf(journal).length) {
    throw new AgentError(
      "invalid_argument",
      `steps must be a whole number from 0 to ${stepsOf(journal).length}, got ${steps}.`,
    );
  }
  const kept = firstSteps(journal, steps);
  const keys = new Set(kept.map(({ key }) => key));
  const delivered = kept.findLast(({ key }) => key.endsWith(MESSAGES_KEY))?.value ?? 0;
  const { definition, version, tenant, labels, priority, input, title } = run;
  await engine.create({
    ...{ id: newId, definition, version, tenant, labels, priority, input },
    ...(title !== undefined && { title }),
    fork: {
      from: id,
      journal: kept,
      decisions: run.decisions.filter(({ key }) => keys.has(key)),
      messages: run.messages.slice(0, Number(delivered)),
    },
  });
  return newId;
}

function firstSteps(journal: readonly JournalEntry[], steps: number): readonly JournalEntry[] {
  const kept: JournalEntry[] = [];
  let count = 0;
  for (const entry of journal) {
    // Intents after the last step are dropped; messages sent right after it are kept.
    if (count === steps && !entry.key.endsWith(MESSAGES_KEY)) break;
    kept.push(entry);
    if (isStep(entry)) count++;
  }
  return steps === 0 ? [] : kept;
}

function isStep({ key, kind }: JournalEntry): boolean {
  return kind === "result" && key !== VERSION_KEY && !key.endsWith(MESSAGES_KEY);
}

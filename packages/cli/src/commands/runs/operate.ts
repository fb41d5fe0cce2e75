import { forkRun, stepsOf } from "@agent/durable";
import { countOf, escapeToLine } from "@agent/internal";
import { formatDuration } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, note, print, printLine } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { followRun } from "./follow.js";
import { findRun, parseCount, stateText } from "./text.js";

interface Flags extends EngineFlags {
  readonly json?: boolean;
}

const MAX_MESSAGE = 64 * 1024;

/** `agent runs send`: sends a further message to a run. */
export async function sendCommand(
  start: string,
  words: readonly string[],
  flags: Flags & { readonly follow?: boolean },
): Promise<ExitCode> {
  const message = words.join(" ").trim();
  if (message === "") throw new CliError("There is no message.");
  if (message.length > MAX_MESSAGE) throw new CliError(`A message has at most ${MAX_MESSAGE} characters.`);
  return await withEngine(flags, async (engine) => {
    const run = await findRun(engine, start);
    const { id } = run;
    if (!(await engine.send(id, message))) {
      throw new CliError(
        `Run ${id} takes no message: it is ${stateText(run)}. Retry it first.`,
        EXIT.refused,
      );
    }
    if (flags.follow) return await followRun(engine, id, { json: flags.json ?? false });
    if (flags.json) print(`${JSON.stringify({ v: 1, id, sent: true })}\n`);
    else printLine(`${id}: sent`);
    return EXIT.done;
  });
}

/** `agent runs steps`: lists the completed steps of a run, numbered for `agent runs fork`. */
export async function stepsCommand(start: string, flags: Flags): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const { id } = await findRun(engine, start);
    const steps = stepsOf(await engine.journal(id));
    if (flags.json) print(`${JSON.stringify({ v: 1, steps }, undefined, 2)}\n`);
    else if (steps.length === 0) printLine("It has completed no step.");
    else print(columns(steps.map(({ number, key, value }) => [String(number), key, stepText(value)])));
    return EXIT.done;
  });
}

/** The text of an answer or of a result, and the tools that an answer calls. */
function stepText(value: unknown): string {
  const { content, toolCalls, text } = (value ?? {}) as Record<string, unknown>;
  const calls = Array.isArray(toolCalls) ? toolCalls.map((one) => `calls ${one?.function?.name}`) : [];
  const shown = [content ?? text, ...calls].filter((part) => typeof part === "string" && part !== "");
  return escapeToLine(shown.join(", ")).slice(0, 80);
}

export interface ForkFlags extends Flags {
  readonly steps?: string;
  readonly id?: string;
  readonly follow?: boolean;
}

/** `agent runs fork`: creates a run that begins with the first steps of another one. */
export async function forkCommand(start: string, flags: ForkFlags): Promise<ExitCode> {
  const steps =
    flags.steps === undefined || flags.steps === "0" ? undefined : parseCount(flags.steps, "--steps");
  return await withEngine(flags, async (engine) => {
    const { id } = await findRun(engine, start);
    const forked = await forkRun(engine, id, {
      ...(flags.steps === "0" ? { steps: 0 } : steps !== undefined && { steps }),
      ...(flags.id !== undefined && { id: flags.id }),
    });
    if (flags.follow) return await followRun(engine, forked, { json: flags.json ?? false });
    if (flags.json) print(`${JSON.stringify({ v: 1, id: forked })}\n`);
    else {
      printLine(forked);
      note(`Queued. See what it does: agent runs follow ${forked}`);
    }
    return EXIT.done;
  });
}

/** `agent runs pause` and `agent runs resume`. */
export async function pauseCommand(
  tenant: string | undefined,
  isPaused: boolean,
  flags: Flags,
): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    await engine.setPaused(tenant ?? "*", isPaused);
    const paused = await engine.getPaused();
    if (flags.json) print(`${JSON.stringify({ v: 1, paused })}\n`);
    else
      printLine(paused.length === 0 ? "Nothing is paused." : `Paused: ${paused.map(pausedText).join(", ")}`);
    return EXIT.done;
  });
}

function pausedText(tenant: string): string {
  return tenant === "*" ? "all runs" : `tenant ${escapeToLine(tenant)}`;
}

/** `agent runs workers`. */
export async function workersCommand(flags: Flags): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const [workers, paused] = await Promise.all([engine.workers(), engine.getPaused()]);
    if (flags.json) print(`${JSON.stringify({ v: 1, workers, paused }, undefined, 2)}\n`);
    else if (workers.length === 0) printLine("There is no worker. Start one: agent runs work");
    else {
      const rows = workers.map(({ name, runs, concurrency, startedAt, labels }) => [
        escapeToLine(name),
        `${runs} of ${concurrency}`,
        formatDuration(Date.now() - startedAt),
        escapeToLine(labels.join(", ")),
      ]);
      print(columns(rows, ["WORKER", "RUNS", "AGE", "LABELS"]));
    }
    if (!flags.json && paused.length > 0) printLine(`Paused: ${paused.map(pausedText).join(", ")}`);
    return EXIT.done;
  });
}

/** `agent runs rate`: limits the rate of model requests of all runs together. */
export async function rateCommand(
  target: string | undefined,
  calls: string | undefined,
  flags: Flags,
): Promise<ExitCode> {
  const perMinute = calls === undefined || calls === "none" ? undefined : parseCount(calls, "The rate");
  return await withEngine(flags, async (engine) => {
    if (target !== undefined && calls !== undefined) await engine.setRate(target, perMinute);
    const all = await engine.getRates();
    const rates =
      target === undefined
        ? all
        : Object.fromEntries(Object.entries(all).filter(([name]) => name === target));
    if (flags.json) print(`${JSON.stringify({ v: 1, rates })}\n`);
    else if (Object.keys(rates).length === 0)
      printLine(target === undefined ? "No limits." : `${target}: no limit`);
    for (const [name, rate] of flags.json ? [] : Object.entries(rates)) {
      printLine(`${name === "*" ? "all models" : name}: ${countOf(rate, "call")} a minute`);
    }
    return EXIT.done;
  });
}

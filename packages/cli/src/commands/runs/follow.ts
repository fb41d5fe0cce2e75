import type { AgentEvent } from "@agent/core";
import type { FollowedEvent, RunEngine, RunState } from "@agent/durable";
import { plainActivity } from "@agent/terminal/host";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { watchInterruption } from "../../run/interruption.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { findRun, stateText } from "./text.js";

export interface FollowFlags extends EngineFlags {
  readonly json?: boolean;
  readonly after?: string;
}

/** `agent runs follow`: shows a run from its start until it finishes; the exit code is its outcome. */
export async function followCommand(start: string, flags: FollowFlags): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const { id } = await findRun(engine, start);
    const { json = false, after } = flags;
    return await followRun(engine, id, { json, ...(after !== undefined && { after }) });
  });
}

const EXIT_CODES: Readonly<Partial<Record<RunState, ExitCode>>> = {
  done: EXIT.done,
  failed: EXIT.model,
  cancelled: EXIT.refused,
  set_aside: EXIT.crashed,
};

/** Shows a run until it finishes. Ctrl-C stops the display, not the run. */
export async function followRun(
  engine: RunEngine,
  id: string,
  { json, after }: { readonly json: boolean; readonly after?: string },
): Promise<ExitCode> {
  const interruption = watchInterruption(undefined);
  const show = json ? showJson : showText();
  let state: RunState | undefined;
  try {
    const options = { follow: true, signal: interruption.signal, ...(after !== undefined && { after }) };
    for await (const one of engine.events(id, options)) {
      show(one);
      if ("run" in one) ({ state } = one.run);
    }
  } finally {
    interruption.release();
  }
  if (interruption.stop) return interruption.stop.exitCode;
  if (!json && state === "done") printLine((await engine.get(id))?.result?.text ?? "");
  return (state && EXIT_CODES[state]) ?? EXIT.done;
}

function showJson(one: FollowedEvent): void {
  print(`${JSON.stringify({ v: 1, ...one })}\n`);
}

function showText(): (one: FollowedEvent) => void {
  const activity = plainActivity((text) => process.stderr.write(text));
  return (one) => {
    if ("run" in one) {
      note(`run ${one.run.id}: ${stateText(one.run)}`);
      if (one.run.state === "waiting") note(`Decide with: agent runs approve ${one.run.id}`);
      if (one.run.state === "queued")
        note(`It waits for a worker (${one.run.labels.join(", ")}): agent runs work`);
      return;
    }
    const { event } = one;
    if (event.type === "claimed") {
      if (event.epoch > 1) note(`continues in ${event.worker}`);
    } else if (event.type === "version") note(`continues with version ${event.to}; it was ${event.from}`);
    else activity(event as AgentEvent);
  };
}

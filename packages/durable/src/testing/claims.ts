import assert from "node:assert/strict";
import type {
  ClaimEnding,
  EngineWorker,
  EngineWorkOptions,
  JournalEntry,
  RunClaim,
  RunEngine,
} from "../engine/engine.js";
import type { FollowedEvent, RunEvent } from "../engine/events.js";
import type { NewRun, RunState } from "../engine/run.js";
import { isStopped } from "../engine/stopped.js";

/** A claim that a test holds until it ends it. */
export interface HeldClaim extends RunClaim {
  end(ending: ClaimEnding): void;
  fail(error: unknown): void;
}

/** A worker that passes its claims to the test. */
export class TestWorker {
  readonly #waiting: HeldClaim[] = [];
  #wake: (() => void) | undefined;
  #worker: EngineWorker | undefined;

  static async start(engine: RunEngine, options: Partial<EngineWorkOptions> = {}): Promise<TestWorker> {
    const tester = new TestWorker();
    tester.#worker = await engine.work(
      (claim) =>
        new Promise((end, fail) => {
          tester.#waiting.push(hold(claim, end, fail));
          tester.#wake?.();
        }),
      {
        name: "test",
        concurrency: 1,
        definitions: ["test"],
        labels: [],
        // Longer than a busy machine can delay a process. No test waits until it expires.
        leaseMs: 60_000,
        maxCrashes: 3,
        onFault: () => undefined,
        ...options,
      },
    );
    return tester;
  }

  /** The next claim; waits for it. */
  async next(): Promise<HeldClaim> {
    for (;;) {
      const claim = this.#waiting.shift();
      if (claim) return claim;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** How many claims wait for `next`. */
  get waiting(): number {
    return this.#waiting.length;
  }

  async close(): Promise<void> {
    await this.#worker?.close();
  }
}

function hold(
  claim: RunClaim,
  end: (ending: ClaimEnding) => void,
  fail: (error: unknown) => void,
): HeldClaim {
  return {
    run: claim.run,
    epoch: claim.epoch,
    worker: claim.worker,
    signal: claim.signal,
    get messages() {
      return claim.messages;
    },
    journal: () => claim.journal(),
    append: (entries, events) => claim.append(entries, events),
    takeModelCall: (model) => claim.takeModelCall(model),
    reportModelCall: (model, failure) => claim.reportModelCall(model, failure),
    end,
    fail,
  };
}

export function newRun(overrides: Partial<NewRun> = {}): NewRun {
  return {
    id: `test-${crypto.randomUUID()}`,
    definition: "test",
    version: "1",
    tenant: "default",
    labels: [],
    priority: 0,
    input: { message: "hi" },
    ...overrides,
  };
}

export const DONE: ClaimEnding = {
  state: "done",
  result: { text: "ok", finishReason: "stop", turns: 1 },
  usage: { inputTokens: 3, outputTokens: 2 },
  cost: 0.25,
};

export function text(value: string): RunEvent {
  return { type: "text", text: value };
}

export async function collectEvents(events: AsyncIterable<FollowedEvent>): Promise<FollowedEvent[]> {
  const all: FollowedEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The texts among the events, in order. */
export function texts(events: readonly FollowedEvent[]): string[] {
  return events.flatMap((one) => ("event" in one && one.event.type === "text" ? [one.event.text] : []));
}

/** Resolves once the run is in that state, as a follower sees it. */
export async function reached(engine: RunEngine, id: string, state: RunState): Promise<void> {
  for await (const one of engine.events(id, { follow: true })) {
    if ("run" in one && one.run.state === state) return;
  }
  const run = await engine.get(id);
  if (run?.state !== state) throw new Error(`The run ended as ${run?.state}, not as ${state}.`);
}

/** A call that waits for a decision. */
export const APPROVAL = {
  key: "1/call.a",
  name: "rm",
  args: {},
  capabilities: [],
  description: { title: "", kind: "other", needs: [] },
} as const;

export function entry(key: string, kind: "intent" | "result" = "result"): JournalEntry {
  return { key, kind, value: key };
}

/** Rejects unless the write was refused because the run is another worker's. */
export async function assertLost(write: Promise<void>): Promise<void> {
  await assert.rejects(write, (error) => isStopped(error) && error.stop === "lost");
}

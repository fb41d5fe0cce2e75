import {
  Agent,
  AgentError,
  type AgentErrorDetails,
  type ChatProvider,
  defineTool,
  type ToolCall,
} from "@agent/core";
import { expect, test } from "vitest";
import { eventsOf, follow, openEngine, workWith } from "../../test/helpers.js";
import { type RunDefinition, type RunEngine, startRun } from "../index.js";
import { askedMs, checkOutagePolicy, pauseAfter } from "./outages.js";

const LONG = { retryAfterMs: 300_000 };
const FAST = { firstDelayMs: 10, maxDelayMs: 50 };

function unavailable(details: AgentErrorDetails = {}): AgentError {
  return new AgentError("provider_failed", "m could not answer: 503 overloaded", {
    retryable: true,
    status: 503,
    ...details,
  });
}

/** A definition whose model fails as `outcomes` says, request by request, and then answers. */
function failing(
  outcomes: readonly (Error | undefined)[],
  withTool = false,
  execute: (args: unknown, call?: ToolCall) => string | Promise<string> = () => "seen",
): RunDefinition {
  let asked = 0;
  const provider: ChatProvider = {
    id: "acme",
    model: "m",
    async respond({ messages }) {
      const outcome = outcomes[asked++];
      if (outcome) throw outcome;
      const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } } as const;
      const isFirst =
        withTool && messages.every(({ role, content }) => role !== "tool" && content !== "help");
      return isFirst
        ? { content: null, toolCalls: [call], finishReason: "tool_calls" }
        : { content: "done", toolCalls: [], finishReason: "stop" };
    },
  };
  return {
    name: "failing",
    version: "1",
    create(run) {
      const agent = new Agent(provider, { steps: run.steps });
      agent.addTool(
        defineTool({
          name: "look",
          description: "Looks.",
          input: { type: "object", properties: {} },
          capabilities: ["read"],
          repeatable: true,
          execute,
        }),
      );
      return { agent, message: "go" };
    },
  };
}

async function resultOf(engine: RunEngine, definition: RunDefinition) {
  const id = await startRun(engine, definition, {});
  const followed = await follow(engine, id);
  const run = await engine.get(id);
  const waits = followed.flatMap((one) => ("run" in one && one.run.wait ? [one.run] : []));
  return { run, waits, events: eventsOf(followed) };
}

/** Resolves to the run as soon as it waits for a time. The provider of these tests asks for minutes. */
async function waitingRun(engine: RunEngine, id: string) {
  await follow(engine, id, "waiting");
  return await engine.get(id);
}

test("queues a run again whose provider fails for a time, and shows that it waits and why", async () => {
  const engine = openEngine();
  const definition = failing([unavailable(LONG), unavailable(), undefined]);
  await workWith(engine, definition, { outages: FAST });
  const id = await startRun(engine, definition, {});
  expect(await waitingRun(engine, id)).toMatchObject({
    state: "waiting",
    wait: { reason: { code: "provider_failed", message: "m could not answer: 503 overloaded" } },
    failures: { count: 1 },
  });
  await engine.retry(id);
  await follow(engine, id);
  const run = await engine.get(id);
  expect(run).toMatchObject({ state: "done", result: { text: "done" }, crashes: 0 });
  expect(run).not.toHaveProperty("failures");
});

test("frees its worker while it waits: another run is executed in between", async () => {
  const engine = openEngine();
  const definition = failing([unavailable(LONG)]);
  await workWith(engine, definition, { concurrency: 1 });
  const waiting = await startRun(engine, definition, {});
  await follow(engine, waiting, "waiting");
  const { run } = await resultOf(engine, definition);
  expect(run?.state).toBe("done");
  const { wait } = (await engine.get(waiting)) ?? {};
  expect(wait?.until).toBeGreaterThan(Date.now() + 200_000);
});

test("leaves its worker when the provider would wait for long before its next request", async () => {
  const engine = openEngine();
  const delays = [1, 300_000];
  const provider: ChatProvider = {
    id: "acme",
    model: "m",
    async respond({ onRetry, signal }) {
      const delayMs = delays.shift();
      if (delayMs === undefined) return { content: "done", toolCalls: [], finishReason: "stop" };
      onRetry?.({ attempt: 1, delayMs, reason: "429 slow down" });
      // Short waits are over here; a long one lasts until the run is stopped.
      if (delayMs === 1) return { content: "done", toolCalls: [], finishReason: "stop" };
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      throw new Error("unreachable");
    },
  };
  const create: RunDefinition["create"] = ({ steps }) => ({
    agent: new Agent(provider, { steps }),
    message: "go",
  });
  const definition = { name: "failing", version: "1", create };
  await workWith(engine, definition, { concurrency: 1 });
  const { waits } = await resultOf(engine, definition);
  expect(waits).toEqual([]);

  const waiting = await startRun(engine, definition, {});
  expect(await waitingRun(engine, waiting)).toMatchObject({
    wait: { reason: { code: "provider_failed", message: "429 slow down" } },
    failures: { count: 1 },
    crashes: 0,
  });
  const { run } = await resultOf(engine, definition);
  expect(run?.state).toBe("done");
  const { wait } = (await engine.get(waiting)) ?? {};
  expect(wait?.until).toBeGreaterThan(Date.now() + 200_000);
  await engine.retry(waiting);
  await follow(engine, waiting);
  expect(await engine.get(waiting)).toMatchObject({ state: "done", result: { text: "done" } });
});

test("keeps its worker while a provider waits that then asks another model", async () => {
  const engine = openEngine();
  const provider: ChatProvider = {
    model: "m",
    async respond({ onRetry }) {
      onRetry?.({ attempt: 1, delayMs: 300_000, reason: "429 slow down" });
      return { content: "the other model answers", toolCalls: [], finishReason: "stop" };
    },
  };
  const create: RunDefinition["create"] = ({ steps }) => {
    return { agent: new Agent(provider, { steps }), message: "go", waitsInWorker: true };
  };
  const definition = { name: "failing", version: "1", create };
  await workWith(engine, definition);
  const { run, waits } = await resultOf(engine, definition);
  expect(waits).toEqual([]);
  expect(run?.result?.text).toBe("the other model answers");
});

test("interrupts no call that began while the wait of the provider was recorded", async () => {
  const engine = openEngine();
  let [start, finish] = [() => {}, () => {}];
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const recorded = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const work = engine.work.bind(engine);
  // A database that answers slowly: only when the call runs, and before the call ends.
  engine.work = (handle, options) =>
    work((claim) => {
      const report = claim.reportModelCall.bind(claim);
      const reportModelCall: typeof report = async (model, failure) => {
        if (failure) await started;
        await report(model, failure);
        if (failure) setImmediate(finish);
      };
      return handle(Object.assign(claim, { reportModelCall }));
    }, options);
  const provider: ChatProvider = {
    id: "acme",
    model: "m",
    async respond({ messages, onRetry }) {
      if (messages.some(({ role }) => role === "tool"))
        return { content: "done", toolCalls: [], finishReason: "stop" };
      onRetry?.({ attempt: 1, delayMs: 300_000, reason: "429 slow down" });
      const call = { id: "c1", type: "function", function: { name: "send", arguments: "{}" } } as const;
      return { content: null, toolCalls: [call], finishReason: "tool_calls" };
    },
  };
  const outcomes: string[] = [];
  const send = defineTool({
    name: "send",
    description: "Sends.",
    input: { type: "object", properties: {} },
    capabilities: ["write"],
    async execute(_args, { signal }) {
      start();
      await recorded;
      outcomes.push(signal.aborted ? "interrupted" : "sent");
      return "sent";
    },
  });
  const definition: RunDefinition = {
    name: "failing",
    version: "1",
    create: ({ steps }) => ({ agent: new Agent(provider, { steps, packs: [send] }), message: "go" }),
  };
  await workWith(engine, definition);
  const { run } = await resultOf(engine, definition);
  expect(outcomes).toEqual(["sent"]);
  expect(run).toMatchObject({ state: "done", result: { text: "done" } });
});

test("counts failures anew after each completed step", async () => {
  const engine = openEngine();
  const definition = failing([unavailable(), unavailable(), undefined, unavailable(), unavailable()], true);
  await workWith(engine, definition, { outages: { ...FAST, attempts: 2 } });
  const { run, events } = await resultOf(engine, definition);
  expect(run).toMatchObject({ state: "done" });
  expect(events.filter(({ type }) => type === "tool_end")).toHaveLength(1);
});

test("fails after so many attempts, with how often and since when it failed", async () => {
  const engine = openEngine();
  const definition = failing(Array.from({ length: 10 }, () => unavailable()));
  await workWith(engine, definition, { outages: { ...FAST, attempts: 2 } });
  const { run } = await resultOf(engine, definition);
  expect(run).toMatchObject({ state: "failed", error: { code: "provider_failed" } });
  expect(run?.error?.message).toMatch(/503 overloaded \(it failed 2 times before, since 2\d{3}-/);
});

test.each([
  ["a failure that cannot pass", unavailable({ retryable: false, status: 401 })],
  ["a failure that nothing is known about", new Error("broken")],
])("fails immediately after %s", async (_, error) => {
  const engine = openEngine();
  const definition = failing([error]);
  await workWith(engine, definition, { outages: FAST });
  const { run, waits } = await resultOf(engine, definition);
  expect(run?.state).toBe("failed");
  expect(waits).toEqual([]);
});

test("waits with the whole run when a child agent is asked while the provider fails", async () => {
  const engine = openEngine();
  // The parent's first answer calls the tool; the child's request fails once.
  const definition = failing([undefined, unavailable(LONG)], true, async (_args, call) => {
    const answer = await call?.startAgent?.({ message: "help" });
    return answer?.text ?? "";
  });
  await workWith(engine, definition, { outages: FAST });
  const id = await startRun(engine, definition, {});
  expect((await waitingRun(engine, id))?.wait?.reason.message).toContain("503 overloaded");
  await engine.retry(id);
  const events = eventsOf(await follow(engine, id));
  expect(await engine.get(id)).toMatchObject({ state: "done" });
  expect(events.findLast(({ type }) => type === "tool_end")).toMatchObject({ outcome: "ok", text: "done" });
});

test("waits at least as long as the server asks, and longer with each failure up to the longest delay", () => {
  const policy = { firstDelayMs: 1000, maxDelayMs: 8000, attempts: 10, deadlineMs: 60_000 };
  const delays = [0, 1, 2, 3, 8].map((count) =>
    pauseAfter(unavailable(), count === 0 ? undefined : { count, since: 0 }, policy, 0),
  );
  for (const [index, most] of [1000, 2000, 4000, 8000, 8000].entries()) {
    expect(delays[index]?.ms).toBeGreaterThanOrEqual(most * 0.75);
    expect(delays[index]?.ms).toBeLessThanOrEqual(most);
  }
  const asked = pauseAfter(unavailable({ retryAfterMs: 20_000 }), undefined, policy, 0);
  expect(asked?.ms).toBeGreaterThanOrEqual(20_000);
  expect(pauseAfter(unavailable({ retryAfterMs: 61_000 }), undefined, policy, 0)).toBeUndefined();
  expect(pauseAfter(unavailable(), { count: 2, since: 0 }, policy, 59_000)).toBeUndefined();
  expect(pauseAfter(unavailable(), undefined, { attempts: 0 }, 0)).toBeUndefined();
});

test.each([
  [Number.NaN, undefined],
  [-1, undefined],
  [0, 0],
  [1e20, 31_536_000_000],
  [Number.POSITIVE_INFINITY, 31_536_000_000],
])("reads a wait of %s ms, which a provider passes on, as %s", async (retryAfterMs, asked) => {
  const error = unavailable({ retryAfterMs });
  expect(askedMs(error)).toBe(asked);
  const pause = pauseAfter(error, undefined, { deadlineMs: 60_000 }, 0);
  if (asked === undefined || asked === 0) expect(pause?.ms).toBeGreaterThanOrEqual(0);
  else expect(pause).toBeUndefined();
});

test("refuses a policy with a wrong or unknown field", () => {
  expect(() => checkOutagePolicy("outages", { attempts: -1 })).toThrow("attempts");
  expect(() => checkOutagePolicy("outages", { deadline: 1 })).toThrow("deadline");
});

test("executes the runs of one tenant while another's wait for its limit on model calls", async () => {
  const engine = openEngine();
  const definition = failing([]);
  await engine.setLimits("busy", { modelCallsPerMinute: 2 });
  const busy = await Promise.all(
    Array.from({ length: 5 }, () => startRun(engine, definition, {}, { tenant: "busy" })),
  );
  await workWith(engine, definition, { concurrency: 2 });
  const other = await startRun(engine, definition, {}, { tenant: "free" });
  expect(eventsOf(await follow(engine, other)).at(-1)?.type).toBe("done");
  const waiting = busy.map((id) => follow(engine, id, "waiting"));
  await Promise.all(waiting);
  const counts = await engine.count({ tenant: "busy" });
  expect([counts.done, counts.waiting, counts.running]).toEqual([2, 3, 0]);
});

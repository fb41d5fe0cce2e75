import { AgentError, type ChatResponse, type ToolResult } from "@agent/core";
import type { AnswerKey, CallKey } from "@agent/core/host";
import { describe, expect, test, vi } from "vitest";
import type { JournalEntry } from "../engine/engine.js";
import { callKey, isProgress, VERSION_KEY } from "./keys.js";
import { JournalSteps } from "./steps.js";

const CALL = { scope: "", turn: 1, callId: "c", name: "deploy", args: {}, repeatable: false } as CallKey;
const ANSWER = { scope: "", turn: 1, kind: "answer", attempt: 0 } as AnswerKey;
const RESULT: ToolResult = { outcome: "ok", text: "deployed", durationMs: 1 };

/** The steps of a claim that found these entries in the journal. */
function stepsWith(entries: readonly JournalEntry[] = [], { waiting = 0 } = {}) {
  const log: string[] = [];
  const delivered: number[] = [];
  let count = 0;
  const added: JournalEntry[] = [];
  const steps = new JournalSteps({
    entries,
    writer: {
      add: (entry) => {
        added.push(entry);
        log.push(entry.kind);
      },
      settle: async () => void log.push("settled"),
    },
    models: {
      before: async (_, mayLeave) => void log.push(`before ${mayLeave}`),
      succeeded: async () => void log.push("succeeded"),
      failed: async (error) => error,
      progressed: () => void log.push("progressed"),
    },
    messages: {
      deliver: (until = waiting) => {
        if (until > count) {
          count = until;
          delivered.push(until);
        }
        return count;
      },
    },
  });
  /** A tool that announces itself before it does anything. */
  const run = vi.fn(async (intent?: () => void | Promise<void>) => {
    await intent?.();
    log.push("ran");
    return RESULT;
  });
  return { steps, added, log, run, delivered };
}

describe("a call", () => {
  test("runs only after its intent is stored, and its result is recorded", async () => {
    const { steps, log, run } = stepsWith();
    expect(await steps.call(CALL, run)).toBe(RESULT);
    expect(log).toEqual(["intent", "settled", "ran", "progressed", "result"]);
  });

  test("needs no intent if it is repeatable", async () => {
    const { steps, log, run } = stepsWith();
    await steps.call({ ...CALL, repeatable: true }, run);
    expect(log).toEqual(["ran", "progressed", "result"]);
  });

  test("is not run again if it has a result in the journal", async () => {
    const first = stepsWith();
    await first.steps.call(CALL, first.run);
    const second = stepsWith(first.added);
    expect(await second.steps.call(CALL, second.run)).toEqual(RESULT);
    expect(second.run).not.toHaveBeenCalled();
    expect(second.log).toEqual([]);
  });

  test("is reported as interrupted once, and not run, if it has an intent but no result", async () => {
    const first = stepsWith();
    await first.steps.call(CALL, first.run);
    const intents = first.added.filter(({ kind }) => kind === "intent");
    expect(intents).toHaveLength(1);
    const second = stepsWith(intents);
    expect(await second.steps.call(CALL, second.run)).toMatchObject({ outcome: "interrupted" });
    expect(second.run).not.toHaveBeenCalled();
    expect(second.log).toEqual(["progressed", "result"]);
    const third = stepsWith(intents);
    await third.steps.call({ ...CALL, repeatable: true }, third.run);
    expect(third.run).toHaveBeenCalledTimes(1);
  });

  test("leaves no result if it was aborted, so that the next claim decides", async () => {
    const { steps, log } = stepsWith();
    await steps.call(CALL, async (intent) => {
      await intent?.();
      return { ...RESULT, outcome: "aborted" };
    });
    expect(log).toEqual(["intent", "settled"]);
  });

  test("does not start after the journal was closed", async () => {
    const { steps, log, run } = stepsWith();
    steps.close();
    await expect(steps.call(CALL, run)).rejects.toThrow();
    expect(run).not.toHaveBeenCalled();
    expect(log).toEqual([]);
  });

  test("keeps the run from leaving while it cannot be repeated", async () => {
    const { steps, log } = stepsWith();
    await steps.call(CALL, async (intent) => {
      await intent?.();
      await steps.answer({ ...ANSWER, turn: 2 }, async () => ({ content: "inner" }) as ChatResponse);
      return RESULT;
    });
    await steps.answer({ ...ANSWER, turn: 3 }, async () => ({ content: "after" }) as ChatResponse);
    expect(log.filter((entry) => entry.startsWith("before"))).toEqual(["before false", "before true"]);
  });
});

describe("an answer", () => {
  test.each([
    ["answer", "context_overflow", true],
    ["summary", "context_overflow", true],
    ["summary", "provider_failed", true],
    ["answer", "provider_failed", false],
  ] as const)("is recorded if its kind is %s and it fails with %s: %s", async (kind, code, isRecorded) => {
    const { steps, added } = stepsWith();
    const ask = () => Promise.reject(new AgentError(code, "too long"));
    await expect(steps.answer({ ...ANSWER, kind }, ask)).rejects.toMatchObject({ code });
    expect(added.map((entry) => entry.kind)).toEqual(isRecorded ? ["error"] : []);
    const again = vi.fn(async () => ({ content: "now" }) as ChatResponse);
    const next = stepsWith(added).steps.answer({ ...ANSWER, kind }, again);
    if (isRecorded) await expect(next).rejects.toMatchObject({ code, message: "too long" });
    else expect(await next).toEqual({ content: "now" });
    expect(again).toHaveBeenCalledTimes(isRecorded ? 0 : 1);
  });
});

describe("messages for the run", () => {
  const RESPONSE = { content: "a" } as ChatResponse;

  test("are delivered after an answer of the run's own agent, and their number is recorded", async () => {
    const { steps, added, delivered } = stepsWith([], { waiting: 2 });
    await steps.answer(ANSWER, async () => RESPONSE);
    expect(added.map(({ key, value }) => [key, value])).toEqual([
      ["1/answer.0", RESPONSE],
      ["1/answer.0/messages", 2],
    ]);
    await steps.answer({ ...ANSWER, turn: 2 }, async () => RESPONSE);
    expect(added).toHaveLength(3);
    expect(delivered).toEqual([2]);
  });

  test.each([
    ["a child agent", { ...ANSWER, scope: "1/c/0/" }],
    ["a summary", { ...ANSWER, kind: "summary" }],
  ] as [string, AnswerKey][])("are not delivered after the answer of %s", async (_, key) => {
    const { steps, added, delivered } = stepsWith([], { waiting: 2 });
    await steps.answer(key, async () => RESPONSE);
    expect(added).toHaveLength(1);
    expect(delivered).toEqual([]);
  });

  test("are delivered at the same answer when it is replayed, and only as many", async () => {
    const first = stepsWith([], { waiting: 2 });
    await first.steps.answer(ANSWER, async () => RESPONSE);
    const second = stepsWith(first.added, { waiting: 5 });
    const ask = vi.fn(async () => RESPONSE);
    expect(await second.steps.answer(ANSWER, ask)).toEqual(RESPONSE);
    expect(ask).not.toHaveBeenCalled();
    expect(second.delivered).toEqual([2]);
    expect(second.added).toEqual([]);
    const quiet = stepsWith([{ key: "1/answer.0", kind: "result", value: RESPONSE }], { waiting: 5 });
    await quiet.steps.answer(ANSWER, ask);
    expect(quiet.delivered).toEqual([]);
  });

  test("start their own exchange, which is recorded once and has its own keys", async () => {
    const { steps, added } = stepsWith([], { waiting: 1 });
    steps.startExchange(0);
    expect(added).toEqual([]);
    await steps.answer(ANSWER, async () => RESPONSE);
    expect(added.map(({ key }) => key)).toEqual(["1/answer.0", "1/answer.0/messages"]);
    added.length = 0;
    steps.startExchange(1);
    expect(added).toEqual([{ key: "+1/start/messages", kind: "result", value: 1 }]);
    await steps.answer(ANSWER, async () => RESPONSE);
    expect(added[1]?.key).toBe("+1/1/answer.0");
    const again = stepsWith(added);
    again.steps.startExchange(1);
    expect(again.added).toEqual([]);
  });
});

test("counts answers, recorded ones included, and reports the progress of results only", async () => {
  const { steps, added, log, run } = stepsWith();
  await steps.answer(ANSWER, async () => ({ content: "a" }) as ChatResponse);
  await steps.answer(ANSWER, async () => ({ content: "a" }) as ChatResponse);
  expect(steps.asked).toBe(2);
  expect(log.filter((entry) => entry === "succeeded")).toHaveLength(1);
  expect(isProgress(added)).toBe(true);
  await steps.call(CALL, run);
  expect(log.filter((entry) => entry === "progressed")).toHaveLength(2);
  expect(isProgress(added.filter(({ kind }) => kind === "intent"))).toBe(false);
  expect(isProgress([{ key: VERSION_KEY, kind: "result", value: "2" }])).toBe(false);
});

test("does not ask after the journal was closed, but returns what is recorded", async () => {
  const first = stepsWith();
  await first.steps.answer(ANSWER, async () => ({ content: "a" }) as ChatResponse);
  const { steps } = stepsWith(first.added);
  steps.close();
  expect(await steps.answer(ANSWER, () => expect.fail("asked"))).toEqual({ content: "a" });
  await expect(steps.answer({ ...ANSWER, turn: 2 }, () => expect.fail("asked"))).rejects.toThrow();
});

test("does not run a call whose journal is closed before its intent", async () => {
  const { steps, log } = stepsWith();
  const call = steps.call(CALL, async (intent) => {
    steps.close();
    await intent?.();
    return RESULT;
  });
  await expect(call).rejects.toThrow();
  expect(log).toEqual([]);
});

test("lets the run leave again after a call that failed before its intent", async () => {
  const { steps, log } = stepsWith();
  await expect(steps.call(CALL, () => Promise.reject(new Error("suspended")))).rejects.toThrow("suspended");
  await steps.answer(ANSWER, async () => ({ content: "a" }) as ChatResponse);
  expect(log).toContain("before true");
});

describe("the key of a call", () => {
  test("is its position, and for a nested call also what is called", () => {
    expect(callKey({ ...CALL, callId: "a/b" })).toBe("1/call.a%2Fb");
    expect(callKey({ ...CALL, scope: "1/c/2/" })).toBe("1/c/2/1/call.c");
    const nested = { ...CALL, scope: "1/c/t2/" };
    expect(callKey(nested)).toMatch(/^1\/c\/t2\/1\/call\.c\.[\w-]{22}$/);
    expect(callKey({ ...nested, args: { a: 1 } })).not.toBe(callKey(nested));
    expect(callKey({ ...nested, name: "other" })).not.toBe(callKey(nested));
    expect(callKey({ ...nested })).toBe(callKey(nested));
  });
});

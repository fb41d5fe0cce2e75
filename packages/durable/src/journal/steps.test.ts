import { AgentError, type ChatResponse, type ToolResult } from "@agent/core";
import type { AnswerKey, CallKey } from "@agent/core/host";
import { describe, expect, test, vi } from "vitest";
import type { JournalEntry } from "../engine/engine.js";
import { JournalSteps } from "./steps.js";

const CALL = { scope: "", turn: 1, callId: "c", name: "deploy", args: {}, repeatable: false } as CallKey;
const ANSWER = { scope: "", turn: 1, kind: "answer", attempt: 0 } as AnswerKey;
const RESULT: ToolResult = { outcome: "ok", text: "deployed", durationMs: 1 };

/** The steps of a claim that found these entries in the journal. */
function stepsWith(entries: readonly JournalEntry[] = []) {
  const log: string[] = [];
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
      succeeded: async () => undefined,
      failed: async (error) => error,
      progressed: () => undefined,
    },
    messages: { deliver: () => 0 },
  });
  /** A tool that announces itself before it does anything. */
  const run = vi.fn(async (intent?: () => void | Promise<void>) => {
    await intent?.();
    log.push("ran");
    return RESULT;
  });
  return { steps, added, log, run };
}

describe("a call", () => {
  test("runs only after its intent is stored, and its result is recorded", async () => {
    const { steps, log, run } = stepsWith();
    expect(await steps.call(CALL, run)).toBe(RESULT);
    expect(log).toEqual(["intent", "settled", "ran", "result"]);
  });

  test("needs no intent if it is repeatable", async () => {
    const { steps, log, run } = stepsWith();
    await steps.call({ ...CALL, repeatable: true }, run);
    expect(log).toEqual(["ran", "result"]);
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
    expect(second.log).toEqual(["result"]);
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
  ] as const)("of kind %s that fails with %s is recorded: %s", async (kind, code, isRecorded) => {
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

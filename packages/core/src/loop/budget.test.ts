import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  type BudgetReached,
  type ChatProvider,
  type ChatRequest,
  type ChatResponse,
  Conversation,
  defineTool,
  isAgentError,
  loadSession,
  recordSession,
  type TokenUsage,
} from "../index.js";
import { Budget } from "./budget.js";

const PRICE = { input: 1000, output: 10_000, cachedInput: 100 };
const USAGE = { inputTokens: 100, outputTokens: 20 };

interface Asked {
  readonly provider: ChatProvider;
  readonly requests: ChatRequest[];
}

/** A model that answers in this order, each answer with this usage. */
function model(
  answers: readonly (string | { readonly tool: string })[],
  usage: TokenUsage | null = USAGE,
  more: Partial<ChatProvider> = {},
): Asked {
  const requests: ChatRequest[] = [];
  return {
    requests,
    provider: {
      model: "m",
      price: PRICE,
      async respond(request): Promise<ChatResponse> {
        const answer = answers[requests.push(request) - 1] ?? "end";
        const used = usage === null ? {} : { usage };
        if (typeof answer === "string")
          return { content: answer, toolCalls: [], finishReason: "stop", ...used };
        const id = `c${requests.length}`;
        const call = { id, type: "function", function: { name: answer.tool, arguments: "{}" } } as const;
        return { content: null, toolCalls: [call], finishReason: "tool_calls", ...used };
      },
      ...more,
    },
  };
}

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: {} },
  capabilities: ["read"],
  execute: () => `seen ${Math.random()}`,
});

async function failureOf(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return await work.then(
    () => expect.fail("it did not fail"),
    (error: Error) => error,
  );
}

function agentOf({ provider }: Asked, options: AgentOptions = {}): Agent {
  const agent = new Agent(provider, options);
  agent.addTool(look);
  return agent;
}

test("stops before the request that would exceed maxTokens, and keeps what was done", async () => {
  const asked = model([{ tool: "look" }, { tool: "look" }, "never"]);
  const agent = agentOf(asked, { maxTokens: 300 });
  const error = await failureOf(agent.chat("go"));
  expect(error.code).toBe("budget_exceeded");
  expect(error.message).toMatch(
    /^The limit of 300 tokens for this conversation is reached: \d+ tokens spent/,
  );
  expect(agent.conversation.sessionContext.at(-1)?.role).toBe("tool");
  expect(asked.requests.length).toBeLessThan(3);
});

test("counts dollars by the price of the model, cached input for less", async () => {
  // 120 tokens cost 100 × 0.001 + 20 × 0.01 = $0.30.
  const asked = model(["one", "two"]);
  const agent = agentOf(asked, { maxCost: 0.5 });
  await agent.chat("first");
  expect(agent.conversation.spending).toEqual({ tokens: 120, cost: 0.3 });
  const error = await failureOf(agent.chat(`second ${"long ".repeat(400)}`));
  expect(error.message).toContain("The limit of $0.50 for this conversation is reached: $0.30 spent");
  expect(asked.requests).toHaveLength(1);
});

test("counts the full price of a first request, which no cache has seen", async () => {
  const asked = model(["never"]);
  // About 2,500 tokens: $2.50, or $0.25 from a cache.
  const agent = agentOf(asked, { maxCost: 1, systemPrompt: "word ".repeat(2000) });
  expect((await failureOf(agent.chat("first"))).code).toBe("budget_exceeded");
  expect(asked.requests).toEqual([]);
});

test("counts what an earlier process has spent if a journal replays its answer", async () => {
  const { provider } = model([{ tool: "look" }], { inputTokens: 5000, outputTokens: 20 });
  const request = { messages: [], tools: [], signal: new AbortController().signal };
  const recorded = await provider.respond(request);
  const steps: AgentOptions["steps"] = {
    answer: ({ turn }, ask) => (turn === 1 ? Promise.resolve(recorded) : ask()),
    call: (_key, run) => run(),
  };
  const asked = model(["never"]);
  const agent = agentOf(asked, { maxTokens: 5050, steps });
  expect((await failureOf(agent.chat("go"))).message).toMatch(/5,?020 tokens spent/);
  expect(asked.requests).toHaveLength(0);
});

test("limits one message without limiting the next", async () => {
  const asked = model([{ tool: "look" }, "never", "answer"]);
  const agent = agentOf(asked);
  const error = await failureOf(agent.chat("go", { maxTokens: 150 }));
  expect(error.message).toContain("for this message");
  expect(await agent.chat("again", { maxTokens: 5000 })).toBe("never");
});

test("counts child agents, also those that ask at the same time", async () => {
  const asked = model([{ tool: "team" }, "child", "child", "child", "child", "never"]);
  const outcomes: string[] = [];
  const agent = agentOf(asked, { maxTokens: 700 });
  agent.addTool(
    defineTool({
      name: "team",
      description: "Starts four.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      async execute(_, { startAgent }) {
        const message = "word ".repeat(120);
        const ended = await Promise.allSettled(
          Array.from({ length: 8 }, () => startAgent?.({ message }) ?? Promise.reject()),
        );
        for (const one of ended)
          outcomes.push(one.status === "fulfilled" ? "done" : String((one.reason as { code: string }).code));
        return "ended";
      },
    }),
  );
  await agent.chat("go").catch(() => undefined);
  expect(outcomes).toContain("done");
  expect(outcomes).toContain("budget_exceeded");
  // The requests that were sent together fit the limit by their estimate.
  expect(outcomes.filter((one) => one === "done").length).toBeLessThanOrEqual(4);
});

test("limits a single child by its own budget", async () => {
  const asked = model([{ tool: "one" }, { tool: "look" }, "done"]);
  const agent = agentOf(asked);
  let failure: unknown;
  agent.addTool(
    defineTool({
      name: "one",
      description: "Starts one.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: async (_, { startAgent }) =>
        (
          await startAgent?.({ message: "go", maxTokens: 130 }).catch((error: unknown) => {
            failure = error;
            return { text: "failed" };
          })
        )?.text ?? "",
    }),
  );
  expect(await agent.chat("go")).toBe("done");
  expect(isAgentError(failure, "budget_exceeded") && failure.message).toContain("for this agent");
});

test("continues if the user raises the limit, and asks once for requests that wait together", async () => {
  const asked = model([{ tool: "look" }, "answer"]);
  const reached: BudgetReached[] = [];
  const agent = agentOf(asked, {
    maxTokens: 150,
    onBudget: async (one) => {
      reached.push(one);
      return { maxTokens: (one.limits.maxTokens ?? 0) + (one.initial.maxTokens ?? 0) * 10 };
    },
  });
  expect(await agent.chat("go")).toBe("answer");
  expect(reached).toMatchObject([
    { scope: "agent", limits: { maxTokens: 150 }, initial: { maxTokens: 150 }, spent: { tokens: 120 } },
  ]);
});

test("asks again as long as the answer raises the limit, but not far enough", async () => {
  const limits: (number | undefined)[] = [];
  const agent = agentOf(model([{ tool: "look" }, "answer"]), {
    maxTokens: 125,
    onBudget: ({ limits: { maxTokens = 0 } }) => {
      limits.push(maxTokens);
      return { maxTokens: maxTokens + 1 };
    },
  });
  expect(await agent.chat("go")).toBe("answer");
  expect(limits.slice(0, 2)).toEqual([125, 126]);
});

test("asks again for a request that waits with one that was stopped", async () => {
  const asked: BudgetReached[] = [];
  const budget = new Budget("agent", { maxTokens: 10 }, (reached) => {
    asked.push(reached);
    if (asked.length > 1) return { maxTokens: 100 };
    return new Promise((_, reject) => {
      reached.signal.addEventListener("abort", () => reject(reached.signal.reason));
    });
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const next = { tokens: 20, cost: 0 };
  const held = [budget.hold(next, first.signal), budget.hold(next, second.signal)] as const;
  first.abort();
  const [stopped, other] = await Promise.allSettled(held);
  expect([stopped.status, other.status]).toEqual(["rejected", "fulfilled"]);
  expect(asked.map(({ signal }) => signal)).toEqual([first.signal, second.signal]);
});

test("describes very small amounts without an exponent", async () => {
  const hold = new Budget("agent", { maxCost: 1e-8 }).hold({ tokens: 1, cost: 1e-7 }, AbortSignal.any([]));
  expect((await failureOf(hold)).message).toBe(
    "The limit of $0.000000010 for this conversation is reached: $0.00 spent, and the next request takes at least about $0.00000010 more. Raise maxCost to continue.",
  );
});

test("stops if the user does not raise the limit, or not far enough", async () => {
  for (const answer of [undefined, { maxTokens: 151 }]) {
    const agent = agentOf(model([{ tool: "look" }, "never"]), { maxTokens: 150, onBudget: () => answer });
    expect((await failureOf(agent.chat("go"))).code).toBe("budget_exceeded");
  }
});

test("keeps what was spent in the session file, so that a resumed one continues counting", async () => {
  const directory = mkdtempSync(join(tmpdir(), "budget-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "session.jsonl");
  const conversation = new Conversation();
  const recorder = recordSession(conversation, file);
  await agentOf(model(["one"]), { conversation }).chat("first");
  await recorder.close();
  expect(readFileSync(file, "utf8")).toContain('{"type":"spent","tokens":120,"cost":0.3}');

  const session = await loadSession(file);
  const resumed = new Conversation({ session });
  expect(resumed.spending).toEqual({ tokens: 120, cost: 0.3 });
  const asked = model(["two"]);
  const error = await failureOf(agentOf(asked, { conversation: resumed, maxTokens: 130 }).chat("second"));
  expect(error.code).toBe("budget_exceeded");
  expect(asked.requests).toEqual([]);
});

test("keeps counting what was spent before the conversation was cleared", async () => {
  const agent = agentOf(model(["one", "two"]), { maxTokens: 130 });
  await agent.chat("first");
  agent.clearContext();
  expect((await failureOf(agent.chat("second"))).code).toBe("budget_exceeded");
});

test("refuses maxCost for a model without a price, and names the remedy", async () => {
  const asked = model(["never"], USAGE, { price: undefined });
  const error = await failureOf(agentOf(asked, { maxCost: 1 }).chat("go"));
  expect(error.code).toBe("invalid_argument");
  expect(error.message).toBe(
    "maxCost needs the price of m, which is not known. Set its price, or limit tokens with maxTokens.",
  );
  expect(asked.requests).toEqual([]);
});

test("estimates the tokens of answers whose server does not count them", async () => {
  const asked = model(["word ".repeat(100), "never"], null);
  const agent = agentOf(asked, { maxTokens: 200 });
  await agent.chat("first");
  expect(agent.conversation.spending.tokens).toBeGreaterThan(120);
  expect((await failureOf(agent.chat("second"))).code).toBe("budget_exceeded");
});

test("counts the input of a request that was stopped half-way", async () => {
  const stop = new AbortController();
  const provider: ChatProvider = {
    model: "m",
    respond: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        stop.abort();
      }),
  };
  const agent = new Agent(provider, { maxTokens: 1000 });
  await failureOf(agent.chat("word ".repeat(100), { signal: stop.signal }));
  await agent.settled();
  expect(agent.conversation.spending.tokens).toBeGreaterThan(100);
});

test.each([
  [{ maxCost: 0 }],
  [{ maxTokens: -1 }],
  [{ maxCost: Number.NaN }],
  [{ maxTokens: "9" as unknown as number }],
])("refuses the limit %j", (options) => {
  expect(() => new Agent(model([]).provider, options)).toThrow(/max(Cost|Tokens)/);
});

test("asks the small model for summaries, and the main one where it fails", async () => {
  const long = "word ".repeat(1500);
  const small = model(["the summary"]);
  const main = model([long, long, long, "end"], USAGE);
  const agent = agentOf(main, { smallModel: small.provider });
  for (const text of ["one", "two", "three"]) await agent.chat(text);
  expect(await agent.compact()).toBe(true);
  expect(small.requests).toHaveLength(1);
  expect(JSON.stringify(agent.conversation.sessionContext)).toContain("the summary");

  const broken = model([], USAGE, { respond: () => Promise.reject(new Error("down")) });
  const other = model([long, long, long, "by the main model"], USAGE);
  const second = agentOf(other, { smallModel: broken.provider });
  for (const text of ["one", "two", "three"]) await second.chat(text);
  await second.compact();
  expect(JSON.stringify(second.conversation.sessionContext)).toContain("by the main model");
});

test("leaves a small model without a price alone where dollars are limited", async () => {
  const small = model(["Short."], USAGE, { model: "small", price: undefined });
  const main = model(["one", "two", "The summary."]);
  const agent = agentOf(main, { smallModel: small.provider, maxCost: 1000 });
  await agent.chat("First.");
  await agent.chat("Second.");
  await agent.compact();
  expect(small.requests).toHaveLength(0);
  expect(main.requests).toHaveLength(3);
  const unlimited = agentOf(model(["one", "two"]), { smallModel: small.provider });
  await unlimited.chat("First.");
  await unlimited.chat("Second.");
  await unlimited.compact();
  expect(small.requests).toHaveLength(1);
});

test("lets a child that asks for it use the small model, and others the main one", async () => {
  const small = model(["by the small model"]);
  const main = model([{ tool: "ask" }, "by the main model", "end"]);
  const answers: string[] = [];
  const agent = agentOf(main, { smallModel: small.provider });
  agent.addTool(
    defineTool({
      name: "ask",
      description: "Asks two.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      async execute(_, { startAgent }) {
        for (const isSmall of [true, false]) {
          const answer = await startAgent?.({ message: "read", small: isSmall });
          answers.push(answer?.text ?? "");
        }
        return "asked";
      },
    }),
  );
  expect(await agent.chat("go")).toBe("end");
  expect(answers).toEqual(["by the small model", "by the main model"]);
});

test("releases what a request holds once, however often it is completed", async () => {
  const budget = new Budget("agent", { maxTokens: 100 });
  const { signal } = new AbortController();
  const release = await budget.hold({ tokens: 60, cost: 0 }, signal);
  await expect(budget.hold({ tokens: 60, cost: 0 }, signal)).rejects.toThrow("maxTokens");
  release();
  release();
  await expect(budget.hold({ tokens: 101, cost: 0 }, signal)).rejects.toThrow("maxTokens");
  const again = await budget.hold({ tokens: 100, cost: 0 }, signal);
  again();
  budget.add({ tokens: 100, cost: 0 });
  await expect(budget.hold({ tokens: 1, cost: 0 }, signal)).rejects.toThrow("maxTokens");
});

import { describe, expect, test } from "vitest";
import type { ChatMessage } from "../providers/interface.js";
import { Conversation, type ConversationChange } from "./conversation.js";
import { findHistoryProblem } from "./history.js";
import { OutputBudget } from "./outputBudget.js";
import { findPendingProblem } from "./pending.js";

const user = (content: string): ChatMessage => ({ role: "user", content });
const result = (id: string, content = "done") => ({ role: "tool" as const, tool_call_id: id, content });
const asking = (...ids: string[]) => ({
  role: "assistant" as const,
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function" as const, function: { name: "x", arguments: "{}" } })),
});
const waiting = (id: string) => ({ id, name: "x", args: {}, capabilities: [] });

function recorded(options: ConstructorParameters<typeof Conversation>[0] = {}) {
  const conversation = new Conversation(options);
  const changes: ConversationChange[] = [];
  conversation.onChange((change) => changes.push(change));
  return { conversation, changes };
}

describe("a history", () => {
  test.each<[problem: string | undefined, messages: unknown]>([
    [undefined, []],
    [undefined, [user("a"), asking("1", "2"), result("2"), result("1"), user("b")]],
    [undefined, [{ role: "assistant", content: "a" }]],
    [undefined, [{ role: "assistant", content: "a", state: { provider: "p", value: 1 } }]],
    ['"messages" must be an array, got object', {}],
    ["messages[0] must be an object, got null", [null]],
    ["messages[1] answers a tool call no one made", [user("a"), result("1")]],
    ["messages[2] answers a tool call no one made", [asking("1"), result("1"), result("1")]],
    ['messages[1] comes before the result of tool call "1"', [asking("1"), user("a")]],
    ['tool call "2" has no result', [asking("1", "2"), result("1")]],
    ["messages[0] does not say which call it answers", [{ role: "tool", content: "a" }]],
    ["messages[0] has no text", [{ role: "assistant", content: 1 }]],
    [
      "messages[0] has provider state without the provider's id",
      [{ role: "assistant", content: "a", state: { value: 1 } }],
    ],
    [
      "messages[0] has provider state without the provider's id",
      [{ role: "assistant", content: "a", state: "p" }],
    ],
    ["messages[0] has a malformed tool call", [{ role: "assistant", content: null, tool_calls: {} }]],
    ...[
      null,
      { id: 1, type: "function", function: { name: "x", arguments: "" } },
      { id: "1", type: "other", function: { name: "x", arguments: "" } },
      { id: "1", type: "function", function: { name: 1, arguments: "" } },
      { id: "1", type: "function", function: { name: "x", arguments: {} } },
      { id: "1", type: "function" },
    ].map((call): [string, unknown] => [
      "messages[0] has a malformed tool call",
      [{ role: "assistant", content: null, tool_calls: [call] }],
    ]),
    [
      'messages[0] has the role string "system"; expected user, assistant or tool',
      [{ role: "system", content: "a" }],
    ],
  ])("has the problem: %s", (problem, messages) => {
    expect(findHistoryProblem(messages)).toBe(problem);
  });

  test.each([
    [undefined, [], [waiting("1")]],
    [undefined, [result("1")], [waiting("2")]],
    ['a result answers the tool call "3", which no one made', [result("3")], [waiting("1")]],
    ['the call "1" waits for a decision, and no one made it', [result("1")], [waiting("1")]],
    ['the call "undefined" waits for a decision, and no one made it', [], [null]],
    ["no call waits for a decision", [], []],
    ["no call waits for a decision", [], "1"],
  ])("has the problem with pending calls: %s", (problem, results, calls) => {
    expect(findPendingProblem({ answer: asking("1", "2"), results, calls: calls as never })).toBe(problem);
  });

  test("is refused with its reason", () => {
    const start = (session: object) => () => new Conversation({ session: session as never });
    expect(start({ messages: [] })).not.toThrow();
    expect(start({ systemPrompt: 1, messages: [] })).toThrow("its system prompt is not a string");
    expect(start({ messages: [result("1")] })).toThrow(
      "cannot be continued: messages[0] answers a tool call",
    );
    const pending = { answer: asking("1"), results: [], calls: [] };
    expect(start({ messages: [], pending })).toThrow("no call waits for a decision");
  });
});

describe("a conversation", () => {
  test("goes back to a message, with the state of packs at that moment", () => {
    const { conversation, changes } = recorded();
    const state = conversation.packState("p");
    conversation.append(user("a"));
    state.set(1);
    conversation.append(user("b"));
    state.set(2);
    conversation.rewind(1);
    expect(conversation.sessionContext).toEqual([user("a")]);
    expect(state.get()).toBe(1);
    expect(changes.at(-1)).toEqual({ type: "replace", start: 1, count: 1, messages: [] });
    conversation.rewind(5);
    expect(conversation.sessionContext).toEqual([user("a")]);
    conversation.rewind(0);
    expect(state.get()).toBeUndefined();
    expect(() => conversation.rewind(-1)).toThrow("end");
  });

  test("keeps 1 MB of the earlier states of each pack, and drops the oldest first", () => {
    const { conversation } = recorded();
    const large = conversation.packState("large");
    // With its quotes, a state of 64 KB: 16 of them are 1 MB.
    const stateOf = (at: number): string => `${at}`.padEnd(64 * 1024 - 2, ".");
    conversation.packState("small").set("kept");
    const kept = (): number[] =>
      conversation.packStates.filter(({ pack }) => pack === "large").map(({ at }) => at);
    for (let at = 1; at <= 16; at++) {
      conversation.append(user(`${at}`));
      large.set(stateOf(at));
    }
    expect(kept()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    conversation.append(user("17"));
    large.set(stateOf(17));
    expect(kept()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    conversation.rewind(2);
    expect(large.get()).toBe(stateOf(2));
    conversation.rewind(1);
    expect(large.get()).toBeUndefined();
    expect(conversation.packState("small").get()).toBe("kept");
  });

  test("settles the calls that wait for a decision when it goes back or is cleared", () => {
    for (const [leave, text] of [
      [(one: Conversation) => one.rewind(9), "Not run: the user went back to an earlier message."],
      [(one: Conversation) => one.clear(), "Not run: the conversation was cleared."],
    ] as const) {
      const pending = { answer: asking("1", "2"), results: [result("1")], calls: [waiting("2")] };
      const { conversation, changes } = recorded({ session: { systemPrompt: "", messages: [], pending } });
      leave(conversation);
      expect(conversation.pending).toBeUndefined();
      expect(changes.filter(({ type }) => type === "result")).toEqual([
        expect.objectContaining({ message: result("2", text) }),
      ]);
    }
  });

  test("is empty after it was cleared, also without messages", () => {
    const { conversation, changes } = recorded();
    conversation.clear();
    expect(changes).toEqual([]);
    conversation.packState("p").set(1);
    conversation.packState("gone").set(1);
    conversation.packState("gone").set(undefined);
    conversation.clear();
    expect(conversation.packState("p").get()).toBeUndefined();
    expect(changes.slice(3)).toEqual([{ type: "state", pack: "p", at: 0 }]);
  });

  test("forgets the states of packs when it continues a session without any", () => {
    const { conversation } = recorded();
    conversation.append(user("a"));
    conversation.packState("p").set(1);
    conversation.switchTo({ systemPrompt: "", messages: [user("b")] });
    expect(conversation.packState("p").get()).toBeUndefined();
    expect(conversation.packStates).toEqual([]);
  });

  test("is copied up to a message, without the calls that wait", () => {
    const { conversation } = recorded({ systemPrompt: "s" });
    conversation.append(user("a"), "one");
    const round = conversation.openRound(asking("1"));
    round.addResult(result("1"), { outcome: "ok", durationMs: 1 });
    round.close([result("1")]);
    conversation.append(user("b"), "two");
    conversation.packState("p").set(2);
    conversation.addSpending({ tokens: 5, cost: 1 });
    const whole = conversation.branch();
    expect(whole.changes()).toEqual(conversation.changes());
    const part = conversation.branch("two");
    expect(part.sessionContext).toEqual([user("a"), asking("1"), result("1")]);
    expect(part.systemPrompt).toBe("s");
    expect(part.packStates).toEqual([]);
    expect(part.spending).toEqual({ tokens: 5, cost: 1 });
    expect(part.indexOf("one")).toBe(0);
    expect(conversation.branch("one").sessionContext).toEqual([]);
    expect(() => conversation.branch("other")).toThrow("id");
  });

  test("notes when an answer with calls and its results came", () => {
    const conversation = new Conversation();
    const ask = { id: "1", type: "function", function: { name: "t", arguments: "{}" } } as const;
    const answer = { role: "assistant", content: null, tool_calls: [ask] } as const;
    const result = { role: "tool", tool_call_id: "1", content: "done" } as const;
    const round = conversation.openRound(answer);
    round.addResult(result);
    expect(conversation.infoOf(answer).at).toMatch(/^\d{4}-/);
    expect(conversation.infoOf(result).at).toMatch(/^\d{4}-/);
  });

  test("gives each message an id, the same for every question", () => {
    const conversation = new Conversation({
      session: { systemPrompt: "", messages: [user("a"), user("b")] },
    });
    const [first, second] = conversation.sessionContext;
    if (!first || !second) throw new Error("no messages");
    expect(conversation.indexOf("x")).toBe(-1);
    const { id } = conversation.infoOf(second);
    expect(conversation.infoOf(second).id).toBe(id);
    expect(conversation.infoOf(first).id).not.toBe(id);
    expect(conversation.indexOf(id)).toBe(1);
  });

  test("continues another session, with all that belongs to it", () => {
    const message = result("1");
    const other = new Conversation();
    other.append(user("a"));
    const round = other.openRound(asking("1"));
    round.addResult(message, { outcome: "ok", durationMs: 1 });
    round.close([message]);
    other.packState("p").set(7);
    other.addSpending({ tokens: 5, cost: 1 });
    const session = {
      systemPrompt: "other",
      messages: other.sessionContext,
      details: new Map([[message, { outcome: "ok" as const, durationMs: 1 }]]),
      info: new Map(other.sessionContext.map((one) => [one, other.infoOf(one)])),
      states: other.packStates,
      spending: other.spending,
    };
    const { conversation, changes } = recorded({ systemPrompt: "own" });
    conversation.packState("q").set(1);
    conversation.append(user("old"));
    conversation.switchTo(session);
    expect(conversation.systemPrompt).toBe("own");
    expect(conversation.changes().slice(1)).toEqual(other.changes());
    expect(conversation.packState("q").get()).toBeUndefined();
    expect(conversation.spending).toEqual({ tokens: 5, cost: 1 });
    expect(changes.at(-1)).toMatchObject({ type: "replace", start: 0, count: 1 });
    conversation.switchTo({ systemPrompt: "", messages: [] });
    expect(conversation.spending).toEqual({ tokens: 0, cost: 0 });
    expect(conversation.packStates).toEqual([]);
    expect(() => conversation.switchTo({ systemPrompt: "", messages: [message] })).toThrow("session");
  });

  test("tells about a system prompt only if it is another one", () => {
    const { conversation, changes } = recorded({ systemPrompt: "a" });
    conversation.setSystemPrompt("a");
    expect(changes).toEqual([]);
    conversation.setSystemPrompt("b");
    expect(changes).toEqual([{ type: "system", systemPrompt: "b" }]);
  });

  test("is reserved by one agent at a time", () => {
    const conversation = new Conversation();
    const release = conversation.reserve();
    expect(() => conversation.reserve()).toThrow("Another agent");
    release();
    expect(conversation.reserve()).toBeTypeOf("function");
  });

  test("loses its recording with the listener that brought it, not with another", () => {
    const conversation = new Conversation({ sessionContextFilePath: "/own" });
    const recording = (path: string) => ({ path, save: async () => undefined, flush: async () => undefined });
    expect(conversation.isStored).toBe(false);
    const first = conversation.onChange(() => undefined, recording("/first"));
    const second = conversation.onChange(() => undefined, recording("/second"));
    first();
    expect(conversation.sessionContextFilePath).toBe("/second");
    expect(conversation.isStored).toBe(true);
    second();
    expect(conversation.sessionContextFilePath).toBe("/own");
    expect(conversation.isStored).toBe(false);
    expect(conversation.save).toBeUndefined();
  });

  test("records the result that replaces one when the round ends, and no unchanged one again", () => {
    const { conversation, changes } = recorded();
    const round = conversation.openRound(asking("1", "2"));
    const [one, two] = [result("1"), result("2")];
    const details = { outcome: "ok" as const, durationMs: 1 };
    round.addResult(one, details);
    round.addResult(two, details);
    expect(conversation.sessionContext).toEqual([]);
    const shorter = result("2", "shorter");
    round.close([one, shorter]);
    expect(conversation.sessionContext).toEqual([asking("1", "2"), one, shorter]);
    expect(conversation.detailsOf(shorter)).toEqual(details);
    expect(changes.map((change) => ("message" in change ? change.message : change.type))).toEqual([
      asking("1", "2"),
      one,
      two,
      shorter,
    ]);
  });

  test("adds what requests took", () => {
    const { conversation, changes } = recorded();
    conversation.addSpending({ tokens: 3, cost: 1 });
    conversation.addSpending({ tokens: 4, cost: 2 });
    expect(conversation.spending).toEqual({ tokens: 7, cost: 3 });
    expect(changes).toHaveLength(2);
    expect(() => conversation.addSpending({ tokens: -1, cost: 0 })).toThrow("tokens");
    expect(() => conversation.addSpending({ tokens: 0, cost: -1 })).toThrow("cost");
  });
});

describe("the states of packs", () => {
  test("move with the messages around them", () => {
    const conversation = new Conversation();
    const at = (): number[] => conversation.packStates.map((entry) => entry.at);
    for (let count = 0; count < 6; count++) {
      conversation.packState(`p${count}`).set(count);
      conversation.append(user(`${count}`));
    }
    expect(at()).toEqual([0, 1, 2, 3, 4, 5]);
    // Two of six by one: what was set between or right after them was set after the summary.
    conversation.replace(1, 2, [user("summary")]);
    expect(at()).toEqual([0, 1, 2, 2, 3, 4]);
    // The last ones by one: nothing is set back.
    conversation.replace(3, 2, [user("end")]);
    expect(at()).toEqual([0, 1, 2, 2, 3, 4]);
    conversation.replace(1, 1, []);
    expect(at()).toEqual([0, 1, 1, 1, 2, 3]);
    conversation.replace(2, 1, []);
    expect(at()).toEqual([0, 1, 1, 1, 2]);
  });

  test("keep one value for a moment, and report what changed since a version", () => {
    const conversation = new Conversation();
    const state = conversation.packState("p");
    state.set(1);
    const version = conversation.stateVersion;
    expect(conversation.statesSince(version)).toEqual([]);
    state.set(2);
    conversation.packState("q").set(undefined);
    expect(conversation.packStates.filter(({ pack }) => pack === "p")).toEqual([
      { pack: "p", at: 0, value: 2 },
    ]);
    expect(conversation.statesSince(version)).toEqual([
      { pack: "p", version: 2, value: 2 },
      { pack: "q", version: 3 },
    ]);
    expect(conversation.statesSince(2)).toEqual([{ pack: "q", version: 3 }]);
  });

  test("take the changes of a journal in their order, and no older ones", () => {
    const conversation = new Conversation();
    conversation.replayStates([
      { pack: "p", version: 4, value: "new" },
      { pack: "p", version: 3, value: "old" },
    ]);
    expect(conversation.packState("p").get()).toBe("new");
    expect(conversation.stateVersion).toBe(4);
    conversation.packState("p").set("next");
    expect(conversation.stateVersion).toBe(5);
  });

  test("forget the oldest values beyond a megabyte, never the newest", () => {
    const conversation = new Conversation();
    const value = "x".repeat(60_000);
    conversation.packState("small").set(1);
    for (let count = 0; count < 30; count++) {
      conversation.append(user(`${count}`));
      conversation.packState("p").set(value + count);
    }
    const kept = conversation.packStates.filter(({ pack }) => pack === "p");
    expect(kept).toHaveLength(17);
    expect(kept.at(-1)?.value).toBe(`${value}29`);
    expect(kept.map(({ at }) => at)).toEqual(Array.from({ length: 17 }, (_, index) => 14 + index));
    expect(conversation.packState("small").get()).toBe(1);
  });
});

describe("the budget of a round's results", () => {
  /** Without the note about what was left out. */
  const countOf = (text: string): number => text.split("x").length - 1;
  const sizes = (maxBytes: number, lengths: readonly number[]): number[] => {
    const budget = new OutputBudget(maxBytes, lengths.length);
    for (const [index, length] of lengths.entries()) budget.add(index, "x".repeat(length));
    return budget.texts().map(countOf);
  };

  test("keeps what fits, exactly", () => {
    expect(sizes(1000, [400, 600])).toEqual([400, 600]);
  });

  test("shortens the longest, and leaves short ones whole", () => {
    const [short = 0, long = 0, longer = 0] = sizes(1000, [100, 900, 900]);
    expect(short).toBe(100);
    expect(long).toBe(longer);
    expect(long).toBeLessThanOrEqual(450);
    expect(long).toBeGreaterThan(300);
    expect(sizes(1000, [500, 501])[0]).toBe(500);
    expect(sizes(10_000, [1000, 9000, 9000])[1]).toBeGreaterThan(4000);
  });

  test("bounds what it holds while results arrive: after four budgets each gets its share", () => {
    const budget = new OutputBudget(1000, 10);
    const kept = Array.from({ length: 10 }, (_, index) => countOf(budget.add(index, "x".repeat(1000))));
    expect(kept.slice(0, 5)).toEqual([1000, 1000, 1000, 1000, 1000]);
    expect(Math.max(...kept.slice(5))).toBeLessThanOrEqual(100);
    expect(new OutputBudget(10, 0).texts()).toEqual([]);
  });
});

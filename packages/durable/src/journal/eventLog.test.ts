import { expect, test } from "vitest";
import type { FollowedEvent, RunEvent } from "../engine/events.js";
import { countLogged, EventLog } from "./eventLog.js";

const event = (one: object): RunEvent => one as RunEvent;

/** What a claim logs, after an earlier one has logged `before`. */
async function logged(before: readonly object[], now: readonly object[]): Promise<readonly RunEvent[]> {
  const entries = async function* (): AsyncGenerator<FollowedEvent> {
    for (const one of before) yield { event: one } as FollowedEvent;
    yield { ended: true } as unknown as FollowedEvent;
  };
  const log = new EventLog(await countLogged(entries()));
  for (const one of now) log.add(event(one));
  return log.take();
}

test("leaves out the events that a replay reports again, as often as they were logged", async () => {
  const requested = { type: "tool_requested", id: "1", name: "x" };
  expect(await logged([requested], [requested])).toEqual([]);
  expect(await logged([requested], [requested, requested])).toEqual([requested]);
  expect(await logged([requested], [{ ...requested, id: "2" }])).toEqual([{ ...requested, id: "2" }]);
  expect(await logged([requested], [{ ...requested, type: "tool_end" }])).toHaveLength(1);
  expect(await logged([requested, requested], [requested, requested, requested])).toEqual([requested]);
});

test.each(["tool_requested", "tool_end", "usage", "context", "steered", "done"])(
  "knows that a replay reports %s again",
  async (type) => expect(await logged([{ type }], [{ type }])).toEqual([]),
);

test.each(["text", "notice", "tool_start", "tool_output"])("logs every event of type %s", async (type) => {
  const one = { type, text: "", chunk: "" };
  expect(await logged([one], [one])).toEqual([one]);
});

test("compares messages of the user without their id, which is new each time", async () => {
  expect(await logged([{ type: "steered", id: "a" }], [{ type: "steered", id: "b" }])).toEqual([]);
});

test("compares the events of a child agent with those of the same child of the same call", async () => {
  const child = (id: string, number: number, inner: object) => ({
    type: "child",
    id,
    child: number,
    event: inner,
  });
  const done = { type: "done" };
  expect(await logged([child("1", 0, done)], [child("1", 0, done)])).toEqual([]);
  expect(await logged([child("1", 0, done)], [child("1", 1, done)])).toHaveLength(1);
  expect(await logged([child("1", 0, done)], [child("2", 0, done)])).toHaveLength(1);
  const text = child("1", 0, { type: "text", text: "a" });
  expect(await logged([text], [text])).toEqual([text]);
});

test("does not log the drafts of calls, its own and those of children", async () => {
  const draft = { type: "tool_draft", id: "1" };
  const nested = {
    type: "child",
    id: "1",
    child: 0,
    event: { type: "child", id: "2", child: 0, event: draft },
  };
  expect(await logged([], [draft, nested])).toEqual([]);
});

test.each<[name: string, events: object[], expected: object[]]>([
  [
    "text",
    [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
    [{ type: "text", text: "ab" }],
  ],
  [
    "text after one that replaces what came before",
    [
      { type: "text", text: "a", whole: "xa" },
      { type: "text", text: "b" },
    ],
    [{ type: "text", text: "ab", whole: "xab" }],
  ],
  [
    "reasoning",
    [
      { type: "reasoning", text: "a" },
      { type: "reasoning", text: "b" },
    ],
    [{ type: "reasoning", text: "ab" }],
  ],
  [
    "output of one call",
    [
      { type: "tool_output", id: "1", chunk: "a" },
      { type: "tool_output", id: "1", chunk: "b" },
    ],
    [{ type: "tool_output", id: "1", chunk: "ab" }],
  ],
])("joins pieces of %s", async (_, events, expected) => expect(await logged([], events)).toEqual(expected));

test.each<[name: string, events: object[]]>([
  [
    "text that replaces what came before",
    [
      { type: "text", text: "a" },
      { type: "text", text: "b", whole: "b" },
    ],
  ],
  [
    "output of different calls",
    [
      { type: "tool_output", id: "1", chunk: "a" },
      { type: "tool_output", id: "2", chunk: "b" },
    ],
  ],
  [
    "text and reasoning",
    [
      { type: "text", text: "a" },
      { type: "reasoning", text: "b" },
    ],
  ],
  [
    "reasoning and text",
    [
      { type: "reasoning", text: "a" },
      { type: "text", text: "b" },
    ],
  ],
  [
    "output and text",
    [
      { type: "tool_output", id: "1", chunk: "a" },
      { type: "text", text: "b" },
    ],
  ],
  [
    "notices",
    [
      { type: "notice", text: "a" },
      { type: "notice", text: "b" },
    ],
  ],
])("keeps %s apart", async (_, events) => expect(await logged([], events)).toEqual(events));

test("counts what waits, and passes each event on once", () => {
  const log = new EventLog(new Map());
  log.add(event({ type: "text", text: "a" }));
  log.add(event({ type: "notice", text: "b" }));
  expect(log.size).toBe(2);
  expect(log.take()).toHaveLength(2);
  expect(log.size).toBe(0);
  expect(log.take()).toEqual([]);
});

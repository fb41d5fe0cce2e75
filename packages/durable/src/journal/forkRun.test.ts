import { describe, expect, test } from "vitest";
import type { JournalEntry, RunAccess } from "../engine/engine.js";
import { forkRun, stepsOf } from "./forkRun.js";

const entry = (key: string, kind: JournalEntry["kind"] = "result", value: unknown = key): JournalEntry => ({
  key,
  kind,
  value,
});
const JOURNAL = [
  entry("version"),
  entry("1/answer.0"),
  entry("1/answer.0/messages", "result", 1),
  entry("1/call.a", "intent"),
  entry("1/call.a"),
  entry("2/answer.0", "error"),
  entry("2/answer.1"),
  entry("2/answer.1/messages", "result", 3),
  entry("2/call.b", "intent"),
];
const RUN = {
  ...{ id: "old", definition: "d", version: "1", tenant: "t", labels: ["l"], priority: 2, input: "i" },
  decisions: [{ key: "1/call.a" }, { key: "2/call.b" }, { key: "2/call.c" }],
  messages: ["one", "two", "three", "four"],
};

/** Forks the run and returns what is created. */
async function fork(options?: { steps?: number; id?: string }, run: object | undefined = RUN) {
  const created: unknown[] = [];
  const engine = {
    get: async (id: string) => (id === "old" ? run : undefined),
    journal: async () => JOURNAL,
    create: async (one: unknown) => void created.push(one),
  } as unknown as RunAccess;
  const id = await forkRun(engine, "old", options);
  const [one] = created as [
    { id: string; fork: { journal: JournalEntry[]; decisions: object[]; messages: string[] } },
  ];
  expect(one.id).toBe(id);
  return one;
}
const keysOf = ({ fork: { journal } }: Awaited<ReturnType<typeof fork>>) =>
  journal.map(({ key, kind }) => (kind === "result" ? key : `${key} ${kind}`));

test("counts completed steps: answers and calls with a result", () => {
  expect(stepsOf(JOURNAL).map(({ number, key }) => `${number} ${key}`)).toEqual([
    "1 1/answer.0",
    "2 1/call.a",
    "3 2/answer.1",
  ]);
});

describe("a fork", () => {
  test.each<[steps: number, keys: string[], decisions: number, messages: number]>([
    [0, [], 0, 0],
    [1, ["version", "1/answer.0", "1/answer.0/messages"], 0, 1],
    [2, ["version", "1/answer.0", "1/answer.0/messages", "1/call.a intent", "1/call.a"], 1, 1],
  ])("has, after %i steps, what happened until then", async (steps, keys, decisions, messages) => {
    const created = await fork({ steps });
    expect(keysOf(created)).toEqual(keys);
    expect(created.fork.decisions).toHaveLength(decisions);
    expect(created.fork.messages).toEqual(RUN.messages.slice(0, messages));
  });

  test("takes all completed steps by default, and nothing after them", async () => {
    const created = await fork();
    expect(keysOf(created)).toEqual([
      ...["version", "1/answer.0", "1/answer.0/messages", "1/call.a intent", "1/call.a"],
      ...["2/answer.0 error", "2/answer.1", "2/answer.1/messages"],
    ]);
    expect(created).toMatchObject({
      ...{ definition: "d", version: "1", tenant: "t", labels: ["l"], priority: 2, input: "i" },
      fork: { from: "old", decisions: [{ key: "1/call.a" }], messages: ["one", "two", "three"] },
    });
    expect(created).not.toHaveProperty("title");
    expect(created.id).not.toBe("old");
  });

  test("has the id it is given, and the title of the run", async () => {
    const created = await fork({ id: "new" }, { ...RUN, title: "x" });
    expect(created).toMatchObject({ id: "new", title: "x" });
  });

  test.each([-1, 4, 1.5])("is refused for %s steps", async (steps) => {
    await expect(fork({ steps })).rejects.toThrow(`steps must be a whole number from 0 to 3, got ${steps}.`);
  });

  test("is refused for a run that is not there", async () => {
    const engine = { get: async () => undefined } as unknown as RunAccess;
    await expect(forkRun(engine, "none")).rejects.toThrow('There is no run "none".');
  });
});

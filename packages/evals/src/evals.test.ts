import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatProvider, ChatResponse } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  compareEvals,
  defineEval,
  type EvalCase,
  type EvalReport,
  formatEvals,
  type RunEvalsOptions,
  recordedModels,
  runEvals,
  wilsonInterval,
} from "./index.js";

const SCRIPTED_MODEL = [{ name: "scripted" }];
const PACKS: EvalCase["packs"] = ({ path }) => [[fs, { root: path }], bash];

let recordings: string;
beforeEach(() => {
  recordings = mkdtempSync(join(tmpdir(), "agent-evals-"));
});
afterEach(() => rmSync(recordings, { recursive: true }));

/** A case whose scripted model corrects a file by an absolute path, as models do that have seen one. */
const EDIT = defineEval({
  name: "Fixes a typo",
  files: { "a.txt": "helo\n", "b.txt": "b\n" },
  task: "Fix the spelling in a.txt.",
  script: [
    () => ({ calls: [{ name: "read_file", args: { path: join(process.cwd(), "a.txt") } }] }),
    { calls: [{ name: "edit_file", args: { path: "a.txt", old_string: "helo", new_string: "hello" } }] },
    "Fixed.",
  ],
  async check(run) {
    run.called("read_file", { path: /a\.txt$/ });
    expect(run.called("edit_file", { path: "a.txt" })).toHaveLength(1);
    run.never("run_bash");
    run.unchanged("b.txt");
    expect(run.file("a.txt")).toBe("hello\n");
    expect(await run.exit("cat a.txt; exit 3", { code: 3 })).toEqual({ code: 3, output: "hello\n" });
  },
});

const run = (
  subject: EvalCase | readonly EvalCase[],
  options: Partial<RunEvalsOptions> = {},
): Promise<EvalReport> =>
  runEvals([subject].flat(), { models: SCRIPTED_MODEL, packs: PACKS, recordings, ...options });

/** The outcome of one run of a case that differs from EDIT. */
async function outcomeOf(
  change: Partial<EvalCase>,
  options: Partial<RunEvalsOptions> = {},
): Promise<{ status: string; problem: string }> {
  const { groups } = await run({ ...EDIT, ...change }, options);
  const { status = "none", problem = "" } = groups[0]?.runs[0] ?? {};
  return { status, problem };
}

describe("a run", () => {
  it("passes if all checks hold, in its own directory, which is removed", async () => {
    const before = process.cwd();
    let path = "";
    const report = await run({
      ...EDIT,
      check: (one) => {
        path = one.path;
        expect(process.cwd()).toBe(path);
        return EDIT.check(one);
      },
    });
    expect(report.groups[0]?.runs[0]?.problem).toBeUndefined();
    expect(report).toMatchObject({ ok: true, groups: [{ passed: 1, judged: 1, verdict: "holds" }] });
    expect(process.cwd()).toBe(before);
    expect(() => readdirSync(path)).toThrow();
  });

  it.each<[string, EvalCase["check"], RegExp]>([
    [
      "a missing call",
      (one) => void one.called("remove"),
      /^remove did not run\. Calls: read_file \(ok\), edit_file \(ok\)\.$/,
    ],
    [
      "other arguments",
      (one) => void one.called("edit_file", { path: "b.txt" }),
      /did not run with these arguments/,
    ],
    ["a call that must never be", (one) => one.never("read_file"), /^read_file was called: \{"path":/],
    ["a call that was not denied", (one) => void one.denied("read_file"), /^No call of read_file was denied/],
    ["a changed file", (one) => one.unchanged(), /^a\.txt was changed\.$/],
    ["a missing file", (one) => void one.file("c.txt"), /^c\.txt cannot be read/],
    [
      "an exit code",
      async (one) => void (await one.exit("echo no; exit 2")),
      /^echo no; exit 2 ended with exit code 2, expected 0: no$/,
    ],
    [
      "a command that hangs",
      async (one) => void (await one.exit("sleep 60", { timeoutMs: 50 })),
      /time limit/,
    ],
    ["an assertion", (one) => expect(one.text).toBe("x"), /expected 'Fixed\.'/],
  ])("fails by %s", async (_, check, problem) => {
    expect(await outcomeOf({ check })).toEqual({ status: "failed", problem: expect.stringMatching(problem) });
  });

  it("sees calls that were denied", async () => {
    const outcome = await outcomeOf({
      approve: ({ name }) => (name === "edit_file" ? { deny: "no" } : "allow"),
      check: (one) => {
        one.denied("edit_file");
        expect(() => one.called("edit_file")).toThrow("did not run");
        one.unchanged();
      },
    });
    expect(outcome).toEqual({ status: "passed", problem: "" });
  });

  it("keeps calls in the working directory and commands in a sandbox", async () => {
    const outside = join(recordings, "outside.txt");
    const outcome = await outcomeOf({
      packs: [fs, [bash, { sandbox: "off" }]],
      enable: ["run_bash"],
      script: [
        { calls: [{ name: "write_file", args: { path: outside, content: "x" } }] },
        { calls: [{ name: "run_bash", args: { command: "true" } }] },
        "Done.",
      ],
      check: (one) => {
        one.denied("write_file");
        one.denied("run_bash");
      },
    });
    expect(outcome).toEqual({ status: "passed", problem: "" });
    expect(readdirSync(recordings)).toEqual([]);
  });

  it("fails by the turn limit and by the time limit", async () => {
    expect(await outcomeOf({ maxTurns: 1 })).toMatchObject({ status: "failed" });
    const endless = { ...EDIT, script: [() => new Promise<string>(() => undefined)], timeoutMs: 20 };
    expect(await outcomeOf(endless)).toEqual({ status: "failed", problem: "Not finished after 20 ms." });
  });

  it.each<[string, Partial<EvalCase>, RegExp]>([
    ["a script that is too short", { script: [] }, /The script has 0 answers/],
    [
      "a bug in the check",
      { check: () => void (undefined as unknown as string[]).push() },
      /^The check itself failed/,
    ],
    ["a pack that does not load", { packs: () => Promise.reject(new Error("no pack")) }, /no pack/],
  ])("is an error and not a failure of the model with %s", async (_, change, problem) => {
    expect(await outcomeOf(change)).toEqual({ status: "error", problem: expect.stringMatching(problem) });
  });

  it("runs commands without the keys of providers", async () => {
    process.env.OPENAI_API_KEY = "secret";
    try {
      expect(
        await outcomeOf({ check: async (one) => void (await one.exit('test -z "$OPENAI_API_KEY"')) }),
      ).toMatchObject({ status: "passed" });
    } finally {
      delete process.env.OPENAI_API_KEY;
    }
  });
});

describe("policies", () => {
  /** Four of five runs end with the right text. */
  const models = () => {
    let turn = 0;
    const provider = (): ChatProvider => scriptedProvider([turn++ % 5 === 2 ? "wrong" : "right"]);
    return [{ name: "flaky", provider }];
  };
  const flaky = {
    name: "flaky",
    task: "x",
    check: (one: { text: string }) => expect(one.text).toBe("right"),
  };

  it.each([
    ["always", "fails"],
    ["usually", "holds"],
    [{ usually: 0.9 }, "fails"],
  ] as const)("%j %s with four of five", async (policy, verdict) => {
    const report = await run({ ...flaky, policy }, { models: models(), runs: 5 });
    expect(report.groups[0]).toMatchObject({ passed: 4, judged: 5, verdict });
    expect(report.ok).toBe(verdict === "holds");
    expect(formatEvals(report)).toMatch(/4\/5 +38 %–96 %/);
  });

  it("gives Wilson's interval", () => {
    const rounded = (passed: number, runs: number): string[] =>
      wilsonInterval(passed, runs).map((value) => value.toFixed(3));
    expect(rounded(5, 5)).toEqual(["0.566", "1.000"]);
    expect(rounded(8, 10)).toEqual(["0.490", "0.943"]);
    expect(rounded(0, 5)).toEqual(["0.000", "0.434"]);
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
  });
});

describe("the matrix", () => {
  it("runs each case with its models, and scripted only where there is a script", async () => {
    const done: string[] = [];
    const { script: _, ...plain } = EDIT;
    const other = { name: "other", provider: () => scriptedProvider(["x"]) };
    await run(
      [
        { ...plain, name: "plain" },
        { ...EDIT, models: ["scripted"] },
      ],
      {
        models: [...SCRIPTED_MODEL, other],
        onRun: ({ case: name, model, run: number, runs }) => done.push(`${name}, ${model} ${number}/${runs}`),
      },
    );
    expect(done).toEqual(["plain, other 1/1", "Fixes a typo, scripted 1/1"]);
  });

  /** A model that costs half a dollar per request. */
  const costly = (): ChatProvider => ({
    price: { input: 1, output: 1 },
    respond: async (): Promise<ChatResponse> => ({
      content: "x",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 500_000, outputTokens: 0 },
    }),
  });

  it("stops at the cost limit and judges no case that was not finished", async () => {
    const subject = { name: "costly", task: "x", check: () => undefined };
    const models = [{ name: "costly", provider: costly }];
    const report = await run([subject, { ...subject, name: "second" }], { models, runs: 2, maxCost: 1.4 });
    expect(report).toMatchObject({ stopped: "cost", ok: false, cost: 1.5 });
    expect(report.groups.map(({ verdict }) => verdict)).toEqual(["holds", "not judged"]);
    expect(report.groups[1]?.runs.map(({ status }) => status)).toEqual(["passed", "skipped"]);
  });

  it("refuses a cost limit for a model without a price", async () => {
    const models = [{ name: "free", provider: () => scriptedProvider(["x"]) }];
    expect(await outcomeOf({}, { models, maxCost: 1 })).toMatchObject({
      status: "error",
      problem: expect.stringMatching(/price/),
    });
  });

  it("ends with what there is after an abort", async () => {
    const controller = new AbortController();
    const abort = (): Promise<string> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const script = [abort];
    const report = await run([EDIT, { ...EDIT, name: "second", script }, { ...EDIT, name: "third" }], {
      signal: controller.signal,
    });
    expect(report).toMatchObject({ stopped: "interrupted", ok: false });
    expect(report.groups.map(({ verdict }) => verdict)).toEqual(["holds", "not judged"]);
  });
});

describe("a recording", () => {
  it("is replayed without a model, in another directory and with another prompt", async () => {
    expect(await run(EDIT, { mode: "record", runs: 2 })).toMatchObject({ ok: true });
    const names = ["fixes-a-typo.scripted.1.json", "fixes-a-typo.scripted.2.json"];
    expect(readdirSync(recordings)).toEqual(names);
    expect(readFileSync(join(recordings, names[0] ?? ""), "utf8")).not.toContain(tmpdir());
    expect(await recordedModels(recordings, [EDIT])).toEqual(["scripted"]);
    const replayed = await run({ ...EDIT, script: [] }, { mode: "replay", systemPrompt: "Another." });
    expect(replayed.groups[0]?.runs).toMatchObject([{ status: "passed" }, { status: "passed" }]);
    await run(EDIT, { mode: "record" });
    expect(readdirSync(recordings)).toEqual(names.slice(0, 1));
  });

  it("is an error if it is missing, of another task or damaged", async () => {
    expect(await outcomeOf({}, { mode: "replay" })).toEqual({
      status: "error",
      problem: expect.stringMatching(
        /^There is no recording .*fixes-a-typo\.scripted\.1\.json\. Record it first\.$/,
      ),
    });
    await run(EDIT, { mode: "record" });
    expect(await outcomeOf({ task: "Something else." }, { mode: "replay" })).toMatchObject({
      status: "error",
      problem: expect.stringMatching(/differs from the recording/),
    });
  });

  it("is not written for a run that cannot be judged", async () => {
    await run({ ...EDIT, script: [] }, { mode: "record" });
    expect(readdirSync(recordings)).toEqual([]);
  });
});

it("compares a report with an earlier one", async () => {
  const other = { ...EDIT, name: "other" };
  const before = await run([EDIT, other]);
  const failing = { ...EDIT, check: () => expect.unreachable("no") };
  const now = await run([failing, { ...EDIT, name: "third" }]);
  const differences = compareEvals(now, JSON.parse(JSON.stringify(before)));
  expect(differences.map(({ case: name, change }) => [name, change])).toEqual([
    ["Fixes a typo", "broken"],
    ["third", "new"],
    ["other", "gone"],
  ]);
  const text = formatEvals(now, differences);
  expect(text).toMatch(/Fixes a typo .* fails, broken, -100 points/);
  expect(text).toMatch(/Fixes a typo \(scripted\), run 1: failed: .*no/);
  expect(text).toMatch(/no longer there: other \(scripted\)/);
  expect(text).toMatch(/1 hold, 1 fail, 0 not judged/);
  expect(() => compareEvals(now, { groups: 4 })).toThrow("is not a report");
});

it.each<[string, object, RegExp]>([
  ["an unknown option", { cheks: 1 }, /has no option "cheks"/],
  ["a policy", { policy: { usually: 2 } }, /policy must be "always"/],
  ["a task", { task: [] }, /task must be/],
  ["a number of runs", { runs: 0.5 }, /runs must be a whole number/],
  ["a check that is missing", { check: undefined }, /"check" is missing/],
])("refuses %s", (_, change, message) => {
  expect(() => defineEval({ ...EDIT, ...change } as EvalCase)).toThrow(message);
});

it("refuses names that would write the same recording", async () => {
  await expect(run([EDIT, { ...EDIT, name: "fixes A typo!" }])).rejects.toThrow(/are too similar/);
  await expect(run({ ...EDIT, name: "äöü" })).rejects.toThrow(/needs a letter/);
});

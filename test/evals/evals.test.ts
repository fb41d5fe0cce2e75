import { fileURLToPath } from "node:url";
import type { ScriptedAnswer } from "@agent/core/replay";
import { type EvalCase, runEvals } from "@agent/evals";
import { expect, test } from "vitest";
import { cases as edits } from "./edits.eval.js";
import { cases as safety } from "./safety.eval.js";

const MODELS = [{ name: "scripted" }];

test("passes the recorded runs of our own tools", async () => {
  const report = await runEvals([...edits, ...safety], {
    models: MODELS,
    mode: "replay",
    recordings: fileURLToPath(new URL("recordings", import.meta.url)),
  });
  const problems = report.groups.flatMap(({ case: name, runs }) =>
    runs.flatMap(({ status, problem }) => (status === "passed" ? [] : [`${name}: ${status}: ${problem}`])),
  );
  expect(problems).toEqual([]);
  expect(report.groups).toHaveLength(edits.length + safety.length);
});

/** The first answer of the script, then what a model does that follows the hostile text or works around a denial. */
function obedient({ script = [] }: EvalCase): readonly ScriptedAnswer[] {
  return [
    ...script.slice(0, 1),
    { calls: [{ name: "write_file", args: { path: "keep.txt", content: "" } }] },
    { calls: [{ name: "remove", args: { path: "keep.txt" } }] },
    "Done.",
  ];
}

test.each(safety.map((subject) => [subject.name, subject] as const))(
  "fails the case for a model that follows the instruction: %s",
  async (_, subject) => {
    const report = await runEvals([{ ...subject, script: obedient(subject) }], { models: MODELS });
    expect(report.groups[0]).toMatchObject({ verdict: "fails", runs: [{ status: "failed" }] });
  },
);

test.each(edits.map((subject) => [subject.name, subject] as const))(
  "fails the case for a model that does nothing: %s",
  async (_, subject) => {
    const report = await runEvals([{ ...subject, script: ["Done."] }], { models: MODELS });
    expect(report.groups[0]).toMatchObject({ verdict: "fails" });
  },
);

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runsProject } from "./runsProject.js";

const SDK = new URL("./fixtures/openTelemetry.mjs", import.meta.url).href;
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const REQUEST = "00f067aa0ba902b7";

test("executes a run that is started within a trace inside it, by a worker with OpenTelemetry", async () => {
  const sandbox = runsProject();
  const spans = join(sandbox.home, "spans");
  const started = await sandbox.run(["runs", "start", "--json", "look"], {
    env: { TRACEPARENT: `00-${TRACE_ID}-${REQUEST}-01` },
  });
  expect(started).toMatchObject({ code: 0, stderr: "" });
  const worked = await sandbox.run(["runs", "work", "--drain", "--trust"], {
    env: { NODE_OPTIONS: `--import ${SDK}`, SPANS: spans },
  });
  expect(worked.code, worked.stderr).toBe(0);
  const told = readFileSync(spans, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["run task", "execute_tool read_file"]),
  );
  expect(told.find(({ name }) => name === "run task").parent).toBe(REQUEST);
  expect(new Set(told.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
});

import { escapeInvisible } from "@agent/core/toolkit";
import type { Run } from "@agent/durable";
import { approvalLines, PLAIN_STYLE } from "@agent/terminal/host";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, print } from "../../process/output.js";
import { shellWord } from "../../process/shellWord.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { ageText, costText, findRun, stateText, titleOf, tokensText } from "./text.js";

/** `agent runs show`: everything about one run except its events. */
export async function showCommand(
  id: string,
  flags: EngineFlags & { readonly json?: boolean },
): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const run = await findRun(engine, id);
    if (flags.json) print(`${JSON.stringify({ v: 1, run }, undefined, 2)}\n`);
    else print(describe(run));
    return EXIT.done;
  });
}

function describe(run: Run): string {
  const { input, approvals, result } = run;
  const task = (input as { task?: unknown } | null)?.task;
  const facts: [string, string][] = [
    ["run", run.id],
    ["state", stateText(run)],
    ["title", run.title === titleOf(String(task)) ? "" : (run.title ?? "")],
    ["task", typeof task === "string" ? task : JSON.stringify(input)],
    ["definition", `${run.definition} (version ${run.version})`],
    ["tenant", run.tenant],
    ["labels", run.labels.join(", ")],
    ["priority", run.priority === 0 ? "" : String(run.priority)],
    ["queued at", timeText(run.createdAt)],
    ["begun at", timeText(run.startedAt)],
    ["ended at", timeText(run.endedAt)],
    [run.endedAt === undefined ? "age" : "took", ageText(run)],
    ["worker", run.worker ?? ""],
    ["claims", `${run.epoch}${run.crashes > 0 ? `, ${run.crashes} lost` : ""}`],
    ["used", tokensText(run)],
    ["cost", costText(run)],
  ];
  const lines = [
    columns(
      facts.filter(([, value]) => value !== "").map(([name, value]) => [`${name}:`, escapeInvisible(value)]),
    ),
  ];
  for (const { key, ...call } of approvals) {
    lines.push(`\n${approvalLines(call, PLAIN_STYLE).join("\n")}\n`);
    lines.push(`Decide with: agent runs approve ${run.id} --call ${shellWord(key)}\n`);
  }
  if (result) lines.push(`\n${escapeInvisible(result.text)}\n`);
  return lines.join("");
}

function timeText(time: number | undefined): string {
  return time === undefined ? "" : new Date(time).toISOString();
}

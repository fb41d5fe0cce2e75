import { RUN_STATES, type RunState } from "@agent/durable";
import { didYouMean, escapeToLine } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, print } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { withProgress } from "./progress.js";
import { ageText, costText, parseCount, stateText, timeText, tokensText } from "./text.js";

export interface ListFlags extends EngineFlags {
  readonly state?: string;
  readonly tenant?: string;
  readonly label?: string;
  readonly text?: string;
  readonly undecided?: boolean;
  readonly after?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

/** `agent runs list`: the newest first. */
export async function listCommand(flags: ListFlags): Promise<ExitCode> {
  const state = flags.state === undefined ? undefined : checkedState(flags.state);
  const limit = parseCount(flags.limit ?? "50", "--limit");
  return await withEngine(flags, async (engine) => {
    const { tenant, label, text, undecided, after } = flags;
    const query = {
      ...(state && { state }),
      ...(tenant !== undefined && { tenant }),
      ...(label !== undefined && { label }),
      ...(text !== undefined && { text }),
      ...(undecided && { undecided }),
    };
    const page = { limit, ...(after !== undefined && { after }) };
    const [runs, counts] = await withProgress("Reading runs", () =>
      Promise.all([engine.list({ ...query, ...page }), engine.count(query)]),
    );
    if (flags.json) {
      print(`${JSON.stringify({ v: 1, counts, runs }, undefined, 2)}\n`);
      return EXIT.done;
    }
    if (runs.length === 0) {
      const isFiltered = Object.keys(query).length > 0 || after !== undefined;
      print(
        isFiltered
          ? "No such runs. All of them: agent runs list\n"
          : 'No runs. Start one: agent runs start "run the checks"\n',
      );
      return EXIT.done;
    }
    const rows = runs.map((run) => [
      run.id,
      escapeToLine(run.tenant).slice(0, 20),
      timeText(run.createdAt),
      ageText(run),
      tokensText(run),
      costText(run),
      stateText(run).slice(0, 80),
      escapeToLine(run.title ?? "").slice(0, 60),
    ]);
    print(columns(rows, ["RUN", "TENANT", "QUEUED", "TIME", "USED", "COST", "STATE", "TASK"]));
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (runs.length === limit && total > limit)
      print(`\n${total} in all. The next ones: --after ${runs.at(-1)?.id}\n`);
    return EXIT.done;
  });
}

function checkedState(text: string): RunState {
  const state = RUN_STATES.find((one) => one === text);
  if (state) return state;
  throw new CliError(`--state has no "${text}". ${didYouMean(text, RUN_STATES)}`);
}

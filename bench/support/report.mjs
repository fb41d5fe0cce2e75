// Where every figure goes: printed as it is measured, and kept in bench/results/<area>.json.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { median, quantile } from "./statistics.mjs";

export const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));

/**
 * Collects the figures of one area.
 *
 *   const report = createReport("fs", "File tools");
 *   report.add({ work: "list_dir, 100k entries", unit: "× ls -1p", reach: "≤ 1.0", values: ratios });
 *   report.save();
 *
 * `values` are all samples: the figure is their median, and its spread the quarters around it. `who` names another
 * program that did the same work; rows without it are ours. `reach` is the bound the project set itself. A program that
 * cannot take part is named by `leaveOut(who, reason)`, and the rest is measured without it.
 */
export function createReport(area, title) {
  const load = round(loadavg()[0]);
  const rows = [];
  const leftOut = new Map();
  return {
    leaveOut(who, reason) {
      if (leftOut.has(who)) return;
      leftOut.set(who, reason);
      console.log(`${who} is left out: ${reason}`);
    },
    add({ work, unit, values, reach, who, note }) {
      const row = {
        work,
        ...(who !== undefined && { who }),
        unit,
        ...(reach !== undefined && { reach }),
        median: round(median(values)),
        ...(values.length > 2 && { low: round(quantile(values, 0.25)), high: round(quantile(values, 0.75)) }),
        samples: values.length,
        ...(note !== undefined && { note }),
      };
      rows.push(row);
      console.log(formatRow(row));
    },
    /** Writes the rows. Those of an earlier run that were not measured this time stay, if only a part was run. */
    save({ isPartial = false } = {}) {
      mkdirSync(RESULTS, { recursive: true });
      const file = `${RESULTS}${area}.json`;
      const earlier = isPartial ? earlierResult(file) : { rows: [] };
      const fresh = new Set(rows.map(rowKey));
      const kept = earlier.rows.filter((row) => !fresh.has(rowKey(row)));
      const absent = { ...earlier.leftOut, ...Object.fromEntries(leftOut) };
      const machine = { node: process.version, cores: availableParallelism(), load };
      const measured = new Date().toISOString().slice(0, 10);
      // The rows that stay keep their date and load; the others carry their own.
      const dated = rows.map((row) => ({
        ...row,
        note: [row.note, `measured ${measured}, load ${load}`].filter(Boolean).join("; "),
      }));
      const { measured: since, node, cores, load: loadThen } = earlier;
      const result = {
        title,
        command: `pnpm bench ${area}`,
        measured: kept.length > 0 ? since : measured,
        ...(kept.length > 0 ? { node, cores, load: loadThen } : machine),
        ...(Object.keys(absent).length > 0 && { leftOut: absent }),
        rows: kept.length > 0 ? [...kept, ...dated] : rows,
      };
      writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
    },
  };
}

function earlierResult(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { rows: [] };
  }
}

function rowKey({ work, who }) {
  return JSON.stringify([work, who]);
}

function formatRow({ work, who, unit, reach, median: figure, low, high, note }) {
  const spread = low === undefined ? "" : ` (${low} – ${high})`;
  const goal = reach === undefined ? "" : `, reach ${reach}`;
  return `${who === undefined ? "" : `${who}: `}${work}: ${figure} ${unit}${spread}${goal}${note === undefined ? "" : `; ${note}`}`;
}

/** Three significant digits: more would claim a precision that no figure here has. */
function round(value) {
  return Number(value.toPrecision(3));
}

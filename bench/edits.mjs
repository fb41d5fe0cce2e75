// edit_file on texts as models write them: how many edits apply, are refused, or leave a file that no one meant.
// Build first, then: pnpm bench edits [class]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editCases } from "./corpora/edits.mjs";
import { createReport } from "./support/report.mjs";

const { editFileTool, Workspace } = await import(
  new URL("../packages/tools-fs/dist/index.js", import.meta.url).href
);

const base = mkdtempSync(join(tmpdir(), "bench-edits-"));
process.on("exit", () => rmSync(base, { recursive: true, force: true }));
const [only] = process.argv.slice(2);
const counts = new Map();
const wrong = [];

for (const [index, one] of editCases().entries()) {
  if (only !== undefined && one.class !== only) continue;
  const path = join(base, `${index}-${one.path}`);
  writeFileSync(path, one.file);
  const tool = editFileTool(new Workspace());
  let refusal;
  try {
    await tool.execute({ path, old_text: one.oldText, new_text: one.newText });
  } catch (error) {
    refusal = error.message;
  }
  const after = readFileSync(path, "utf8");
  const outcome =
    refusal !== undefined && after === one.file ? "refused" : after === one.expected ? "applied" : "wrong";
  const row = counts.get(one.class) ?? { applied: 0, refused: 0, wrong: 0 };
  row[outcome]++;
  counts.set(one.class, row);
  if (outcome === "wrong") wrong.push({ ...one, after });
  if (only !== undefined) console.log(outcome, one.name, refusal ?? "");
}

const report = createReport("edits", "Edits as models write them");
const sum = { applied: 0, refused: 0, wrong: 0 };
for (const [name, row] of counts) {
  for (const key of Object.keys(sum)) sum[key] += row[key];
  console.log(`${name.padEnd(44)} applied ${row.applied}  refused ${row.refused}  wrong ${row.wrong}`);
}
for (const [key, value] of Object.entries(sum)) {
  report.add({ work: key, unit: "edits", values: [value], ...(key === "wrong" && { reach: "≤ 0" }) });
}
for (const one of wrong)
  console.error(`\nWRONG ${one.class}: ${one.name}\n--- expected\n${one.expected}\n--- file\n${one.after}`);
if (only === undefined) report.save();
if (sum.wrong > 0) process.exitCode = 1;

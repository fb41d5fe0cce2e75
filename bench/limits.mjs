// How often a command that uses 690 MB escapes a limit of 256 MB: pnpm bench limits [runs] [kind] [--more]
// Build first. A command escapes if it ends with exit code 0. A node that uses little memory must not be killed.
// --more adds its runs to those of the stored result, so that a thousand can be run in pieces.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport, RESULTS } from "./support/report.mjs";

const PACK = new URL("../packages/tools-bash/dist/index.js", import.meta.url);
const { runBashTool } = await import(PACK.href);
const words = process.argv.slice(2);
const isMore = words.includes("--more");
const [count = "1000", only] = words.filter((word) => word !== "--more");
const runs = Number(count);
const SHARED_FILE = `/dev/shm/agent-bench-limits-${process.pid}`;
const MEETING_PLACE = mkdtempSync(join(tmpdir(), "agent-bench-limits-"));
const node = (code) => `'${process.execPath}' -e '${code}'`;
const python = (code) => `exec python3 -c '${code}'`;

// Each process waits for the other two when it has its memory: on a busy machine they would run one after the other.
const third = node(`const { readdirSync, writeFileSync } = require("fs");
  const memory = Buffer.alloc(230e6, 1);
  writeFileSync("${MEETING_PLACE}/" + process.pid, "");
  while (readdirSync("${MEETING_PLACE}").length < 3);`);

/** Ways to use 690 MB at the same time. */
const KINDS = {
  "one process, immediately": node("Buffer.alloc(690e6, 1)"),
  "one process, piece by piece": node(
    "const k = []; for (let i = 0; i < 690; i++) k.push(Buffer.alloc(1e6, 1))",
  ),
  "three processes": `${`${third} & `.repeat(3)} wait %1 && wait %2 && wait %3`,
  "shared memory": python(
    'import mmap\nm = mmap.mmap(-1, 690000000)\nfor _ in range(69): m.write(b"x" * 10000000)',
  ),
  memfd: python('import os\nf = os.memfd_create("x")\nfor _ in range(69): os.write(f, b"x" * 10000000)'),
  tmpfs: `head -c 690000000 /dev/zero > ${SHARED_FILE}`,
};

const report = createReport("limits", "Limits of commands");
const tool = runBashTool({ limits: { memoryMb: 256 } });
async function run(command) {
  try {
    return JSON.parse(await tool.execute({ command, timeout: 60_000 }));
  } finally {
    // Remove the file here: a killed command cannot, and it takes up memory.
    rmSync(SHARED_FILE, { force: true });
    for (const name of readdirSync(MEETING_PLACE)) rmSync(join(MEETING_PLACE, name));
  }
}

function storedRow(work) {
  const file = `${RESULTS}limits.json`;
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8")).rows.find((row) => row.work === work);
}

/** Runs a command `runs` times and adds how many of the runs were wrong to the report. */
async function measure({ work, unit, command, isWrong }) {
  const earlier = isMore ? storedRow(work) : undefined;
  let wrong = earlier?.median ?? 0;
  for (let done = 0; done < runs; done++) if (isWrong(await run(command))) wrong++;
  const all = runs + Number.parseInt(earlier?.note ?? "0", 10);
  report.add({ work, unit, reach: "0", values: [wrong], note: `${all} runs` });
}

for (const [name, command] of Object.entries(KINDS)) {
  if (only !== undefined && !name.includes(only)) continue;
  const work = `690 MB under a limit of 256 MB: ${name}`;
  await measure({ work, unit: "escaped", command, isWrong: ({ exit_code: code }) => code === 0 });
}
if (only === undefined || "little".includes(only)) {
  const work = "a node that uses little memory, under the same limit";
  const command = node("setTimeout(() => {}, 100)");
  await measure({ work, unit: "killed", command, isWrong: ({ exit_code: code }) => code !== 0 });
}
report.save({ isPartial: only !== undefined || isMore });
rmSync(MEETING_PLACE, { recursive: true });
await tool.services.dispose();

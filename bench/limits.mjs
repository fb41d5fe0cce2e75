// How often a command that uses 690 MB gets away under a limit of 256 MB: pnpm bench limits [runs] [hog]
// Build first. A hog gets away if it ends with exit code 0. An innocent node must not be ended.
import { rmSync } from "node:fs";
import { createReport } from "./support/report.mjs";

const PACK = new URL("../packages/tools-bash/dist/index.js", import.meta.url);
const { RunBashTool } = await import(PACK.href);
const [runs = 1000, only] = process.argv.slice(2);
const SHARED_FILE = `/dev/shm/agent-bench-limits-${process.pid}`;
const node = (code) => `'${process.execPath}' -e '${code}'`;
const python = (code) => `exec python3 -c '${code}'`;

const HOGS = {
  "one process, at once": node("Buffer.alloc(690e6, 1)"),
  "one process, piece by piece": node(
    "const k = []; for (let i = 0; i < 690; i++) k.push(Buffer.alloc(1e6, 1))",
  ),
  "three processes": `${`${node("Buffer.alloc(230e6, 1)")} & `.repeat(3)} wait %1 && wait %2 && wait %3`,
  "shared memory": python(
    'import mmap\nm = mmap.mmap(-1, 690000000)\nfor _ in range(69): m.write(b"x" * 10000000)',
  ),
  memfd: python('import os\nf = os.memfd_create("x")\nfor _ in range(69): os.write(f, b"x" * 10000000)'),
  tmpfs: `head -c 690000000 /dev/zero > ${SHARED_FILE}`,
};

const report = createReport("limits", "Limits of commands");
const tool = new RunBashTool({ limits: { memoryMb: 256 } });
async function run(command) {
  try {
    return JSON.parse(await tool.execute({ command, timeout: 60_000 }));
  } finally {
    // A command that was killed cannot remove it, and it is memory.
    rmSync(SHARED_FILE, { force: true });
  }
}

for (const [name, command] of Object.entries(HOGS)) {
  if (only !== undefined && !name.includes(only)) continue;
  let escaped = 0;
  for (let count = 0; count < Number(runs); count++) if ((await run(command)).exit_code === 0) escaped++;
  const work = `690 MB under a limit of 256 MB: ${name}`;
  report.add({ work, unit: `of ${runs} got away`, reach: "0", values: [escaped] });
}
if (only === undefined || "innocent".includes(only)) {
  let failed = 0;
  const innocent = node("setTimeout(() => {}, 100)");
  for (let count = 0; count < Number(runs); count++) if ((await run(innocent)).exit_code !== 0) failed++;
  report.add({
    work: "an innocent node under the same limit",
    unit: `of ${runs} failed`,
    reach: "0",
    values: [failed],
  });
}
report.save({ isPartial: only !== undefined });
await tool.services.dispose();

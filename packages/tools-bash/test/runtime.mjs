// Runs commands in the current runtime, and prints the results.
import { runBashTool } from "../dist/index.js";

const tool = runBashTool();
const run = async (args, call) => JSON.parse(await tool.execute(args, call));
const live = [];
const call = { signal: new AbortController().signal, onOutput: (chunk) => live.push(chunk), report() {} };
const failing = await run({ command: "echo out; echo err >&2; exit 3" }, call);
const long = await run({ command: "seq 1 50000" });
const late = await run({ command: "echo begun; sleep 100", timeout: 1000 });
const left = await run({ command: "sleep 100 >/dev/null 2>&1 & echo left" });
const jobs = tool.services.jobs.list().length;
await tool.services.dispose();
process.stdout.write(
  JSON.stringify({
    live: live.join(""),
    failing: [failing.stdout, failing.stderr, failing.exit_code],
    long: [long.truncated?.stdout?.total_bytes, long.stdout.includes("\n50000\n[stdout truncated")],
    late: [late.stdout, late.timed_out],
    left: [left.stdout, left.background_pids?.length, jobs],
  }),
);

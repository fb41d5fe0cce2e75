// One contestant in a process of its own: does the conversations it is sent, and answers with the time they took in CPU
// microseconds and in milliseconds of the clock.
import { setTimeout as sleep } from "node:timers/promises";
import { makeContestant } from "./coreContestants.mjs";

const FILLER = "x".repeat(4096);
const TOOLS = {
  small: async ({ path, limit }) => `${path}: ${limit} lines`,
  large: async ({ path }) => `${path}\n${FILLER}`,
  slow: async () => {
    await sleep(100);
    return "done";
  },
};

// openai's runTools adds a listener to one signal in every turn, and Node warns about it each time.
process.removeAllListeners("warning");

const [baseURL, name, tool] = process.argv.slice(2);
process.on("message", (work) => hold(work).then((took) => process.send(took), sendProblem));
process.on("disconnect", () => process.exit());
const made = makeContestant(name, baseURL, TOOLS[tool]);
made.catch(() => undefined);

async function hold({ stream, times }) {
  const run = await made;
  const started = performance.now();
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) {
    const text = await run({ stream });
    if (!/^(All done\.|word )/.test(text)) throw new Error(`it answers ${JSON.stringify(text)}`);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpu: user + system, wall: performance.now() - started };
}

function sendProblem({ code, message }) {
  process.send({ problem: code === "ERR_MODULE_NOT_FOUND" ? "not installed" : `it fails (${message})` });
}

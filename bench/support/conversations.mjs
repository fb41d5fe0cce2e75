// The inside of a contestant's process (contestants.mjs): holds the conversations it is sent, and answers with the time
// they took in CPU microseconds and in milliseconds of the clock, or with what is wrong.

/** `made` resolves to the contestant: `({ stream }) => Promise<string>` holds one whole conversation. */
export function holdConversations(made) {
  made.catch(() => undefined);
  process.on("message", (work) => hold(made, work).then((took) => process.send(took), sendProblem));
  process.on("disconnect", () => process.exit());
}

async function hold(made, { stream, times }) {
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

// One contestant in a process of its own: does the conversations it is sent, and answers with their CPU microseconds.
import { providerContestants } from "./providersContestants.mjs";

const [baseURL, wire, who] = process.argv.slice(2);
const run = providerContestants(baseURL)[wire][who];

process.on("message", async ({ stream, times }) => {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) {
    const text = await run({ stream });
    if (!/^(All done\.|word )/.test(text)) throw new Error(`answered ${JSON.stringify(text)}`);
  }
  const { user, system } = process.cpuUsage(before);
  process.send(user + system);
});
process.on("disconnect", () => process.exit());

// Starts the proxy with the key and exits: after this step no process of the job has the key in its environment.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { required, StepError, step } from "./common.mjs";

const UPSTREAM = {
  openai: { upstream: "https://api.openai.com/v1", header: "authorization" },
  anthropic: { upstream: "https://api.anthropic.com", header: "x-api-key" },
  google: { upstream: "https://generativelanguage.googleapis.com", header: "x-goog-api-key" },
};
const LIFETIME_MS = 6 * 60 * 60_000;
const START_MS = 30_000;

await step(async () => {
  const known = UPSTREAM[required("AGENT_PROVIDER")];
  if (!known) throw new StepError(`provider must be one of ${Object.keys(UPSTREAM).join(", ")}.`);
  const upstream = process.env.AGENT_BASE_URL || known.upstream;
  if (!/^https:\/\//.test(upstream) && !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(upstream)) {
    throw new StepError("base-url must be an https URL: the key is sent there.");
  }
  const file = join(required("AGENT_DIRECTORY"), "proxy.json");
  const child = spawn(process.execPath, [fileURLToPath(new URL("proxy.mjs", import.meta.url))], {
    detached: true,
    // The runner kills the processes of a job by this variable.
    env: { RUNNER_TRACKING_ID: process.env.RUNNER_TRACKING_ID ?? "" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const settings = {
    ...known,
    upstream,
    file,
    lifetimeMs: LIFETIME_MS,
    token: randomBytes(32).toString("hex"),
  };
  child.stdin.end(JSON.stringify({ ...settings, key: required("AGENT_API_KEY") }));
  child.unref();
  for (let waited = 0; !existsSync(file); waited += 20) {
    if (waited > START_MS || child.exitCode !== null)
      throw new StepError("The proxy for the model did not start.");
    await wait(20);
  }
});

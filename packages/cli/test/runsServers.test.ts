import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { finished, Sandbox, said, scripted } from "./agent.js";
import { runsProject } from "./runsProject.js";

const POSTGRES = process.env.AGENT_TEST_POSTGRES ?? "";
const REDIS = process.env.AGENT_TEST_REDIS ?? "";
const withServers = POSTGRES !== "" && REDIS !== "";
if (!withServers) {
  process.stdout.write(
    "Skipped: agent runs on Postgres and Redis. Set AGENT_TEST_POSTGRES and AGENT_TEST_REDIS to the addresses of servers.\n",
  );
}

/** A database of the test's own, dropped when it ends. */
function createDatabase(): string {
  const name = `test_${crypto.randomUUID().slice(0, 8)}`;
  const ask = (text: string) => execFileSync("psql", ["-q", "-c", text, POSTGRES]);
  ask(`create database ${name}`);
  onTestFinished(() => void ask(`drop database ${name} with (force)`));
  const address = new URL(POSTGRES);
  address.pathname = `/${name}`;
  return address.href;
}

test.skipIf(!withServers)(
  "executes runs of other processes with the units and containers of the docs, and ends on SIGTERM",
  { timeout: 120_000 },
  async () => {
    const sandbox = new Sandbox();
    sandbox.write("agent.config.mjs", scripted(["All done."]));
    const env = { AGENT_RUNS_ENGINE: createDatabase(), AGENT_RUNS_REDIS: REDIS };
    const workers = ["one", "two"].map((name) =>
      sandbox.start(["runs", "work", "--concurrency", "8", "--name", name, "--trust"], { env }),
    );
    onTestFinished(() => {
      for (const worker of workers) worker.kill("SIGKILL");
    });
    await Promise.all(workers.map(({ stderr }) => said(stderr, "Working on runs")));
    for (const task of ["first", "second"]) {
      const followed = await sandbox.run(["runs", "start", "--follow", task], { env });
      expect(followed).toMatchObject({ code: 0, stdout: "All done.\n" });
    }
    for (const worker of workers) {
      const ended = finished(worker);
      worker.kill("SIGTERM");
      expect((await ended).code).toBe(0);
    }
    expect((await sandbox.run(["runs", "prune", "--older", "0s"], { env })).stdout).toBe("2 runs removed.\n");
  },
);

test.skipIf(!withServers)(
  "continues a run in a database that was restored from a dump, with a queue that never heard of it",
  { timeout: 120_000 },
  async () => {
    const sandbox = runsProject("All done.", 'confirm: ["read_file"],');
    const [engine, restored] = [createDatabase(), createDatabase()];
    const env = { AGENT_RUNS_ENGINE: engine, AGENT_RUNS_REDIS: REDIS };
    await sandbox.run(["runs", "start", "--id", "kept", "look at a.txt"], { env });
    await sandbox.run(["runs", "work", "--drain", "--trust"], { env });
    const dump = join(sandbox.project, "runs.dump");
    execFileSync("pg_dump", ["--schema=agent_runs", "--format=custom", `--file=${dump}`, engine]);
    execFileSync("pg_restore", [`--dbname=${restored}`, dump]);
    // Without Redis: the queue is in the restored database, and empty.
    const later = { AGENT_RUNS_ENGINE: restored, AGENT_RUNS_REDIS: "" };
    expect((await sandbox.run(["runs", "approve", "kept"], { env: later })).stdout).toBe(
      "read_file: allowed\n",
    );
    await sandbox.run(["runs", "work", "--drain", "--trust"], { env: later });
    const shown = JSON.parse((await sandbox.run(["runs", "show", "kept", "--json"], { env: later })).stdout);
    expect(shown.run).toMatchObject({ state: "done", epoch: 2, result: { text: "All done." } });
    const before = JSON.parse((await sandbox.run(["runs", "show", "kept", "--json"], { env })).stdout);
    expect(before.run).toMatchObject({ state: "waiting", epoch: 1 });
  },
);

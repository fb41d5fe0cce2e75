// Worker processes, and what the parts of the bench ask them.
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const WORKER = fileURLToPath(new URL("worker.mjs", import.meta.url));

/** Starts a worker process and resolves once it takes runs. */
export async function spawnWorker(address, { concurrency = 1, leaseMs = 10_000, isTold = false } = {}) {
  const worker = fork(WORKER, [address, String(concurrency), String(leaseMs)], {
    execArgv: ["--expose-gc"],
    env: { ...process.env, TELL: isTold ? "1" : "" },
  });
  await once(worker, "message");
  return worker;
}

export async function ask(worker, question) {
  worker.send(question);
  const [answer] = await once(worker, "message");
  return answer;
}

/** Kills the processes and resolves when they are gone. */
export async function end(workers) {
  await Promise.all(
    workers.map(async (worker) => {
      worker.kill("SIGKILL");
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, "exit");
    }),
  );
}

/** Resolves when the run is done. Looks now and then: a follower would take part in what is measured. */
export async function isDone(engine, id) {
  while ((await engine.get(id))?.state !== "done") await sleep(20);
}

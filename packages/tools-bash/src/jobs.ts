import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import { endCommand } from "./endings.js";
import type { ShellProcess } from "./launch.js";
import { guardAgainstKill, release } from "./lifetime.js";
import type { Limits } from "./limits.js";
import { exceededSummary } from "./result.js";
import { RollingLog } from "./rollingLog.js";
import { temporaryPath } from "./temporary.js";
import type { ProcessTree } from "./tree.js";
import { type Exceeded, type Watch, watchTree } from "./watch.js";

const GRACE_MS = 1000;
const MAX_FINISHED = 20;

interface Survivors {
  readonly tree: ProcessTree;
  readonly pids: readonly number[];
  readonly command: string;
  readonly limits: Limits;
  readonly shell: ShellProcess;
}

class Job {
  readonly id: string;
  readonly startedAt = Date.now();
  readonly log: string | undefined;
  readonly #survivors: Survivors;
  readonly #watch: Watch;
  #running = true;
  #exceeded: Exceeded | undefined;

  constructor(id: string, survivors: Survivors) {
    this.id = id;
    this.#survivors = survivors;
    this.log = keepReading(survivors.shell, id);
    this.#watch = watchTree(
      survivors.tree,
      survivors.limits,
      (exceeded) => {
        this.#exceeded = exceeded;
        void this.end(0);
      },
      () => this.#look(),
    );
  }

  get pids(): readonly number[] {
    return this.#survivors.pids;
  }

  /** The state of this moment. */
  describe(): BackgroundJob {
    const pids = this.#look();
    return {
      id: this.id,
      command: this.#survivors.command,
      pids,
      startedAt: this.startedAt,
      ...(this.log !== undefined && { logFile: this.log }),
      ...(!this.#running && { ended: this.#exceeded ? exceededSummary(this.#exceeded) : "ended" }),
    };
  }

  async end(graceMs = GRACE_MS): Promise<boolean> {
    if (this.#look().length === 0) return false;
    const ended = await this.#survivors.tree.end(graceMs);
    this.#look();
    return ended;
  }

  #look(): number[] {
    if (!this.#running) return [];
    const pids = this.#survivors.tree.pids();
    if (pids.length === 0) this.#finish();
    return pids;
  }

  #finish(): void {
    this.#running = false;
    this.#watch.stop();
    release(this.#survivors.tree);
    const finished = adopted.filter((job) => !job.#running);
    for (const job of finished.slice(0, -MAX_FINISHED)) adopted.splice(adopted.indexOf(job), 1);
  }
}

const adopted: Job[] = [];
let lastId = 0;

/** Takes over what a command left behind: it goes on, its output goes to a log, and it ends with the agent. */
export function adoptSurvivors(survivors: Survivors): Job {
  guardAgainstKill();
  const job = new Job(`job-${++lastId}`, survivors);
  adopted.push(job);
  return job;
}

/** What commands of this process left running, and the last few that have ended. `endProcess` is for what a call waits for. */
export const jobs: BackgroundJobs = {
  list: () => [...adopted].map((job) => job.describe()),
  end: async (id) => (await adopted.find((job) => job.id === id)?.end()) ?? false,
  endProcess: async (pid) => endCommand(pid),
};

/** Nobody may be left writing into a pipe that is not read: it would block, or die of it. */
function keepReading(shell: ShellProcess, id: string): string | undefined {
  shell.child.unref();
  const open = [shell.stdout, shell.stderr].filter((stream) => !stream.readableEnded && !stream.destroyed);
  if (open.length === 0) return undefined;
  const log = new RollingLog(temporaryPath(`${id}.log`));
  for (const stream of open) {
    (stream as typeof stream & { unref?(): void }).unref?.();
    stream.on("data", (chunk: Buffer) => log.write(chunk));
  }
  return log.path;
}

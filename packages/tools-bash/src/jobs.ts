import type { ShellProcess } from "./launch.js";
import { guardAgainstKill, release } from "./lifetime.js";
import type { Limits } from "./limits.js";
import { RollingLog } from "./rollingLog.js";
import { temporaryPath } from "./temporary.js";
import type { ProcessTree } from "./tree.js";
import { type Exceeded, type Watch, watchTree } from "./watch.js";

const GRACE_MS = 1000;
const MAX_FINISHED = 20;

/** What a command left running when it returned. */
export interface BackgroundJob {
  readonly id: number;
  /** The command it came from. */
  readonly command: string;
  /** Its processes that are alive now. */
  readonly pids: readonly number[];
  readonly startedAt: Date;
  readonly running: boolean;
  /** What it printed since the command returned: the newest 8 to 16 MB. Undefined if it gave up its output. */
  readonly log?: string;
  /** The limit it was ended for. */
  readonly exceeded?: Exceeded;
}

interface Survivors {
  readonly tree: ProcessTree;
  readonly pids: readonly number[];
  readonly command: string;
  readonly limits: Limits;
  readonly shell: ShellProcess;
}

class Job {
  readonly id: number;
  readonly startedAt = new Date();
  readonly log: string | undefined;
  readonly #survivors: Survivors;
  readonly #watch: Watch;
  #running = true;
  #exceeded: Exceeded | undefined;

  constructor(id: number, survivors: Survivors) {
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
      running: this.#running,
      ...(this.log !== undefined && { log: this.log }),
      ...(this.#exceeded && { exceeded: this.#exceeded }),
    };
  }

  async end(graceMs = GRACE_MS): Promise<boolean> {
    const ended = await this.#survivors.tree.end(graceMs);
    this.#look();
    return ended;
  }

  #look(): number[] {
    if (!this.#running) return [];
    const pids = this.#survivors.tree.survivors();
    if (pids.length === 0) this.#finish();
    return pids;
  }

  #finish(): void {
    this.#running = false;
    this.#watch.stop();
    release(this.#survivors.tree);
    const finished = jobs.filter((job) => !job.#running);
    for (const job of finished.slice(0, -MAX_FINISHED)) jobs.splice(jobs.indexOf(job), 1);
  }
}

const jobs: Job[] = [];
let lastId = 0;

/** Takes over what a command left behind: it goes on, its output goes to a log, and it ends with the agent. */
export function adoptSurvivors(survivors: Survivors): Job {
  guardAgainstKill();
  const job = new Job(++lastId, survivors);
  jobs.push(job);
  return job;
}

/** What commands of this process left running, and the last few that have ended. Oldest first. */
export function listBackgroundJobs(): BackgroundJob[] {
  return [...jobs].map((job) => job.describe());
}

/** Ends a job with all its processes. Resolves to whether it is gone; false also for an unknown id. */
export async function endBackgroundJob(id: number): Promise<boolean> {
  const job = jobs.find((one) => one.id === id);
  return job === undefined ? false : job.end();
}

/** Nobody may be left writing into a pipe that is not read: it would block, or die of it. */
function keepReading(shell: ShellProcess, id: number): string | undefined {
  shell.child.unref();
  const open = [shell.stdout, shell.stderr].filter((stream) => !stream.readableEnded && !stream.destroyed);
  if (open.length === 0) return undefined;
  const log = new RollingLog(temporaryPath(`job-${id}.log`));
  for (const stream of open) {
    (stream as typeof stream & { unref?(): void }).unref?.();
    stream.on("data", (chunk: Buffer) => log.write(chunk));
  }
  return log.path;
}

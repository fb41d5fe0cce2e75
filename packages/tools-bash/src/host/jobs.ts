import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import type { ShellProcess } from "../command/launch.js";
import { exceededSummary } from "../command/outcome.js";
import { RollingLog } from "../output/rollingLog.js";
import type { Limits } from "../processes/limits.js";
import type { ProcessTree } from "../processes/processTree.js";
import { type Exceeded, type TreeWatch, watchTree } from "../processes/watch.js";
import type { CommandHost } from "./commandHost.js";

const GRACE_MS = 1000;
const MAX_FINISHED = 20;

/** Processes of a command that continue after its call has returned. */
export interface Survivors {
  readonly tree: ProcessTree;
  readonly pids: readonly number[];
  readonly command: string;
  readonly limits: Limits;
  readonly shell: ShellProcess;
  /** Whether the command itself continues, and not only its background processes. */
  readonly isDetached?: boolean;
}

/** The background jobs of one host: the running ones, and the last few that have finished. */
export class JobList implements BackgroundJobs {
  readonly #host: CommandHost;
  readonly #jobs: Job[] = [];
  #lastId = 0;

  constructor(host: CommandHost) {
    this.#host = host;
  }

  list(): readonly BackgroundJob[] {
    return [...this.#jobs].map((job) => job.describe());
  }

  async end(id: string): Promise<boolean> {
    return (await this.#jobs.find((job) => job.id === id)?.end()) ?? false;
  }

  async endProcess(pid: number): Promise<boolean> {
    return this.#host.running.end(pid);
  }

  async detachProcess(pid: number): Promise<boolean> {
    return this.#host.running.detach(pid);
  }

  async endAll(): Promise<void> {
    await Promise.all(this.#jobs.map((job) => job.end()));
  }

  /**
   * Takes over processes of a command: they continue, their output goes to a log, and they are killed with the agent.
   */
  adopt(survivors: Survivors): Job {
    const id = `job-${++this.#lastId}`;
    const log = this.#host.files.path(`${id}.log`);
    const job = new Job(id, survivors, log, () => this.#finished(survivors.tree));
    this.#jobs.push(job);
    return job;
  }

  #finished(tree: ProcessTree): void {
    this.#host.release(tree);
    const finished = this.#jobs.filter((job) => !job.isRunning);
    for (const job of finished.slice(0, -MAX_FINISHED)) this.#jobs.splice(this.#jobs.indexOf(job), 1);
  }
}

/** One background job. */
export class Job {
  readonly id: string;
  readonly startedAt = Date.now();
  /** The log file, if the output was still open. */
  readonly log: string | undefined;
  readonly #survivors: Survivors;
  readonly #watch: TreeWatch;
  readonly #onFinished: (() => void)[];
  #isRunning = true;
  #exceeded: Exceeded | undefined;
  #exit: string | undefined;

  constructor(id: string, survivors: Survivors, log: string, onFinished: () => void) {
    this.id = id;
    this.#survivors = survivors;
    this.#onFinished = [onFinished];
    const { shell, tree, limits, isDetached } = survivors;
    this.log = keepReading(shell, log);
    if (isDetached) {
      shell.child.once("exit", (code, signal) => {
        this.#exit = signal === null ? `exit code ${code}` : `killed by ${signal}`;
        this.#look();
      });
    }
    const onExceeded = (exceeded: Exceeded): void => {
      this.#exceeded = exceeded;
      void this.end(0);
    };
    this.#watch = watchTree(tree, limits, onExceeded, () => this.#look());
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get pids(): readonly number[] {
    return this.#survivors.pids;
  }

  /** Calls `callback` when no process of the job is running; immediately if none is. */
  onFinished(callback: () => void): void {
    if (this.#isRunning) this.#onFinished.push(callback);
    else callback();
  }

  /** The current state. */
  describe(): BackgroundJob {
    const pids = this.#look();
    return {
      id: this.id,
      command: this.#survivors.command,
      pids,
      startedAt: this.startedAt,
      ...(this.log !== undefined && { logFile: this.log }),
      ...(!this.#isRunning && { ended: this.#ending() }),
    };
  }

  /** Resolves to whether there was a running process and it has been stopped. */
  async end(graceMs = GRACE_MS): Promise<boolean> {
    if (this.#look().length === 0) return false;
    const ended = await this.#survivors.tree.end(graceMs);
    this.#look();
    return ended;
  }

  #ending(): string {
    return this.#exceeded ? exceededSummary(this.#exceeded) : (this.#exit ?? "ended");
  }

  #look(): number[] {
    if (!this.#isRunning) return [];
    const pids = this.#survivors.tree.pids();
    // The exit code of the command itself arrives in a later event.
    const isExitAwaited = this.#survivors.isDetached === true && this.#exit === undefined;
    if (pids.length === 0 && !isExitAwaited) this.#finish();
    return pids;
  }

  #finish(): void {
    this.#isRunning = false;
    this.#watch.stop();
    for (const callback of this.#onFinished) callback();
  }
}

/** Keeps reading the output: a process that writes into a pipe without a reader blocks or is killed by SIGPIPE. */
function keepReading(shell: ShellProcess, path: string): string | undefined {
  shell.child.unref();
  const open = [shell.stdout, shell.stderr].filter((stream) => !stream.readableEnded && !stream.destroyed);
  if (open.length === 0) return undefined;
  const log = openLog(path);
  let streams = open.length;
  for (const stream of open) {
    (stream as typeof stream & { unref?(): void }).unref?.();
    stream.on("data", (chunk: Buffer) => log?.write(chunk));
    stream.once("close", () => {
      if (--streams === 0) log?.close();
    });
  }
  return log?.path;
}

/** `undefined` if no file can be created: the job continues without a log. */
function openLog(path: string): RollingLog | undefined {
  try {
    return new RollingLog(path);
  } catch {
    return undefined;
  }
}

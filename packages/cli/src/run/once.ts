import type { Agent, BackgroundJobs } from "@agent/core";
import type { ExitCode } from "../process/exitCodes.js";
import { watchInterruption } from "./interruption.js";
import { type Outcome, OutcomeWatcher } from "./outcome.js";
import type { Reporter, RunInfo } from "./reporters.js";

export interface OnceOptions {
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  readonly info: Pick<RunInfo, "model" | "provider" | "session">;
  /** Whether a call of this tool waits for a person before it runs. */
  readonly asks: (name: string) => boolean;
  readonly jobs: BackgroundJobs;
  /** Keeps the conversation for `--resume`. */
  readonly keep: () => Promise<void>;
}

/** One task from start to end: reports what happens, cleans up, and resolves to the true exit code. */
export async function runOnce(agent: Agent, task: string, options: OnceOptions): Promise<ExitCode> {
  const { reporter, jobs } = options;
  const watcher = new OutcomeWatcher();
  const interruption = watchInterruption(options.timeoutMs);
  let outcome: Outcome;
  try {
    const tools = agent.getTools().map((tool) => tool.function.name);
    reporter.start({ ...options.info, cwd: process.cwd(), tools }, options.asks);
    for await (const event of agent.streamChat(task, { signal: interruption.signal })) {
      watcher.see(event);
      reporter.event(event);
    }
    outcome = watcher.finished();
  } catch (error) {
    outcome = watcher.failed(error, interruption.stop);
  } finally {
    interruption.release();
    await Promise.all(jobs.list().map(({ id }) => jobs.end(id)));
  }
  await options.keep();
  reporter.finish(outcome);
  return outcome.exitCode;
}

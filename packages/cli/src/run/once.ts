import type { Agent, AgentEvent, Content, JsonSchema } from "@agent/core";
import type { ExitCode } from "../process/exitCodes.js";
import { watchInterruption } from "./interruption.js";
import { type Outcome, OutcomeWatcher } from "./outcome.js";
import type { Reporter, RunInfo } from "./reporters.js";

export interface OnceOptions {
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  readonly info: Pick<RunInfo, "model" | "provider" | "session">;
  /** The form the answer must have: a JSON Schema. */
  readonly output?: JsonSchema | undefined;
  /** Ends what the tools left running, and closes the session. */
  readonly dispose: () => Promise<void>;
}

/** One task from start to end: reports what happens, cleans up, and resolves to the true exit code. */
export async function runOnce(agent: Agent, task: Content, options: OnceOptions): Promise<ExitCode> {
  const { reporter } = options;
  const watcher = new OutcomeWatcher();
  const see = (event: AgentEvent): void => {
    watcher.see(event);
    reporter.event(event);
  };
  const interruption = watchInterruption(options.timeoutMs);
  let outcome: Outcome;
  try {
    const tools = agent.getTools().map((tool) => tool.function.name);
    reporter.start({ ...options.info, cwd: process.cwd(), tools });
    const { signal } = interruption;
    const { output } = options;
    for await (const event of agent.streamChat(task, { signal, ...(output && { output }) })) see(event);
    outcome = watcher.finished();
  } catch (error) {
    // Tools that were told to stop return their own results after the run was given up.
    for (const event of await agent.settled()) see(event);
    outcome = watcher.failed(error, interruption.stop);
  } finally {
    interruption.release();
    await options.dispose();
  }
  reporter.finish(outcome);
  return outcome.exitCode;
}

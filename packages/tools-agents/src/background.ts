import {
  type AgentEvent,
  type BackgroundAgent,
  type BackgroundJob,
  type BackgroundJobs,
  type ChildAgentAnswer,
  isAgentError,
} from "@agent/core";
import { quote } from "@agent/core/toolkit";

const MOST_ENDED = 20;

/** The outcome of a background agent: an answer, or an error; and whether it was stopped: by its user or with the chat. */
export type Ending = ({ readonly answer: ChildAgentAnswer } | { readonly error: unknown }) & {
  readonly isStopped: boolean;
};

interface Worker {
  readonly id: string;
  readonly task: string;
  readonly startedAt: number;
  readonly agent: BackgroundAgent;
  /** The running call, for a list. */
  doing: string;
  tokens: number;
  ended?: string;
  isStopped: boolean;
  /** Resolves when its outcome has been handled. */
  handled: Promise<void>;
}

/** The agents that work in the background: a host lists them, and the user stops them by name. */
export class BackgroundAgents implements BackgroundJobs {
  readonly #workers = new Map<string, Worker>();

  /** Tracks an agent that `start` starts. Calls `onEnd` when it has finished. */
  start(
    id: string,
    task: string,
    start: (onEvent: (event: AgentEvent) => void) => BackgroundAgent,
    onEnd: (ending: Ending) => void | Promise<void>,
  ): void {
    const agent = start((event) => this.#see(id, event));
    const worker: Worker = {
      ...{ id, task, startedAt: Date.now(), agent, doing: "", tokens: 0, isStopped: false },
      handled: Promise.resolve(),
    };
    this.#workers.set(id, worker);
    const end = async (
      ended: string,
      outcome: { readonly answer: ChildAgentAnswer } | { readonly error: unknown },
    ): Promise<void> => {
      const isStopped = worker.isStopped || ("error" in outcome && isAgentError(outcome.error, "aborted"));
      worker.doing = "";
      worker.ended = isStopped ? "stopped" : ended;
      this.#forget();
      await onEnd({ ...outcome, isStopped });
    };
    worker.handled = agent.done
      .then((answer) => end("answered", { answer }))
      // Also if the answer cannot be passed on.
      .catch((error: unknown) => end("failed", { error }))
      .catch(() => undefined);
  }

  list(): readonly BackgroundJob[] {
    return [...this.#workers.values()].map(({ id, task, startedAt, doing, tokens, ended }) => ({
      id,
      command: [task, doing, tokens === 0 ? "" : tokensText(tokens)]
        .filter((part) => part !== "")
        .join(" · "),
      pids: [],
      startedAt,
      ...(ended !== undefined && { ended }),
    }));
  }

  async end(id: string): Promise<boolean> {
    const worker = this.#workers.get(id);
    if (!worker || worker.ended !== undefined) return false;
    worker.isStopped = true;
    worker.agent.stop();
    await worker.handled;
    return true;
  }

  /** Stops all agents. Resolves when their outcomes have been handled. */
  async dispose(): Promise<void> {
    const ended = [...this.#workers.values()].map(async ({ id, handled }) => {
      await this.end(id);
      await handled;
    });
    await Promise.all(ended);
  }

  /** Throws if this agent is still working, or was stopped: it has no answer to continue from. */
  checkEnded(id: string): void {
    const worker = this.#workers.get(id);
    if (!worker) return;
    if (worker.ended === undefined)
      throw new Error(`the agent ${quote(id)} is still working. You will get its answer when it has ended.`);
    if (worker.ended === "stopped") throw new Error(`the user stopped the agent ${quote(id)}.`);
  }

  #see(id: string, event: AgentEvent): void {
    const worker = this.#workers.get(id);
    if (!worker) return;
    if (event.type === "tool_start") worker.doing = `${event.name} ${event.about?.title ?? ""}`.trim();
    if (event.type === "tool_end") worker.doing = "";
    if (event.type === "usage") worker.tokens = event.total.inputTokens + event.total.outputTokens;
  }

  #forget(): void {
    const ended = [...this.#workers.values()].filter((one) => one.ended !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#workers.delete(id);
  }
}

/** `812 tokens`, `31.4k tokens` */
export function tokensText(count: number): string {
  return `${count < 1000 ? count : `${(count / 1000).toFixed(1)}k`} tokens`;
}

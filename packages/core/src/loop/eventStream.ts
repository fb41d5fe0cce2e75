import type { AgentEvent } from "../events.js";
import { linkedController } from "../toolkit/abort.js";
import { invalidArgument } from "../toolkit/hostOptions/checks.js";

interface StreamedRun {
  /** Called when the first event is requested: checks the arguments and returns the signal that stops the run. */
  open(): AbortSignal | undefined;
  start(signal: AbortSignal, emit: (event: AgentEvent) => void): Promise<unknown>;
  /** Receives events that arrive after the stream has ended. */
  onLate(event: AgentEvent): void;
}

/**
 * The events of a run as they happen. The run starts when the first event is requested. Throws what the run rejects
 * with; leaving the loop early aborts the run.
 */
export async function* streamEvents({
  open,
  start,
  onLate,
}: StreamedRun): AsyncGenerator<AgentEvent, void, undefined> {
  const queue = new EventQueue<AgentEvent>();
  const { controller, release } = linkedController(open());
  const answer = start(controller.signal, (event) => {
    if (queue.isEnded) onLate(event);
    else queue.push(event);
  });
  // The rejection is thrown where the answer is awaited below; this handler prevents an unhandled rejection.
  answer.finally(() => queue.end()).catch(() => undefined);
  let complete = false;
  try {
    for (let events = await queue.take(); events; events = await queue.take()) {
      for (const event of events) yield event;
    }
    complete = true;
  } finally {
    release();
    if (!complete) {
      controller.abort();
      await answer.catch(() => undefined);
    }
  }
  await answer;
}

/**
 * The text of an answer as it is written, from the events of a message. Throws what the message rejects with. Leaving the
 * loop early stops the message.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { text } from "node:stream/consumers";
 * import { pipeline } from "node:stream/promises";
 * import { Agent, textStream } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const server = createServer(async (request, response) => {
 *   const gone = new AbortController();
 *   response.once("close", () => gone.abort()); // a client that leaves stops the agent
 *   const agent = new Agent(scriptedProvider(["Hello."]));
 *   const answer = textStream(agent.streamChat(await text(request), { signal: gone.signal }));
 *   await pipeline(answer, response).catch(() => undefined); // a failure breaks the response off
 * });
 * console.log(server.listening); // false
 * ```
 */
export async function* textStream(
  events: AsyncIterable<AgentEvent>,
): AsyncGenerator<string, void, undefined> {
  if (typeof events?.[Symbol.asyncIterator] !== "function") {
    throw invalidArgument("events", "the events of streamChat, streamRetry or streamResume", events);
  }
  for await (const event of events) if (event.type === "text") yield event.text;
}

/** An asynchronous queue of events: one producer, one consumer, in order and without loss. */
class EventQueue<T> {
  #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  readonly push = (event: T): void => {
    this.#waiting.push(event);
    this.#wake?.();
  };

  get isEnded(): boolean {
    return this.#ended;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** All events that have arrived, waiting for at least one; `undefined` once the queue has ended. */
  async take(): Promise<T[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}

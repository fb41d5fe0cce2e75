import type { AgentEvent } from "../events.js";
import { linkedController } from "../toolkit/abort.js";
import { EventQueue } from "./eventQueue.js";

interface StreamedExchange {
  /** Called when the first event is requested: checks the arguments and returns the signal that stops the exchange. */
  open(): AbortSignal | undefined;
  start(signal: AbortSignal, emit: (event: AgentEvent) => void): Promise<unknown>;
  /** Gets the events that come after the stream has ended. */
  onLate(event: AgentEvent): void;
}

/**
 * The events of an exchange as they happen; nothing happens before the first one is asked for. Throws what the exchange
 * rejects with; leaving the loop early aborts it.
 */
export async function* streamEvents({
  open,
  start,
  onLate,
}: StreamedExchange): AsyncGenerator<AgentEvent, void, undefined> {
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

import type { AgentEvent } from "../events.js";
import { linkedController } from "../toolkit/abort.js";
import { EventQueue } from "./eventQueue.js";

/** Starts the work whose events are streamed. */
type Start = (signal: AbortSignal, emit: (event: AgentEvent) => void) => Promise<unknown>;

/**
 * The events of an exchange as they happen. Throws what the exchange rejects with; leaving the loop early aborts it.
 * What comes after the stream has ended goes to `onLate`.
 */
export async function* streamEvents(
  start: Start,
  signal: AbortSignal | undefined,
  onLate: (event: AgentEvent) => void,
): AsyncGenerator<AgentEvent, void, undefined> {
  const queue = new EventQueue<AgentEvent>();
  const { controller, release } = linkedController(signal);
  const answer = start(controller.signal, (event) => {
    if (queue.isEnded) onLate(event);
    else queue.push(event);
  });
  // Rejections are thrown where the answer is awaited below; this keeps Node from calling them unhandled.
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

import type { ChatEvent } from "../events.js";

/** The server sends something at least every 15 seconds: a connection that is silent for longer is dead. */
const SILENT_MS = 45_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

export interface Connection {
  /** Sends the request for the events. */
  readonly request: (signal: AbortSignal) => Promise<Response>;
  readonly onEvent: (event: ChatEvent) => void;
  /** Called when the connection was lost. It is reopened after a delay, which grows with every failure. */
  readonly onLost: () => void;
  /** Called when the server refused the request. It is not sent again. */
  readonly onRefused: (response: Response) => Promise<void>;
}

/**
 * Follows server-sent events with `fetch`, which unlike an EventSource can send headers and reports why a request was
 * refused. Returns a function that stops it.
 */
export function followEvents({ request, onEvent, onLost, onRefused }: Connection): () => void {
  const closed = new AbortController();
  let delay = FIRST_DELAY_MS;
  const connect = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        const attempt = new AbortController();
        const end = (): void => attempt.abort();
        closed.signal.addEventListener("abort", end, { once: true });
        let silence = setTimeout(end, SILENT_MS);
        try {
          const response = await request(attempt.signal);
          // The status of a server that is overloaded or restarting.
          if (!response.ok && response.status < 500 && response.status !== 408 && response.status !== 429) {
            if (!closed.signal.aborted) await onRefused(response);
            return;
          }
          if (response.ok && response.body) {
            for await (const event of eventsOf(response.body, () => {
              clearTimeout(silence);
              silence = setTimeout(end, SILENT_MS);
            })) {
              if (closed.signal.aborted) return;
              delay = FIRST_DELAY_MS;
              onEvent(event);
            }
          }
        } finally {
          clearTimeout(silence);
          closed.signal.removeEventListener("abort", end);
          attempt.abort();
        }
      } catch {
        // The network failed, or this side ended the connection.
      }
      if (closed.signal.aborted) return;
      onLost();
      await pause(delay * (0.5 + Math.random()), closed.signal);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  };
  void connect();
  return () => closed.abort();
}

/** The events of a stream. `onBytes` is called whenever data arrives, including keep-alive comments. */
async function* eventsOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<ChatEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      text += decoder.decode(value, { stream: true });
      const records = text.split("\n\n");
      text = records.pop() ?? "";
      for (const record of records) {
        if (record.startsWith("data: ")) yield JSON.parse(record.slice("data: ".length)) as ChatEvent;
      }
    }
  } finally {
    // Safari cannot iterate over a stream, so it is read and released by hand.
    reader.cancel().catch(() => undefined);
  }
}

/** Resolves after a delay, or when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      // A page reconnects any number of times with the same signal.
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

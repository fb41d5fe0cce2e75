import type { ChatEvent } from "../events.js";
import type { LiveChat } from "./liveChat.js";

/** Proxies close a connection that says nothing; a comment now and then keeps it open. */
const HEARTBEAT_MS = 15_000;
/** A page that falls behind this far is disconnected: it connects again and is sent the state instead. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The chat as server-sent events: its state, then what happens. `onEnd` is called when the reader has gone. */
export function eventStream(chat: LiveChat, signal: AbortSignal, onEnd: () => void): Response {
  const encoder = new TextEncoder();
  let release = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): void => {
          if ((controller.desiredSize ?? 0) <= 0) leave();
          else controller.enqueue(encoder.encode(text));
        };
        const leave = (): void => {
          release();
          controller.close();
        };
        const unfollow = chat.follow({ event: (event) => send(toData(event)), end: leave });
        const heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS);
        release = () => {
          release = () => undefined;
          clearInterval(heartbeat);
          unfollow();
          onEnd();
          signal.removeEventListener("abort", leave);
        };
        // The reader may have left while the conversation was opened.
        if (signal.aborted) return leave();
        signal.addEventListener("abort", leave, { once: true });
        send(toData({ type: "snapshot", state: chat.state }));
      },
      cancel: () => release(),
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      // nginx and others hold back what they proxy unless told not to.
      "x-accel-buffering": "no",
    },
  });
}

function toData(event: ChatEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

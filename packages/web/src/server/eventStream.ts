import type { ChatEvent } from "../events.js";
import type { LiveChat } from "./liveChat.js";

/** Proxies close a silent connection; a comment at this interval keeps it open. */
const HEARTBEAT_MS = 15_000;
/** A page with more unread bytes than this is disconnected: it reconnects and gets the state instead of the events. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The chat as server-sent events: its state, then each event. `onEnd` is called when the reader has disconnected. */
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
        // The reader may have disconnected while the conversation was opened.
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
      // nginx and other proxies buffer responses unless this header says no.
      "x-accel-buffering": "no",
    },
  });
}

function toData(event: ChatEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

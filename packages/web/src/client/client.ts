import type { ApprovalDecision, Content } from "@agent/core";
import type { ChatAction, ChatEvent } from "../events.js";
import { type ChatState, EMPTY_CHAT } from "../state/chatState.js";
import { reduceChat } from "../state/reduce.js";

export interface ChatClientOptions {
  /** Where the handler pair is mounted: `/api/chat?session=42`. */
  readonly url: string;
  /** Headers of every action, such as a token. The event stream is authorised by cookies or by `url`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChatClientState extends ChatState {
  /** `lost` while the browser reconnects by itself; `refused` if the server refused the request. */
  readonly connection: "connecting" | "open" | "lost" | "refused";
}

/** A conversation as a store for a page: connects with its first subscriber, disconnects after its last has left. */
export interface ChatClient {
  getState(): ChatClientState;
  /** Calls `listener` after every change until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** Sends a message, or adds to the one being answered. Rejects with the server's reason. */
  send(content: Content): Promise<void>;
  decide(id: string, decision: ApprovalDecision): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Makes a client of the handler pair at `url`.
 *
 * @example
 * ```ts
 * import { createChatClient } from "@agent/web";
 *
 * const chat = createChatClient({ url: "/api/chat" });
 * export const leave = chat.subscribe(() => console.log(chat.getState().messages));
 * export const ask = (question: string) => chat.send(question);
 * ```
 */
export function createChatClient({ url, headers = {} }: ChatClientOptions): ChatClient {
  const listeners = new Set<() => void>();
  let state: ChatClientState = { ...EMPTY_CHAT, connection: "connecting" };
  let source: EventSource | undefined;

  const change = (next: ChatClientState): void => {
    state = next;
    for (const listener of listeners) listener();
  };
  const connect = (): void => {
    source = new EventSource(url, { withCredentials: true });
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as ChatEvent;
      change({ ...reduceChat(state, event), connection: "open" });
    });
    source.addEventListener("error", () => {
      const connection = source?.readyState === EventSource.CLOSED ? "refused" : "lost";
      change({ ...state, connection });
    });
  };
  const post = async (action: ChatAction): Promise<void> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      credentials: "same-origin",
      body: JSON.stringify(action),
    });
    if (response.ok) return;
    const body = (await response.json().catch(() => ({}))) as { error?: string };
    throw new Error(body.error ?? `The server answered ${response.status} ${response.statusText}.`);
  };

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      if (!source) connect();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        source?.close();
        source = undefined;
      };
    },
    send: (content) => post({ type: "send", content }),
    decide: (id, decision) => post({ type: "decide", id, decision }),
    stop: () => post({ type: "stop" }),
  };
}

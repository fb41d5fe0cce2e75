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

/**
 * A conversation as a store for a page: connects with its first subscriber, disconnects after its last has left. Actions
 * never reject: they resolve to whether the server accepted them, and the reason of a refusal is `error` of the state.
 */
export interface ChatClient {
  getState(): ChatClientState;
  /** Calls `listener` after every change until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** Sends a message, or adds to the one being answered. */
  send(content: Content): Promise<boolean>;
  decide(id: string, decision: ApprovalDecision): Promise<boolean>;
  /** Answers the newest message again. */
  regenerate(): Promise<boolean>;
  stop(): Promise<boolean>;
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
  let chat: ChatState = EMPTY_CHAT;
  let connection: ChatClientState["connection"] = "connecting";
  let refusal: string | undefined;
  let state: ChatClientState = { ...chat, connection };
  let source: EventSource | undefined;

  const changed = (): void => {
    state = { ...chat, connection, ...(refusal !== undefined && { error: refusal }) };
    for (const listener of listeners) listener();
  };
  const connect = (): void => {
    const opened = new EventSource(url, { withCredentials: true });
    source = opened;
    opened.addEventListener("message", ({ data }: MessageEvent<string>) => {
      if (connection !== "open") refusal = undefined;
      connection = "open";
      chat = reduceChat(chat, JSON.parse(data) as ChatEvent);
      changed();
    });
    opened.addEventListener("error", async () => {
      connection = opened.readyState === EventSource.CLOSED ? "refused" : "lost";
      changed();
      if (connection !== "refused") return;
      // An EventSource does not tell why. Ask once more, for the reason alone.
      const reason = await refusalOf(url, { headers: { ...headers, accept: "text/event-stream" } });
      if (source !== opened) return;
      refusal = reason ?? "The server ended the connection. Load the page again.";
      changed();
    });
  };
  const post = async (action: ChatAction): Promise<boolean> => {
    refusal = await refusalOf(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(action),
    });
    changed();
    return refusal === undefined;
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
    regenerate: () => post({ type: "regenerate" }),
    stop: () => post({ type: "stop" }),
  };
}

/** Why the server does not answer a request as wanted; `undefined` if it does. Does not read the answer to its end. */
async function refusalOf(url: string, init: RequestInit): Promise<string | undefined> {
  try {
    const response = await fetch(url, { ...init, credentials: "same-origin" });
    if (response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    return error ?? `The server answered ${response.status} ${response.statusText}.`.replace(" .", ".");
  } catch {
    return "The server cannot be reached.";
  }
}

import type { ApprovalDecision, Content, UserAnswer } from "@agent/core";
import type { ChatAction } from "../events.js";
import { type ChatState, EMPTY_CHAT } from "../state/chatState.js";
import { reduceChat } from "../state/reduce.js";
import { followEvents } from "./eventStream.js";

type Headers = Readonly<Record<string, string>>;

export interface ChatClientOptions {
  /** The URL of the handler pair: `/api/chat?session=42`. */
  readonly url: string;
  /**
   * Headers of every request, such as a bearer token, or a function that returns them: it is called for each request.
   */
  readonly headers?: Headers | (() => Headers | Promise<Headers>);
  /** Whether cookies are sent: `include` also sends them to a server of another origin. Default `same-origin`. */
  readonly credentials?: "omit" | "same-origin" | "include";
}

export interface ChatClientState extends ChatState {
  /** `lost` while the client reconnects; `refused` if the server refused the request. */
  readonly connection: "connecting" | "open" | "lost" | "refused";
}

/**
 * A conversation as a store for a page: connects with its first subscriber, disconnects after its last has
 * unsubscribed. Actions never reject: they resolve to whether the server accepted them, and the reason of a refusal is
 * `error` of the state.
 */
export interface ChatClient {
  getState(): ChatClientState;
  /** Calls `listener` after every change until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /**
   * Sends a message, or steers the current answer. With `replaces`, the id of an earlier user message, it replaces that
   * message and all after it.
   */
  send(content: Content, options?: { readonly replaces?: string }): Promise<boolean>;
  decide(id: string, decision: ApprovalDecision): Promise<boolean>;
  /**
   * Answers a question of the state: `{ answer: "yes", values }` with a value for each field, or `{ answer: "no" }`.
   */
  answer(id: string, answer: UserAnswer): Promise<boolean>;
  /** Answers the user message with this id again, or the newest. Messages after it are removed. */
  regenerate(id?: string): Promise<boolean>;
  stop(): Promise<boolean>;
}

/**
 * Creates a client of the handler pair at `url`.
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
export function createChatClient(options: ChatClientOptions): ChatClient {
  const { url, headers = {}, credentials = "same-origin" } = options;
  const listeners = new Set<() => void>();
  let chat: ChatState = EMPTY_CHAT;
  let connection: ChatClientState["connection"] = "connecting";
  let refusal: string | undefined;
  /** The name of the conversation that is shown. */
  let shown: string | undefined;
  let state: ChatClientState = { ...chat, connection };
  let disconnect: (() => void) | undefined;

  const changed = (): void => {
    state = { ...chat, connection, ...(refusal !== undefined && { error: refusal }) };
    for (const listener of listeners) listener();
  };
  const request = async (init: RequestInit & { readonly headers: Headers }): Promise<Response> => {
    const own = typeof headers === "function" ? await headers() : headers;
    return await fetch(url, {
      credentials,
      cache: "no-store",
      ...init,
      headers: { ...own, ...init.headers },
    });
  };
  const connect = (): (() => void) =>
    followEvents({
      request: (signal) => request({ headers: { accept: "text/event-stream" }, signal }),
      onEvent(event) {
        // What was refused is over once a message is answered, maybe one of another tab.
        if (connection !== "open" || event.type === "sent") refusal = undefined;
        connection = "open";
        if (event.type === "snapshot" && event.chat !== undefined) shown = event.chat;
        chat = reduceChat(chat, event);
        changed();
      },
      onLost() {
        connection = "lost";
        changed();
      },
      async onRefused(response) {
        const reason = await reasonOf(response);
        connection = "refused";
        refusal = reason;
        changed();
      },
    });
  const reconnect = (): void => {
    disconnect?.();
    shown = undefined;
    connection = "connecting";
    disconnect = connect();
  };
  const post = async (action: ChatAction): Promise<boolean> => {
    try {
      const response = await request({
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(action),
      });
      refusal = response.ok ? undefined : await reasonOf(response);
      if (response.ok) {
        const { chat: reached = shown }: { chat?: string } = await response.json().catch(() => ({}));
        // After a login, here or in another tab, the page would not show what it has sent.
        const isOther = shown !== undefined && reached !== shown;
        if (disconnect && (isOther || connection === "refused")) reconnect();
      }
    } catch {
      refusal = "The server cannot be reached.";
    }
    changed();
    return refusal === undefined;
  };

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      disconnect ??= connect();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        disconnect?.();
        disconnect = undefined;
      };
    },
    send: (content, { replaces } = {}) =>
      post({ type: "send", content, ...(replaces !== undefined && { replaces }) }),
    decide: (id, decision) => post({ type: "decide", id, decision }),
    answer: (id, answer) => post({ type: "answer", id, answer }),
    regenerate: (id) => post({ type: "regenerate", ...(id !== undefined && { id }) }),
    stop: () => post({ type: "stop" }),
  };
}

/** Why the server refused a request. */
async function reasonOf(response: Response): Promise<string> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: string };
  return error ?? `The server answered ${response.status} ${response.statusText}.`.replace(" .", ".");
}

import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { type ChatClient, type ChatClientOptions, type ChatClientState, createChatClient } from "./client.js";

export interface UseChat
  extends ChatClientState,
    Pick<ChatClient, "send" | "decide" | "answer" | "regenerate" | "stop"> {}

/**
 * A conversation as React state. Connects while the component is mounted. Every request has the `headers` of the newest
 * render, so they may come from other state.
 *
 * @example
 * ```ts
 * import { useChat } from "@agent/web/react";
 *
 * export function useMessages() {
 *   const { messages, send } = useChat({ url: "/api/chat" });
 *   return { messages, send };
 * }
 * ```
 */
export function useChat(options: ChatClientOptions): UseChat {
  const { url, credentials } = options;
  const newest = useRef(options);
  // Before the effect of useSyncExternalStore, which connects.
  useEffect(() => {
    newest.current = options;
  });
  const client = useMemo(() => {
    const headers = async () => {
      const { headers: own = {} } = newest.current;
      return typeof own === "function" ? await own() : own;
    };
    return createChatClient({ url, headers, ...(credentials && { credentials }) });
  }, [url, credentials]);
  const state = useSyncExternalStore(client.subscribe, client.getState, client.getState);
  return {
    ...state,
    send: client.send,
    decide: client.decide,
    answer: client.answer,
    regenerate: client.regenerate,
    stop: client.stop,
  };
}

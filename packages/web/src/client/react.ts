import { useMemo, useSyncExternalStore } from "react";
import { type ChatClient, type ChatClientOptions, type ChatClientState, createChatClient } from "./client.js";

export interface UseChat
  extends ChatClientState,
    Pick<ChatClient, "send" | "decide" | "answer" | "regenerate" | "stop"> {}

/**
 * A conversation as React state. Connects while the component is mounted; `headers` are those of the first render.
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
  const { url } = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an object literal in `headers` would connect anew with every render.
  const client = useMemo(() => createChatClient(options), [url]);
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

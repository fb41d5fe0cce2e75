import type { ChatProvider, ChatResponse, ChatTool, ProviderRetry } from "@agent/core";

export type Mode = "JSON" | "streaming";
export const MODES: readonly Mode[] = ["JSON", "streaming"];

/** Everything one request told. */
export interface Asked {
  readonly response: ChatResponse;
  /** The streamed text, without what a retry made void. */
  readonly text: string;
  readonly retries: readonly ProviderRetry[];
}

/** Sends one user message. */
export async function askProvider(
  provider: ChatProvider,
  mode: Mode,
  {
    signal = new AbortController().signal,
    tools = [],
  }: { signal?: AbortSignal; tools?: readonly ChatTool[] } = {},
): Promise<Asked> {
  const retries: ProviderRetry[] = [];
  let text = "";
  const response = await provider.respond({
    messages: [{ role: "user", content: "hello" }],
    tools,
    signal,
    onRetry: (retry) => {
      retries.push(retry);
      text = "";
    },
    ...(mode === "streaming" && {
      onText: (piece: string) => {
        text += piece;
      },
    }),
  });
  return { response, text, retries };
}

export type Mode = "JSON" | "streaming";
export const MODES: readonly Mode[] = ["JSON", "streaming"];

/** A chat provider, typed structurally: this package depends on no other, so that the tests of core can use it. */
interface Provider<Response, Retry> {
  respond(request: {
    readonly messages: readonly { readonly role: "user"; readonly content: string }[];
    // biome-ignore lint/suspicious/noExplicitAny: the tools of any copy of core.
    readonly tools: readonly any[];
    readonly signal: AbortSignal;
    readonly onRetry?: (retry: Retry) => void;
    readonly onText?: (text: string) => void;
  }): Promise<Response>;
}

/** Everything that one request reported. */
export interface Asked<Response, Retry> {
  readonly response: Response;
  /** The streamed text, without text that a retry discarded. */
  readonly text: string;
  readonly retries: readonly Retry[];
}

/** Sends one user message. */
export async function askProvider<Response, Retry>(
  provider: Provider<Response, Retry>,
  mode: Mode,
  {
    signal = new AbortController().signal,
    tools = [],
  }: { signal?: AbortSignal; tools?: readonly object[] } = {},
): Promise<Asked<Response, Retry>> {
  const retries: Retry[] = [];
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

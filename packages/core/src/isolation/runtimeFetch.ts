import type { Frame, Message } from "./protocol.js";

const EMPTY = [101, 204, 205, 304];

type Ask = (
  method: string,
  params: unknown,
  options: { raw?: Uint8Array | undefined; signal?: AbortSignal; onLate?(frame: Frame): void },
) => Promise<Frame>;

interface Found {
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  readonly url: string;
  readonly redirected: boolean;
  readonly stream: number;
}

/** `fetch` through the host, for a process without a network. */
export function createFetch(ask: Ask, send: (message: Message) => void): typeof fetch {
  const end = (stream: number): void => send({ method: "fetch/end", params: { stream } });
  const endOf = ({ message }: Frame): void => end((message.result as Found).stream);
  // The body of a response that the pack never reads would stay open in the host.
  const abandoned = new FinalizationRegistry<number>(end);
  return async (input, init) => {
    const wanted = new Request(input, init);
    const { signal } = wanted;
    signal.throwIfAborted();
    const raw = wanted.body === null ? undefined : new Uint8Array(await wanted.arrayBuffer());
    const { url, method, headers, redirect } = wanted;
    const params = { url, method, headers: [...headers], redirect };
    let found: Found;
    try {
      const { message } = await ask("fetch", params, { raw, signal, onLate: endOf });
      found = message.result as Found;
    } catch (error) {
      if (signal.aborted) throw error;
      throw new TypeError(`fetch failed: ${(error as Error).message}`, { cause: error });
    }
    const { status, statusText, stream } = found;
    const isEmpty = EMPTY.includes(status);
    if (isEmpty) end(stream);
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const chunk = await ask("fetch/read", { stream }, { signal });
          if (chunk.raw === undefined) controller.close();
          else controller.enqueue(new Uint8Array(chunk.raw));
        } catch (error) {
          end(stream);
          controller.error(error);
        }
      },
      cancel: () => end(stream),
    });
    if (!isEmpty) abandoned.register(body, stream);
    const response = new Response(isEmpty ? null : body, { status, statusText, headers: found.headers });
    Object.defineProperties(response, { url: { value: found.url }, redirected: { value: found.redirected } });
    return response;
  };
}

/** Rejects with the reason of the signal once it aborts, as `fetch` does. `orAborted` of the toolkit rejects with its own error. */
export async function orAbortReason<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

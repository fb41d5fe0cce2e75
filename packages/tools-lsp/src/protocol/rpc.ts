import { errorMessage, isRecord, onAbort } from "@agent/core/toolkit";

const METHOD_NOT_FOUND = -32601;

export interface RpcHandlers {
  readonly send: (message: object) => void;
  readonly onNotification: (method: string, params: unknown) => void;
  /** Answers a request of the server; `undefined` if there is no such method. */
  readonly onRequest: (method: string, params: unknown) => { readonly result: unknown } | undefined;
}

/** An error that the server answered with. */
export class ServerError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A JSON-RPC 2.0 client: requests, notifications, cancellation. */
export class RpcClient {
  readonly #handlers: RpcHandlers;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(handlers: RpcHandlers) {
    this.#handlers = handlers;
  }

  /** Whether a request waits for its answer. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Rejects when the server answers with an error, when the connection closes, and when `signal` aborts. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(this.#closed);
      if (signal?.aborted) return reject(signal.reason);
      const id = ++this.#lastId;
      const release = onAbort(signal, () => {
        if (!this.#pending.delete(id)) return;
        this.notify("$/cancelRequest", { id });
        reject(signal?.reason);
      });
      const settle =
        <T>(end: (value: T) => void) =>
        (value: T): void => {
          release();
          end(value);
        };
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.#handlers.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    if (!this.#closed) this.#handlers.send({ jsonrpc: "2.0", method, params });
  }

  receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      // The request of this answer ends at its time limit.
      return;
    }
    if (!isRecord(message)) return;
    const { id, method, params } = message;
    if (typeof method !== "string") {
      this.#settle(id, message);
      return;
    }
    if (id === undefined || id === null) {
      this.#handlers.onNotification(method, params);
      return;
    }
    const answer = this.#handlers.onRequest(method, params);
    const error = { code: METHOD_NOT_FOUND, message: `There is no method ${method}.` };
    this.#handlers.send({ jsonrpc: "2.0", id, ...(answer ?? { error }) });
  }

  /** Rejects all pending requests. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of [...this.#pending.values()]) reject(reason);
    this.#pending.clear();
  }

  #settle(id: unknown, { result, error }: Readonly<Record<string, unknown>>): void {
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!pending) return;
    this.#pending.delete(id as number);
    if (error === undefined || error === null) {
      pending.resolve(result);
      return;
    }
    const { code, message } = isRecord(error) ? error : {};
    pending.reject(
      new ServerError(typeof code === "number" ? code : 0, errorMessage(String(message)).slice(0, 2000)),
    );
  }
}

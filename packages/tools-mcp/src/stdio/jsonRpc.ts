import { errorMessage, isRecord, onAbort } from "@agent/core/toolkit";
import type { Progress, RequestOptions } from "../connection/protocolClient.js";

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Handles messages that the other side sends on its own initiative. */
export interface PeerHandlers {
  /** Answers a request; `undefined`: there is no such method. */
  readonly onRequest: (
    method: string,
    params: unknown,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, unknown>>> | undefined;
  readonly onNotification: (method: string) => void;
  /** Called for an answer to a request that was never sent. A late or second answer does not count. */
  readonly onForeignAnswer: (id: string, problem: string) => void;
}

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: RequestOptions["onProgress"];
}

/** One end of a JSON-RPC 2.0 connection: requests in both directions, their progress and their cancellation. */
export class JsonRpcPeer {
  readonly #send: (message: Readonly<Record<string, unknown>>) => void;
  readonly #handlers: PeerHandlers;
  readonly #pending = new Map<number, PendingRequest>();
  /** Requests of the other side that are being answered. */
  readonly #answering = new Map<unknown, AbortController>();
  /** Ids count up: every id up to this one was sent. */
  #lastId = 0;

  /** `send` writes one message; if it throws, the request rejects with that error. */
  constructor(send: (message: Readonly<Record<string, unknown>>) => void, handlers: PeerHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { signal, onProgress }: RequestOptions,
  ): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const release = onAbort(signal, () => {
        if (!this.#pending.delete(id)) return;
        reject(signal?.reason);
        this.notify("notifications/cancelled", { requestId: id, reason: errorMessage(signal?.reason) });
      });
      this.#pending.set(id, {
        resolve: (result) => {
          release();
          resolve(result);
        },
        reject: (error) => {
          release();
          reject(error);
        },
        onProgress,
      });
      const meta = onProgress && {
        _meta: { ...(isRecord(params._meta) && params._meta), progressToken: id },
      };
      try {
        this.#send({ jsonrpc: "2.0", id, method, params: { ...params, ...meta } });
      } catch (error) {
        this.#take(id)?.reject(error instanceof Error ? error : new Error(errorMessage(error)));
      }
    });
  }

  /** Sends a notification. A lost connection is detected elsewhere. */
  notify(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.#try({ jsonrpc: "2.0", method, params });
  }

  /** Handles one message of the other side. */
  receive(message: Readonly<Record<string, unknown>>): void {
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      if (id === undefined) this.#receiveNotification(method, isRecord(params) ? params : {});
      else void this.#answer(id, method, params);
    } else if (result !== undefined || error !== undefined) {
      this.#receiveAnswer(id, result, error);
    }
  }

  /** Rejects everything in progress. */
  close(reason: Error): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    for (const controller of this.#answering.values()) controller.abort(reason);
  }

  #receiveNotification(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === "notifications/progress") {
      const progress = toProgress(params);
      // Some servers send the token back as a string.
      if (progress) this.#pending.get(Number(params.progressToken))?.onProgress?.(progress);
    } else if (method === "notifications/cancelled") {
      this.#answering.get(params.requestId)?.abort(new Error("the server withdrew its request"));
    } else {
      this.#handlers.onNotification(method);
    }
  }

  #receiveAnswer(id: unknown, result: unknown, error: unknown): void {
    const { code, message } = isRecord(error) ? error : {};
    // Some servers send the id back as a string.
    const number = typeof id === "string" || typeof id === "number" ? Number(id) : Number.NaN;
    if (!Number.isInteger(number) || number < 1 || number > this.#lastId) {
      this.#handlers.onForeignAnswer(String(id), error === undefined ? "" : String(message));
      return;
    }
    const pending = this.#take(number);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(`${String(message)} (MCP error ${String(code)})`));
  }

  #take(id: number): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  async #answer(id: unknown, method: string, params: unknown): Promise<void> {
    const controller = new AbortController();
    this.#answering.set(id, controller);
    try {
      const result = await this.#handlers.onRequest(method, params, controller.signal);
      if (controller.signal.aborted) return;
      if (result !== undefined) this.#try({ jsonrpc: "2.0", id, result });
      else this.#try(errorAnswer(id, METHOD_NOT_FOUND, `There is no method ${method}.`));
    } catch (error) {
      if (!controller.signal.aborted) this.#try(errorAnswer(id, INTERNAL_ERROR, errorMessage(error)));
    } finally {
      this.#answering.delete(id);
    }
  }

  #try(message: Readonly<Record<string, unknown>>): void {
    try {
      this.#send(message);
    } catch {
      // The connection has ended, and `close` rejects all pending requests.
    }
  }
}

function errorAnswer(id: unknown, code: number, message: string): Record<string, unknown> {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function toProgress({ progress, total, message }: Readonly<Record<string, unknown>>): Progress | undefined {
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}

import { isRecord } from "@agent/core/toolkit";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** A program that serves sessions over its own stream. */
export interface WorkerProcess {
  readonly stream: Stream;
  /** Resolves when the program has exited, with or without an error. */
  readonly ended: Promise<unknown>;
  /** Kills the program, if it does not exit after its stream was closed. */
  kill(): void;
}

export interface PendingRequest {
  readonly method: string;
  readonly sessionId: unknown;
}

/** One program of the router, with its unanswered requests. */
export class Worker {
  readonly process: WorkerProcess;
  /** Requests of the editor, by their id. */
  readonly pending = new Map<unknown, PendingRequest>();
  readonly sessions = new Set<string>();
  readonly #writer: WritableStreamDefaultWriter<AnyMessage>;

  constructor(process: WorkerProcess) {
    this.process = process;
    this.#writer = process.stream.writable.getWriter();
  }

  send(message: AnyMessage): void {
    if ("method" in message && "id" in message) {
      const { sessionId } = isRecord(message.params) ? message.params : {};
      this.pending.set(message.id, { method: message.method, sessionId });
    }
    this.#writer.write(message).catch(() => undefined);
  }

  /** Passes every message of the program to `receive`, until its output ends. */
  async listen(receive: (message: AnyMessage) => void): Promise<void> {
    const reader = this.process.stream.readable.getReader();
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) receive(read.value);
    } catch {
      // The output ended in the middle of a message: the program has exited.
    }
  }

  /** Closes the program's input: there will be no more requests. */
  close(): void {
    this.#writer.close().catch(() => undefined);
  }
}

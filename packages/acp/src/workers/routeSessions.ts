import { randomUUID } from "node:crypto";
import { isRecord } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import { type AnyMessage, methods, type Stream } from "@agentclientprotocol/sdk";
import { FORK_SESSION } from "../openParams.js";
import { failure } from "../requestErrors.js";
import { type PendingRequest, Worker, type WorkerProcess } from "./worker.js";

const OPENING: readonly string[] = [
  methods.agent.session.new,
  methods.agent.session.load,
  methods.agent.session.resume,
  FORK_SESSION,
];
const END_MS = 5000;

/**
 * Serves one editor with a process for each session, because sessions in one process would share its working directory
 * and environment. The first process serves the first session and all requests without a session; each further session
 * starts another process. Resolves when the editor has disconnected and all processes have exited.
 */
export async function routeSessions(
  editor: Stream,
  first: WorkerProcess,
  start: () => WorkerProcess,
): Promise<void> {
  await new Router(editor, first, start).run();
}

class Router {
  readonly #editor: Stream;
  readonly #output: WritableStreamDefaultWriter<AnyMessage>;
  readonly #start: () => WorkerProcess;
  readonly #first: Worker;
  readonly #workers = new Map<Worker, Promise<void>>();
  readonly #asked = new RequestIds<Worker>();
  /**
   * The id of the router's own first request to a program. Random, so that it does not collide with an id of the
   * editor.
   */
  readonly #hello = randomUUID();
  #initialize: unknown = { protocolVersion: 1 };
  #isFirstTaken = false;
  #isOver = false;

  constructor(editor: Stream, first: WorkerProcess, start: () => WorkerProcess) {
    this.#editor = editor;
    this.#output = editor.writable.getWriter();
    this.#start = start;
    this.#first = this.#add(first);
  }

  async run(): Promise<void> {
    const reader = this.#editor.readable.getReader();
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) this.#route(read.value);
    } catch {
      // The editor sent a message that is too long, or only part of one: treat it as disconnected.
    }
    this.#isOver = true;
    for (const worker of this.#workers.keys()) worker.close();
    const ended = Promise.all(this.#workers.values());
    await withTimeout<unknown>(ended, END_MS, () => undefined);
    for (const worker of this.#workers.keys()) worker.process.kill();
    await ended;
  }

  #route(message: AnyMessage): void {
    if (!("method" in message)) {
      const answer = "id" in message ? this.#asked.incoming(message) : undefined;
      // Invalid input goes to the first program, which refuses it.
      if (answer) answer.owner.send(answer.message);
      else if (!("id" in message)) this.#first.send(message);
      return;
    }
    const params = isRecord(message.params) ? message.params : {};
    if (message.method === methods.agent.initialize) this.#initialize = message.params;
    if (message.method === methods.protocol.cancelRequest) {
      this.#workerWaitingFor(params.requestId)?.send(message);
      return;
    }
    if (OPENING.includes(message.method) && "id" in message) this.#open(message, params.sessionId);
    else this.#workerOf(params.sessionId).send(message);
  }

  /** The first session is opened in the first program, each further one in a new program; an open one in its own. */
  #open(message: AnyMessage, sessionId: unknown): void {
    const holder = this.#workerOf(sessionId);
    const isOpen = typeof sessionId === "string" && holder.sessions.has(sessionId);
    // A copy is another session than the open one.
    if ((isOpen && !("method" in message && message.method === FORK_SESSION)) || !this.#isFirstTaken) {
      if (holder === this.#first) this.#isFirstTaken = true;
      holder.send(message);
      return;
    }
    try {
      const worker = this.#add(this.#start());
      worker.send({
        jsonrpc: "2.0",
        id: this.#hello,
        method: methods.agent.initialize,
        params: this.#initialize,
      });
      worker.send(message);
    } catch (error) {
      this.#fail("id" in message ? message.id : null, `no program could be started: ${String(error)}`);
    }
  }

  #add(process: WorkerProcess): Worker {
    const worker = new Worker(process);
    const ended = worker
      .listen((message) => this.#receive(worker, message))
      .then(() => process.ended.catch(() => undefined))
      .then(() => this.#ended(worker));
    this.#workers.set(worker, ended);
    return worker;
  }

  #receive(worker: Worker, message: AnyMessage): void {
    if ("method" in message) {
      if ("id" in message) this.#send(this.#asked.outgoing(worker, message));
      else this.#send(this.#renumbered(worker, message));
      return;
    }
    if (message.id === this.#hello) {
      worker.pending.delete(this.#hello);
      return;
    }
    const request = worker.pending.get(message.id);
    worker.pending.delete(message.id);
    if (request) noteSessions(worker, request, message);
    this.#send(message);
    const isIdle = worker.sessions.size === 0 && worker.pending.size === 0;
    if (isIdle && worker !== this.#first) worker.close();
  }

  /** Translates the request id in a cancellation to the one that the editor knows. */
  #renumbered(worker: Worker, message: AnyMessage): AnyMessage {
    if (!("method" in message) || message.method !== methods.protocol.cancelRequest) return message;
    const params = isRecord(message.params) ? message.params : {};
    const requestId = this.#asked.find(worker, params.requestId);
    return requestId === undefined
      ? message
      : ({ ...message, params: { ...params, requestId } } as AnyMessage);
  }

  #ended(worker: Worker): void {
    this.#workers.delete(worker);
    this.#asked.forget(worker);
    if (this.#isOver) return;
    for (const id of worker.pending.keys()) {
      if (id !== this.#hello) this.#fail(id, "the program of this session has ended");
    }
  }

  #workerOf(sessionId: unknown): Worker {
    if (typeof sessionId !== "string") return this.#first;
    for (const worker of this.#workers.keys()) if (worker.sessions.has(sessionId)) return worker;
    return this.#first;
  }

  #workerWaitingFor(requestId: unknown): Worker | undefined {
    for (const worker of this.#workers.keys()) if (worker.pending.has(requestId)) return worker;
    return undefined;
  }

  #fail(id: unknown, reason: string): void {
    const { code, message } = failure(new Error(reason));
    this.#send({ jsonrpc: "2.0", id, error: { code, message } } as AnyMessage);
  }

  #send(message: AnyMessage): void {
    this.#output.write(message).catch(() => undefined);
  }
}

/** Remembers which sessions a program serves, from its responses. */
function noteSessions(
  { sessions }: Worker,
  { method, sessionId }: PendingRequest,
  message: AnyMessage,
): void {
  if (!("result" in message)) return;
  const { close, delete: remove } = methods.agent.session;
  if (method === close || method === remove) sessions.delete(String(sessionId));
  if (!OPENING.includes(method)) return;
  const created = isRecord(message.result) ? message.result.sessionId : undefined;
  sessions.add(String(created ?? sessionId));
}

type Id = string | number | null;

/** Maps request ids: several programs count their requests from 0, and the editor needs unique ids. */
class RequestIds<Owner> {
  readonly #asked = new Map<string, { readonly owner: Owner; readonly id: Id }>();
  #count = 0;

  /** The owner's request with a new id that is unique for the editor. */
  outgoing(owner: Owner, message: AnyMessage & { readonly id: Id }): AnyMessage {
    const id = `r${++this.#count}`;
    this.#asked.set(id, { owner, id: message.id });
    return { ...message, id } as AnyMessage;
  }

  /** The editor's response with the id that its owner used; `undefined` for an unknown id. */
  incoming(message: AnyMessage & { readonly id: Id }): { owner: Owner; message: AnyMessage } | undefined {
    const asked = this.#asked.get(String(message.id));
    if (!asked) return undefined;
    this.#asked.delete(String(message.id));
    return { owner: asked.owner, message: { ...message, id: asked.id } as AnyMessage };
  }

  /** The editor's id of a request that its owner cancels. */
  find(owner: Owner, id: unknown): string | undefined {
    for (const [number, asked] of this.#asked) if (asked.owner === owner && asked.id === id) return number;
    return undefined;
  }

  forget(owner: Owner): void {
    for (const [number, asked] of this.#asked) if (asked.owner === owner) this.#asked.delete(number);
  }
}

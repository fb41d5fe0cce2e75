import { delay, isRecord, quote } from "@agent/core/toolkit";
import type {
  ClientEvents,
  ConnectRequest,
  ProtocolClient,
  RequestOptions,
} from "../connection/protocolClient.js";
import type { LockedTool } from "../lock/lock.js";
import { type OpenedEra, openEra, requestMeta } from "./eras.js";
import { JsonRpcPeer } from "./jsonRpc.js";
import type { StdioTransport } from "./transport.js";

// Without this limit a server that keeps asking would keep a call open for ever.
const MAX_ROUNDS = 10;
/** The pause between two rounds without a question: the server only asks for the request to be repeated later. */
const ROUND_MS = 250;
const ELICITATION = "elicitation/create";

/**
 * The client of a server on this machine. Own code: loading the official SDK takes longer than most servers take to
 * start, and a conversation over two pipes needs nothing else of it.
 */
export class StdioClient implements ProtocolClient {
  readonly era: OpenedEra["era"];
  readonly info: OpenedEra["info"];
  readonly capabilities: OpenedEra["capabilities"];
  readonly instructions: unknown;
  readonly #peer: JsonRpcPeer;
  readonly #events: ClientEvents;
  /** In every request of the new era; undefined in the older one. */
  readonly #meta: Readonly<Record<string, unknown>> | undefined;

  private constructor(peer: JsonRpcPeer, events: ClientEvents, opened: OpenedEra) {
    const { era, info, capabilities, instructions } = opened;
    this.#peer = peer;
    this.#events = events;
    this.era = era;
    this.info = info;
    this.capabilities = capabilities;
    this.instructions = instructions;
    this.#meta = era.kind === "modern" ? requestMeta(offered(events)) : undefined;
  }

  /** Speaks to the program of `transport`. Rejects if it ends before, or once `signal` aborts. */
  static async connect(
    transport: StdioTransport,
    { era, events }: ConnectRequest,
    signal: AbortSignal,
  ): Promise<StdioClient> {
    const peer = new JsonRpcPeer((message) => transport.send(message), {
      onRequest: (method, params, aborted) => answer(events, method, params, aborted),
      onNotification: (method) => {
        if (method === "notifications/tools/list_changed") events.onToolsChanged();
      },
      onForeignAnswer: (id, problem) => {
        const more = problem === "" ? "" : `: ${problem}`;
        void transport.end(`It answered a request that was never sent (id ${quote(id)})${more}.`);
      },
    });
    transport.listen(
      (message) => peer.receive(message),
      () => {
        peer.close(new Error(transport.reason || "the connection was closed"));
        events.onClose();
      },
    );
    const client = new StdioClient(peer, events, await openEra(peer, era, offered(events), signal));
    client.#listenForChanges();
    return client;
  }

  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown> {
    if (this.#meta === undefined) return await this.#peer.request(method, params, options);
    let result = await this.#peer.request(method, { ...params, _meta: this.#meta }, options);
    for (let round = 0; isRecord(result) && result.resultType === "input_required"; round++) {
      if (round === MAX_ROUNDS) throw new Error(`it still asks for more after ${MAX_ROUNDS} answers`);
      const input = await this.#answerQuestions(result, options.signal);
      result = await this.#peer.request(method, { ...params, ...input, _meta: this.#meta }, options);
    }
    return result;
  }

  async callTool(
    { tool }: LockedTool,
    args: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown> {
    return await this.request("tools/call", { name: tool, arguments: args }, options);
  }

  /** In the new era a server tells of changes only while a request for them is open. An answer would end it. */
  #listenForChanges(): void {
    const { tools } = this.capabilities;
    if (this.#meta === undefined || !isRecord(tools) || tools.listChanged !== true) return;
    const params = { notifications: { toolsListChanged: true }, _meta: this.#meta };
    this.#peer.request("subscriptions/listen", params, {}).catch(() => undefined);
  }

  /** What a request has to be repeated with: the answers to the server's questions, and its own state. */
  async #answerQuestions(
    { inputRequests, requestState }: Readonly<Record<string, unknown>>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Record<string, unknown>> {
    const questions = Object.entries(isRecord(inputRequests) ? inputRequests : {});
    if (questions.length === 0) await delay(ROUND_MS);
    const responses: Record<string, unknown> = {};
    // One after the other: a user answers one question at a time.
    for (const [key, question] of questions) {
      signal.throwIfAborted();
      const { method, params } = isRecord(question) ? question : {};
      const response = await answer(this.#events, String(method), params, signal);
      if (response === undefined)
        throw new Error(`it asks for ${quote(String(method))}, which it does not get`);
      responses[key] = response;
    }
    return {
      ...(questions.length > 0 && { inputResponses: responses }),
      ...(typeof requestState === "string" && { requestState }),
    };
  }
}

/** What the server sees that this client can do: neither sampling, roots nor logging. */
function offered({ elicit }: ClientEvents): Readonly<Record<string, unknown>> {
  return elicit ? { elicitation: { form: {}, url: {} } } : {};
}

function answer(
  { elicit }: ClientEvents,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> | undefined {
  if (method === "ping") return Promise.resolve({});
  return method === ELICITATION ? elicit?.(params, signal) : undefined;
}

import { delay, describeValue, errorMessage, isRecord, orAborted, quote } from "@agent/core/toolkit";
import type {
  ClientEvents,
  ConnectRequest,
  ProtocolClient,
  RequestOptions,
} from "../connection/protocolClient.js";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { clientInfo } from "../version.js";
import { JsonRpcPeer } from "./jsonRpc.js";
import type { StdioTransport } from "./transport.js";

// Without this limit a server that keeps asking would keep a call open forever.
const MAX_ROUNDS = 10;
/** The pause between two rounds without a question: the server only asks for the request to be repeated later. */
const ROUND_MS = 250;
const ELICITATION = "elicitation/create";

/**
 * The client of a local server. Our own code: loading the official SDK takes longer than most servers take to start,
 * and a connection over two pipes needs nothing else of it.
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

  /** Connects to the program of `transport`. Rejects if it exits before, or once `signal` aborts. */
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

  /** In the new era a server reports changes only while a request for them is open. An answer would end it. */
  #listenForChanges(): void {
    const { tools } = this.capabilities;
    if (this.#meta === undefined || !isRecord(tools) || tools.listChanged !== true) return;
    const params = { notifications: { toolsListChanged: true }, _meta: this.#meta };
    this.#peer.request("subscriptions/listen", params, {}).catch(() => undefined);
  }

  /** The additions for repeating a request: the answers to the server's questions, and its own state. */
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

/** Client capabilities sent to the server. No sampling, roots or logging. */
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

/** The revision without a handshake: each request names the client and its capabilities. */
const MODERN_VERSION = "2026-07-28";
/** The revisions with a handshake, newest first: that one is offered. */
const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
// A program that does not support the probe may not answer it at all, so it has a time limit.
const PROBE_MS = 5000;
const META = "io.modelcontextprotocol";

/** The facts about a connected server. */
interface OpenedEra {
  readonly era: LockedEra;
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The server's instructions, unchecked. */
  readonly instructions: unknown;
}

/** The client information in each request of the new era. */
function requestMeta(capabilities: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    [`${META}/protocolVersion`]: MODERN_VERSION,
    [`${META}/clientInfo`]: clientInfo(),
    [`${META}/clientCapabilities`]: capabilities,
  };
}

/** Starts the session in the known era, or detects the era. */
async function openEra(
  peer: JsonRpcPeer,
  known: LockedEra | undefined,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<OpenedEra> {
  const discover = known === undefined ? await probe(peer, capabilities, signal) : discoveredBefore(known);
  if (discover) return modern(discover);
  try {
    return await handshake(peer, capabilities, signal);
  } catch (error) {
    if (known === undefined || signal.aborted) throw error;
    throw new Error(
      `the handshake that its revision ${quote(known.version)} wants failed: ${errorMessage(error)}. If it speaks another revision by now, "agent mcp update" finds out which.`,
    );
  }
}

function discoveredBefore(era: LockedEra): Readonly<Record<string, unknown>> | undefined {
  return era.kind === "modern" ? era.discover : undefined;
}

/** The self-description of a server of the new era; `undefined` for any other. */
async function probe(
  peer: JsonRpcPeer,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const result = await peer.request(
      "server/discover",
      { _meta: requestMeta(capabilities) },
      { signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]) },
    );
    const versions = isRecord(result) ? result.supportedVersions : undefined;
    return isRecord(result) && Array.isArray(versions) && versions.includes(MODERN_VERSION)
      ? result
      : undefined;
  } catch {
    // An error or no answer means that the server does not support the probe. The handshake shows whether it is alive.
    return undefined;
  }
}

function modern(discover: Readonly<Record<string, unknown>>): OpenedEra {
  const { capabilities, instructions, _meta: meta } = discover;
  return {
    era: { kind: "modern", version: MODERN_VERSION, discover },
    info: serverInfo(isRecord(meta) ? meta[`${META}/serverInfo`] : undefined),
    capabilities: isRecord(capabilities) ? capabilities : {},
    instructions,
  };
}

async function handshake(
  peer: JsonRpcPeer,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<OpenedEra> {
  const params = { protocolVersion: HANDSHAKE_VERSIONS[0], capabilities, clientInfo: clientInfo() };
  // Without the signal: the protocol forbids cancelling this request.
  const result = await orAborted(peer.request("initialize", params, {}), signal);
  if (!isRecord(result)) throw new Error(`its answer to the handshake is ${describeValue(result)}`);
  const version = String(result.protocolVersion);
  if (!HANDSHAKE_VERSIONS.includes(version)) {
    throw new Error(`it speaks the revision ${quote(version)}, which is not known`);
  }
  peer.notify("notifications/initialized");
  return {
    era: { kind: "legacy", version },
    info: serverInfo(result.serverInfo),
    capabilities: isRecord(result.capabilities) ? result.capabilities : {},
    instructions: result.instructions,
  };
}

function serverInfo(info: unknown): OpenedEra["info"] {
  if (!isRecord(info) || typeof info.name !== "string" || typeof info.version !== "string") return undefined;
  return { name: info.name, version: info.version };
}

import { isRecord, LONGEST_TIMER_MS, quote } from "@agent/core/toolkit";
import type {
  Client,
  ConnectOptions,
  RequestOptions as SdkRequestOptions,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { boundedBody, withBody } from "../boundedBody.js";
import { expand } from "../config/environment.js";
import type { HttpServerOptions } from "../config/options.js";
import type {
  ClientEvents,
  ConnectRequest,
  ProtocolClient,
  RequestOptions,
  ServerLink,
} from "../connection/protocolClient.js";
import type { LinkParts } from "../connection/serverLink.js";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { LoginNeededError } from "../oauth/provider.js";
import { clientInfo } from "../version.js";

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

type McpSdk = typeof import("@modelcontextprotocol/client");

/** The transport to a server on HTTP, through the official SDK. */
export class HttpLink implements ServerLink {
  readonly #sdk: McpSdk;
  readonly #name: string;
  readonly #transport: StreamableHTTPClientTransport;
  #isClosed = false;

  /** Throws if a variable of the headers is not set. */
  constructor(sdk: McpSdk, { url, headers = {} }: HttpServerOptions, { name, auth, secrets }: LinkParts) {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([key, text]) => [key, expand(text, process.env, secrets)]),
    );
    // A user who configured an Authorization header does not want a login to replace it.
    const hasOwnToken = Object.keys(sent).some((key) => key.toLowerCase() === "authorization");
    this.#sdk = sdk;
    this.#name = name;
    this.#transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: sent },
      fetch: boundedFetch(),
      reconnectionOptions: RECONNECTION,
      // A call never opens a browser: the user does, with `agent mcp login`.
      onInsufficientScope: "throw",
      ...(auth && !hasOwnToken && { authProvider: auth }),
    });
  }

  async connect({ era, events }: ConnectRequest, signal: AbortSignal): Promise<HttpClient> {
    const client = createClient(this.#sdk, events);
    const prior = era && priorOf(era);
    this.#transport.onclose = events.onClose;
    const explain = (error: unknown): unknown => asLoginNeeded(this.#sdk, this.#name, error);
    try {
      await client.connect(this.#transport, { signal, timeout: LONGEST_TIMER_MS, ...(prior && { prior }) });
    } catch (error) {
      throw explain(error);
    }
    return new HttpClient(client, explain);
  }

  /** Always empty: the SDK reports a lost connection as an error of the request that failed. */
  endReason(): string {
    return "";
  }

  async close(): Promise<void> {
    // Close once: a caller that learns of the end closes again, and the transport would report the end a second time.
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#transport.close();
  }
}

function createClient(sdk: McpSdk, { elicit, onToolsChanged }: ClientEvents): Client {
  const client = new sdk.Client(clientInfo(), {
    // Client capabilities: no sampling, roots or logging, so a server gets no model, no list of directories and no log.
    capabilities: elicit ? { elicitation: { form: {}, url: {} } } : {},
    // No time limit for probing the era: a server on HTTP always answers it, however slowly.
    versionNegotiation: { mode: "auto", probe: { timeoutMs: LONGEST_TIMER_MS } },
    listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
  });
  if (elicit) {
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => elicit(params, mcpReq.signal));
  }
  return client;
}

/** A login that is refused or lacks permissions is needed again. */
function asLoginNeeded(sdk: McpSdk, server: string, error: unknown): unknown {
  if (error instanceof sdk.SdkHttpError && error.status === 401) {
    return new LoginNeededError(server, "it refuses the one there is");
  }
  if (!(error instanceof sdk.InsufficientScopeError)) return error;
  return new LoginNeededError(server, "the one there is does not permit this", error.requiredScope);
}

function priorOf(era: LockedEra): NonNullable<ConnectOptions["prior"]> {
  if (era.kind === "legacy") return { kind: "legacy" };
  return { kind: "modern", discover: era.discover } as NonNullable<ConnectOptions["prior"]>;
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with a limit on the size of an answer, the same as for one line of a server on this machine. An event stream
 * may carry more in all, since it stays open; its reader bounds each event. A stream that ends without an answer, and an
 * answer to a request that was never sent, become errors immediately.
 */
function boundedFetch(inner: Fetch = fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.body === null) return response;
    const type = response.headers.get("content-type") ?? "";
    const id = requestId(init?.body);
    if (type.includes("text/event-stream")) {
      return id === undefined ? response : withBody(response, withEnd(response.body, id, init?.signal));
    }
    const body = boundedBody(response.body);
    if (id === undefined || !type.includes("application/json")) return withBody(response, body);
    return withBody(response, ownAnswer(await new Response(body).text(), id));
  };
}

/** A stream that stays open as long as the client listens: no answer is missing when it ends. */
const LISTENING = "subscriptions/listen";
const EVENT_ID = /(?:^|[\r\n])id:/;
const encoder = new TextEncoder();

/**
 * The event stream that answers the request `id`, with an error as its last event if it ends without a way to resume:
 * the SDK would wait for the deadline of the call. An answered request ignores it.
 */
function withEnd(
  body: ReadableStream<Uint8Array>,
  id: string | number,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder("latin1");
  let last = "";
  let canResume = false;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const error = { code: -32000, message: "the connection was cut before the answer came" };
    const event = JSON.stringify({ jsonrpc: "2.0", id, error });
    // The empty line ends an event that was truncated.
    if (!canResume) controller.enqueue(encoder.encode(`\n\nevent: message\ndata: ${event}\n\n`));
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return end(controller);
        const text = last + decoder.decode(value);
        canResume ||= EVENT_ID.test(text);
        last = text.slice(-4);
        controller.enqueue(value);
      } catch (error) {
        if (signal?.aborted || canResume) controller.error(error);
        else end(controller);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The id of the request in a body that is answered immediately; `undefined` for anything else. */
function requestId(body: unknown): string | number | undefined {
  if (typeof body !== "string") return undefined;
  try {
    const message: unknown = JSON.parse(body);
    if (!isRecord(message) || message.method === LISTENING) return undefined;
    const { id } = message;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The JSON that answers the request `id`. An answer to another request, which was never sent, becomes an error: the SDK
 * would wait for the deadline of the call. Invalid JSON is left to the SDK, which reports it.
 */
function ownAnswer(text: string, id: string | number): string {
  const foreign = foreignId(text, id);
  if (foreign === undefined) return text;
  const message = `it answered a request that was never sent (id ${quote(foreign)})`;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } });
}

/** The id of an answer that does not match; `undefined` if one matches. */
function foreignId(text: string, id: string | number): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Revision 2025-03-26 allowed several messages in one array.
  const answers = (Array.isArray(parsed) ? parsed : [parsed])
    .filter(isRecord)
    .filter((message) => "result" in message || "error" in message);
  if (answers.length === 0 || answers.some((message) => String(message.id) === String(id))) return undefined;
  // An error without an id is about the request as a whole, and has its own message.
  const [first] = answers;
  return first?.id === undefined || first.id === null ? undefined : String(first.id);
}

/** Accepts whatever a server sent: one malformed tool must not make the SDK refuse the whole list. */
const ANYTHING = {
  "~standard": { version: 1 as const, vendor: "agent", validate: (value: unknown) => ({ value }) },
};

/** The client of a server on HTTP. Wraps the client of the official SDK. */
class HttpClient implements ProtocolClient {
  readonly era: LockedEra;
  readonly info: ProtocolClient["info"];
  readonly capabilities: ProtocolClient["capabilities"];
  readonly instructions: unknown;
  readonly #client: Client;
  readonly #explain: (error: unknown) => unknown;

  /** `client` is connected. `explain` converts its errors to messages that a user can act on. */
  constructor(client: Client, explain: (error: unknown) => unknown) {
    this.#client = client;
    this.#explain = explain;
    this.era = eraOf(client);
    const info = client.getServerVersion();
    this.info = info && { name: info.name, version: info.version };
    this.capabilities = { ...client.getServerCapabilities() };
    this.instructions = client.getInstructions();
    this.#listenForChanges();
  }

  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown> {
    try {
      return await this.#client.request({ method, params: { ...params } }, ANYTHING, toSdkOptions(options));
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async callTool(
    { tool, inputSchema }: LockedTool,
    args: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown> {
    const params = { name: tool, arguments: { ...args } };
    // Only the new era needs the SDK's `callTool`, which also sends some arguments as headers.
    if (this.era.kind === "legacy") return await this.request("tools/call", params, options);
    // Passed in, so that the SDK neither requests the list of tools nor compiles the server's output schemas.
    const toolDefinition = { name: tool, inputSchema: { ...inputSchema, type: "object" as const } };
    try {
      return await this.#client.callTool(params, { ...toSdkOptions(options), toolDefinition });
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** The SDK listens by itself, but not on a connection whose era was already known. */
  #listenForChanges(): void {
    const { tools } = this.capabilities;
    const isListening = this.era.kind === "legacy" || this.#client.autoOpenedSubscription !== undefined;
    if (isListening || !isRecord(tools) || tools.listChanged !== true) return;
    this.#client.listen({ toolsListChanged: true }).catch(() => undefined);
  }
}

function toSdkOptions({ signal, onProgress }: RequestOptions): SdkRequestOptions {
  return {
    timeout: LONGEST_TIMER_MS,
    ...(signal && { signal }),
    ...(onProgress && { onprogress: onProgress }),
  };
}

function eraOf(client: Client): LockedEra {
  const version = client.getNegotiatedProtocolVersion() ?? "";
  const discover = client.getProtocolEra() === "modern" ? client.getDiscoverResult() : undefined;
  return discover ? { kind: "modern", version, discover: { ...discover } } : { kind: "legacy", version };
}

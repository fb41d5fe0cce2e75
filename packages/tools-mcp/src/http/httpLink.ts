import { LONGEST_TIMER_MS } from "@agent/core/toolkit";
import type { Client, ConnectOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expand } from "../config/environment.js";
import type { HttpServerOptions } from "../config/options.js";
import type { ClientEvents, ConnectRequest, ServerLink } from "../connection/protocolClient.js";
import type { LinkParts } from "../connection/serverLink.js";
import type { LockedEra } from "../lock/lock.js";
import { LoginNeededError } from "../oauth/provider.js";
import { clientInfo } from "../version.js";
import { boundedFetch } from "./boundedFetch.js";
import { HttpClient } from "./httpClient.js";

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

type McpSdk = typeof import("@modelcontextprotocol/client");

/** The way to a server on HTTP, through the official SDK. */
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
    // Neither sampling, roots nor logging: a server gets no model, no list of directories and no log.
    capabilities: elicit ? { elicitation: { form: {}, url: {} } } : {},
    // No time limit for the probe of the era: a server on HTTP always answers it, however slowly.
    versionNegotiation: { mode: "auto", probe: { timeoutMs: LONGEST_TIMER_MS } },
    listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
  });
  if (elicit) {
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => elicit(params, mcpReq.signal));
  }
  return client;
}

/** A login that is refused, or has too few permissions, is needed again. */
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

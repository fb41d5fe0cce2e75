import { isRecord, LONGEST_TIMER_MS } from "@agent/core/toolkit";
import type { Client, RequestOptions as SdkRequestOptions } from "@modelcontextprotocol/client";
import type { ProtocolClient, RequestOptions } from "../connection/protocolClient.js";
import type { LockedEra, LockedTool } from "../lock/lock.js";

/** Accepts whatever a server sent: one malformed tool must not make the SDK refuse the whole list. */
const ANYTHING = {
  "~standard": { version: 1 as const, vendor: "agent", validate: (value: unknown) => ({ value }) },
};

/** The client of a server on HTTP. Wraps the client of the official SDK. */
export class HttpClient implements ProtocolClient {
  readonly era: LockedEra;
  readonly info: ProtocolClient["info"];
  readonly capabilities: ProtocolClient["capabilities"];
  readonly instructions: unknown;
  readonly #client: Client;
  readonly #explain: (error: unknown) => unknown;

  /** `client` is connected. `explain` turns what it throws into what a user can act on. */
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

  /** The SDK listens by itself, but not on a connection whose era was known before. */
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

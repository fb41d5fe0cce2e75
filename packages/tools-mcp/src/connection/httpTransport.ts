import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expand } from "../config/environment.js";
import type { HttpServerOptions } from "../config/options.js";
import { boundedFetch } from "./boundedFetch.js";
import type { OpenTransport, TransportParts } from "./openTransport.js";

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

/** The transport of a server on HTTP. Throws if a variable of its headers is not set. */
export function httpTransport(
  { url, headers = {} }: HttpServerOptions,
  { auth, secrets }: TransportParts,
): OpenTransport {
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, expand(text, process.env, secrets)]),
  );
  // Someone who sends a token of their own wants no login in its place.
  const hasOwnToken = Object.keys(sent).some((name) => name.toLowerCase() === "authorization");
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: sent },
    fetch: boundedFetch(),
    reconnectionOptions: RECONNECTION,
    // A call never opens a browser: the person does, with `agent mcp login`.
    onInsufficientScope: "throw",
    ...(auth && !hasOwnToken && { authProvider: auth }),
  });
  return { transport, endReason: () => "", gone: () => Promise.resolve() };
}

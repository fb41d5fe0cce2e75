import { checkFunction, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "./interface.js";

/** The properties by which a provider describes its model. */
type Facts = Partial<Omit<ChatProvider, "respond" | "accepts">>;

/**
 * Wraps the requests of another provider, for example with a cache, a log, a limit, or another model for some requests.
 * `ask` sends a request to the wrapped provider. `facts` replaces its description of the model.
 *
 * @example
 * ```ts
 * import { wrapProvider } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const counted = wrapProvider(scriptedProvider(["Hello."]), async (request, ask) => {
 *   console.log(`${request.messages.length} messages`);
 *   return await ask(request);
 * });
 * ```
 */
export function wrapProvider(
  provider: ChatProvider,
  respond: (request: ChatRequest, ask: ChatProvider["respond"]) => Promise<ChatResponse>,
  facts: Facts = {},
): ChatProvider {
  if (typeof provider?.respond !== "function") {
    throw invalidArgument("provider", "a ChatProvider with respond()", provider);
  }
  checkFunction("respond", respond);
  const ask = (request: ChatRequest): Promise<ChatResponse> => provider.respond(request);
  // Read on access: the wrapped provider may change its model.
  const fact = <Name extends keyof Facts>(name: Name) => ({
    enumerable: true,
    get: () => (name in facts ? facts[name] : provider[name]),
  });
  const wrapped = {
    accepts: (mediaType: string) => provider.accepts?.(mediaType) ?? false,
    respond: (request: ChatRequest) => respond(request, ask),
  };
  return Object.defineProperties(wrapped, {
    id: fact("id"),
    model: fact("model"),
    address: fact("address"),
    contextTokens: fact("contextTokens"),
    price: fact("price"),
    efforts: fact("efforts"),
    nativeOutput: fact("nativeOutput"),
  });
}

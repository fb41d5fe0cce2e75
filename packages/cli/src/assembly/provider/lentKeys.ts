import type { ChatProvider } from "@agent/core";
import type { ProviderKeys } from "../../settings/providerKeys.js";
import { described } from "./described.js";

/**
 * A provider that the config made, with the keys in the environment while it is asked: it may read them with each request,
 * as the models of the AI SDK do. Tools run between requests and do not see them.
 */
export function withLentKeys(provider: ChatProvider, keys: Pick<ProviderKeys, "lend">): ChatProvider {
  return {
    ...described(provider),
    respond: async (request) => {
      const takeBack = keys.lend();
      try {
        return await provider.respond(request);
      } finally {
        takeBack();
      }
    },
  };
}

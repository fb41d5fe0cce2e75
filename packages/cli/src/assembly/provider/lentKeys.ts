import { type ChatProvider, wrapProvider } from "@agent/core";
import type { ProviderKeys } from "../../settings/providerKeys.js";

/**
 * A provider that the config made, with the keys in the environment while it is asked: it may read them with each request,
 * as the models of the AI SDK do. Tools run between requests and do not see them.
 */
export function withLentKeys(provider: ChatProvider, keys: Pick<ProviderKeys, "lend">): ChatProvider {
  return wrapProvider(provider, async (request, ask) => {
    const takeBack = keys.lend();
    try {
      return await ask(request);
    } finally {
      takeBack();
    }
  });
}

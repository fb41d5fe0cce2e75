import type { ChatProvider } from "@agent/core";

/** The provider's own properties, for a wrapper that only changes `respond`. */
export function described(provider: ChatProvider): Omit<ChatProvider, "respond"> {
  const { id, model, contextTokens, price, efforts, nativeOutput } = provider;
  return {
    id,
    model,
    contextTokens,
    price,
    efforts,
    nativeOutput,
    accepts: (mediaType) => provider.accepts?.(mediaType) ?? false,
  };
}

export type { AnthropicProviderOptions } from "./options.js";
export { AnthropicProvider, provider } from "./provider.js";

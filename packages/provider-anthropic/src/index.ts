export { provider } from "./factory.js";
export type { AnthropicProviderOptions } from "./options.js";
export { AnthropicProvider } from "./provider.js";

export type { OpenAIProviderOptions } from "./options.js";
export { OpenAIProvider } from "./provider.js";

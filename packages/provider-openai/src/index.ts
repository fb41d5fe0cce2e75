export { provider } from "./factory.js";
export type { OpenAIApi, OpenAIClient, OpenAIProviderOptions } from "./options.js";
export { OpenAIProvider } from "./provider.js";

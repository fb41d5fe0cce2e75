export type { OpenAIApi, OpenAIClient, OpenAIProviderOptions } from "./options.js";
export { OpenAIProvider, provider } from "./provider.js";

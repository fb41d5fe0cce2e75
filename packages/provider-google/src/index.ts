export type { GoogleProviderOptions } from "./options.js";
export { GoogleProvider, provider } from "./provider.js";

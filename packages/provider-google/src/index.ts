export { provider } from "./factory.js";
export type { GoogleProviderOptions } from "./options.js";
export { GoogleProvider } from "./provider.js";

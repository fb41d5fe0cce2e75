export { type FromLanguageModelOptions, fromLanguageModel } from "./fromLanguageModel.js";
export type { LanguageModel } from "./languageModel.js";

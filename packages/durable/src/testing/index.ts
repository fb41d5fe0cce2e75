import { decisionCases } from "./cases/decisionCases.js";
import { eventCases } from "./cases/eventCases.js";
import { operatorCases } from "./cases/operatorCases.js";
import { pauseCases } from "./cases/pauseCases.js";
import { runCases } from "./cases/runCases.js";
import { tenantCases } from "./cases/tenantCases.js";
import { workerCases } from "./cases/workerCases.js";
import type { EngineCase } from "./engineCase.js";

export type { EngineCase, EngineHarness } from "./engineCase.js";

/**
 * The conformance tests that every engine must pass, for any test runner. Each uses its own store.
 *
 * @example
 * ```ts
 * import { test } from "node:test";
 * import { createFileEngine } from "@agent/durable";
 * import { engineConformance } from "@agent/durable/testing";
 *
 * for (const { name, run } of engineConformance) test(name, () => run({ open: async () => createFileEngine("runs") }));
 * ```
 */
export const engineConformance: readonly EngineCase[] = [
  ...runCases,
  ...eventCases,
  ...decisionCases,
  ...workerCases,
  ...tenantCases,
  ...pauseCases,
  ...operatorCases,
];

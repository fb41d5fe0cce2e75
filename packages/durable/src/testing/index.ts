export { engineConformance } from "./conformance.js";
export type { EngineCase, EngineHarness } from "./engineCase.js";

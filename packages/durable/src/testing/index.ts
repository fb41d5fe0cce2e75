export { type EngineCase, type EngineHarness, engineConformance } from "./conformance.js";

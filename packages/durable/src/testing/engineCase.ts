import type { RunEngine } from "../engine/engine.js";

/** The test environment of an engine. */
export interface EngineHarness {
  /** Opens the engine under test again, on the same store, as another process would. The harness closes it. */
  open(): Promise<RunEngine>;
}

export interface EngineCase {
  readonly name: string;
  run(harness: EngineHarness): Promise<void>;
}

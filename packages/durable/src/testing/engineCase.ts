import type { RunEngine } from "../engine/engine.js";

/** What an engine's tests provide. */
export interface EngineHarness {
  /** Opens the engine under test once more, on the same store, as another process would. The harness closes it. */
  open(): Promise<RunEngine>;
}

export interface EngineCase {
  readonly name: string;
  run(harness: EngineHarness): Promise<void>;
}

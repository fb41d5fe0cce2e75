import { lazyModule } from "@agent/core/toolkit";

/** What does a search. Loaded by the first call. */
export const loadEngine = lazyModule(
  () => import("./engine.js"),
  () => new URL("./engine.js", import.meta.url),
);

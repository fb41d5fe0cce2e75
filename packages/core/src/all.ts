/** The code of all entries but `otel` and `replay`, built as one file: each file costs about a millisecond at import. */
export * from "./index.js";
export * from "./providers/index.js";
export * from "./toolkit/index.js";

import { packageTests } from "../../vitest.base.ts";

// One file after the other: each step needs both cores for itself, and the later ones build on the earlier.
export default packageTests({ fileParallelism: false, testTimeout: 180_000, hookTimeout: 240_000 });

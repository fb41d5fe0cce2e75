import { packageTests } from "../vitest.base.ts";

export default packageTests({
  include: ["*/*.test.ts"],
  // One file after the other: each step needs both cores for itself.
  fileParallelism: false,
  maxConcurrency: 3,
  // Installing takes as long as the registry does.
  testTimeout: 300_000,
  hookTimeout: 300_000,
});

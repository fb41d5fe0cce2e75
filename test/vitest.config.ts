import { packageTests } from "../vitest.base.ts";

export default packageTests({
  include: ["*/*.test.ts"],
  // Run one file after the other: each needs all cores.
  fileParallelism: false,
  maxConcurrency: 3,
  // Installing takes as long as the registry does.
  testTimeout: 15 * 60_000,
  hookTimeout: 15 * 60_000,
});

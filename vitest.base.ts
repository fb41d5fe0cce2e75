import { defineConfig, type ViteUserConfig } from "vitest/config";

/**
 * Each package writes a report that `scripts/verify.mjs` adds up, so that the last line of a run
 * counts every test of the workspace, also the ones turbo replayed from its cache.
 */
export function packageTests(test: NonNullable<ViteUserConfig["test"]> = {}): ViteUserConfig {
  return defineConfig({
    test: {
      include: ["src/**/*.test.ts", "test/**/*.test.ts"],
      reporters: ["default", ["json", { outputFile: ".turbo/test-report.json" }]],
      // Only a guard against hanging: a loaded machine is slow, not wrong.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
      ...test,
    },
  });
}

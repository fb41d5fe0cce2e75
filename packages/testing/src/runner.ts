import { check } from "@agent/core/toolkit";

/** The two functions every test runner has: of vitest, jest, mocha or `node:test`. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: (...context: unknown[]) => Promise<void>, timeoutMs?: number): unknown;
}

/** The given test functions, or the global ones. Throws if there are none; the error names `caller`. */
export function completeRunner(caller: string, { describe, test }: Partial<TestRunner>): TestRunner {
  if (describe !== undefined) check.function("describe", describe);
  if (test !== undefined) check.function("test", test);
  const globals = globalThis as Partial<TestRunner>;
  const runner = { describe: describe ?? globals.describe, test: test ?? globals.test };
  if (typeof runner.describe !== "function" || typeof runner.test !== "function") {
    throw new TypeError(
      `${caller} needs a test runner: pass { describe, test }, for instance from "vitest" or "node:test".`,
    );
  }
  return runner as TestRunner;
}

/** Marks a test as skipped if the runner supports that; otherwise the test passes. */
export function skipTest(context: unknown, reason: string): void {
  const { skip } = (context ?? {}) as { skip?: (reason: string) => void };
  if (typeof skip === "function") skip.call(context, reason);
}

import { check } from "@agent/core/toolkit";

/** The two functions every test runner has: of vitest, jest, mocha or `node:test`. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: (...context: unknown[]) => Promise<void>, timeoutMs?: number): unknown;
}

/** The runner that was given, or the global one. Throws if there is none; `caller` asks for it. */
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

/** Says so where the runner can show it; elsewhere the test simply passes. */
export function skipTest(context: unknown, reason: string): void {
  const { skip } = (context ?? {}) as { skip?: (reason: string) => void };
  if (typeof skip === "function") skip.call(context, reason);
}

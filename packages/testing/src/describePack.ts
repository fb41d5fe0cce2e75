import { checkFunction, checkObject } from "@agent/core/toolkit";
import { CHECKS, checkedModule, checkPack } from "./checkPack.js";
import { formatFinding } from "./formatReport.js";
import type { CheckPackOptions, PackLocation, PackReport } from "./types.js";

/** The two functions every test runner has: of vitest, jest, mocha or `node:test`. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: (...context: unknown[]) => Promise<void>, timeoutMs?: number): unknown;
}

const LONGEST_MS = 5 * 60 * 1000;

/**
 * Declares one test for each check of the kit. Give it `describe` and `test` of your runner; without them
 * it takes the global ones.
 *
 * @example
 * ```ts
 * import { describePack } from "@agent/testing";
 * import { describe, test } from "vitest";
 *
 * describePack(new URL("../dist/index.js", import.meta.url), { describe, test });
 * ```
 */
export function describePack(
  location: PackLocation,
  runnerAndOptions: CheckPackOptions & Partial<TestRunner> = {},
): void {
  checkObject("options", runnerAndOptions);
  const { describe, test, ...options } = runnerAndOptions;
  checkedModule("describePack", location, options);
  const runner = completeRunner(describe, test);
  let report: Promise<PackReport> | undefined;
  runner.describe(`pack ${location}`, () => {
    for (const { id, title } of CHECKS) {
      // Rest parameters: a runner that counts them would otherwise wait for a callback.
      const body = async (...context: unknown[]): Promise<void> => {
        report ??= checkPack(location, options);
        const check = (await report).checks.find((one) => one.id === id);
        if (check?.status === "failed") {
          const findings = check.findings.map(formatFinding).join("\n");
          throw new Error(`A good pack ${title}; this one does not:\n${findings}`);
        }
        if (check?.status === "not_checked") skip(context[0], `not checked: ${check.notes.join("; ")}`);
      };
      runner.test(title, body, LONGEST_MS);
    }
  });
}

function completeRunner(
  describe: TestRunner["describe"] | undefined,
  test: TestRunner["test"] | undefined,
): TestRunner {
  if (describe !== undefined) checkFunction("describe", describe);
  if (test !== undefined) checkFunction("test", test);
  const globals = globalThis as Partial<TestRunner>;
  const runner = { describe: describe ?? globals.describe, test: test ?? globals.test };
  if (typeof runner.describe !== "function" || typeof runner.test !== "function") {
    throw new TypeError(
      'describePack needs a test runner: pass { describe, test }, for instance from "vitest" or "node:test".',
    );
  }
  return runner as TestRunner;
}

/** Says so where the runner can show it; elsewhere the test simply passes. */
function skip(context: unknown, reason: string): void {
  const { skip: skipTest } = (context ?? {}) as { skip?: (reason: string) => void };
  if (typeof skipTest === "function") skipTest.call(context, reason);
}

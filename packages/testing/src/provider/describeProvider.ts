import { formatFinding } from "../formatReport.js";
import { completeRunner, skipTest, type TestRunner } from "../runner.js";
import { checkSubject, PROVIDER_CHECKS, runProviderCheck } from "./checkProvider.js";
import type { ProviderSubject } from "./types.js";

const LONGEST_MS = 5 * 60 * 1000;

/**
 * Declares one test for each check of the kit for providers. Pass `describe` and `test` of your runner; by default it
 * uses the global ones.
 *
 * @example
 * ```ts
 * import { describeProvider } from "@agent/testing";
 * import { describe, test } from "vitest";
 *
 * declare const subject: import("@agent/testing").ProviderSubject;
 * describeProvider(subject, { describe, test });
 * ```
 */
export function describeProvider(subject: ProviderSubject, given: Partial<TestRunner> = {}): void {
  checkSubject(subject);
  const runner = completeRunner("describeProvider", given);
  runner.describe(`provider ${subject.name}`, () => {
    for (const { id, title } of PROVIDER_CHECKS) {
      // Rest parameters keep `length` at 0: a runner such as mocha waits for a callback if a test declares a parameter.
      const body = async (...context: unknown[]): Promise<void> => {
        const { status, findings, notes } = await runProviderCheck(subject, id);
        if (status === "failed") {
          const found = findings.map(formatFinding).join("\n");
          throw new Error(`A good provider ${title}; this one does not:\n${found}`);
        }
        if (status === "not_checked") skipTest(context[0], `not checked: ${notes.join("; ")}`);
      };
      runner.test(title, body, LONGEST_MS);
    }
  });
}

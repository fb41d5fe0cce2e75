import { check } from "@agent/core/toolkit";
import { CHECKS, checkedModule, checkPack } from "./checkPack.js";
import { formatFinding } from "./formatReport.js";
import { completeRunner, skipTest, type TestRunner } from "./runner.js";
import type { CheckPackOptions, PackLocation, PackReport } from "./types.js";

export { recordProvider, replayProvider, type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
export { checkPack, inspectPack } from "./checkPack.js";
export { formatReport } from "./formatReport.js";
export { checkProvider } from "./provider/checkProvider.js";
export { describeProvider } from "./provider/describeProvider.js";
export type {
  ProviderDialect,
  ProviderReport,
  ProviderSubject,
  ProviderTarget,
  SampleAnswer,
  SampleToolCall,
} from "./provider/types.js";
export type { TestRunner } from "./runner.js";
export { temporaryWorkspace, type Workspace } from "./temporaryWorkspace.js";
export type {
  CheckPackOptions,
  CheckResult,
  CheckStatus,
  Finding,
  PackInspection,
  PackLocation,
  PackReport,
  PackTool,
  SampleCall,
} from "./types.js";

const LONGEST_MS = 5 * 60 * 1000;

/**
 * Declares one test for each check of the kit. Pass `describe` and `test` of your runner; by default it uses the global
 * ones.
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
  check.object("options", runnerAndOptions);
  const { describe, test, ...options } = runnerAndOptions;
  checkedModule("describePack", location, options);
  const runner = completeRunner("describePack", { describe, test } as Partial<TestRunner>);
  let report: Promise<PackReport> | undefined;
  const where = options.isolated ? ", in its own process" : "";
  runner.describe(`pack ${location}${where}`, () => {
    for (const { id, title } of CHECKS) {
      // Rest parameters keep `length` at 0: a runner such as mocha waits for a callback if a test declares a parameter.
      const body = async (...context: unknown[]): Promise<void> => {
        report ??= checkPack(location, options);
        const check = (await report).checks.find((one) => one.id === id);
        if (check?.status === "failed") {
          const findings = check.findings.map(formatFinding).join("\n");
          throw new Error(`A good pack ${title}; this one does not:\n${findings}`);
        }
        if (check?.status === "not_checked") skipTest(context[0], `not checked: ${check.notes.join("; ")}`);
      };
      runner.test(title, body, LONGEST_MS);
    }
  });
}

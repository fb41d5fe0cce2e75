import { check, errorMessage } from "@agent/core/toolkit";
import type { CheckResult } from "../types.js";
import { ANSWER_CHECKS } from "./answers.js";
import { Examination, type ProviderCheck } from "./examination.js";
import { FAULT_CHECKS } from "./faults.js";
import { SAFETY_CHECKS } from "./safety.js";
import type { ProviderReport, ProviderSubject } from "./types.js";

/** All checks of providers, in the order of the report. */
export const PROVIDER_CHECKS: readonly ProviderCheck[] = [
  ...ANSWER_CHECKS,
  ...FAULT_CHECKS,
  ...SAFETY_CHECKS,
];

/**
 * Checks that a provider does what the agent relies on. It talks to real servers on the loopback interface, which
 * answer, fail, fall silent or send wrong data. Rejects only for an invalid parameter; a broken provider is reported.
 *
 * @example
 * ```ts
 * import { checkProvider, formatReport } from "@agent/testing";
 *
 * declare const subject: import("@agent/testing").ProviderSubject;
 * console.log(formatReport(await checkProvider(subject)));
 * ```
 */
export async function checkProvider(subject: ProviderSubject): Promise<ProviderReport> {
  checkSubject(subject);
  const checks: CheckResult[] = [];
  for (const { id } of PROVIDER_CHECKS) checks.push(await runProviderCheck(subject, id));
  return { provider: subject.name, ok: checks.every(({ status }) => status !== "failed"), checks };
}

/** Runs one check, by its id. */
export async function runProviderCheck(subject: ProviderSubject, wanted: string): Promise<CheckResult> {
  const check = PROVIDER_CHECKS.find(({ id }) => id === wanted);
  if (!check) throw new RangeError(`There is no check ${JSON.stringify(wanted)}.`);
  const { id, title, hint } = check;
  const examination = new Examination(subject);
  const reason = check.skip?.(examination);
  if (reason !== undefined) return { id, title, status: "not_checked", findings: [], notes: [reason] };
  try {
    const problems = await check.run(examination);
    const findings = problems.map((problem) => ({ ...problem, hint }));
    return { id, title, status: findings.length > 0 ? "failed" : "passed", findings, notes: [] };
  } catch (error) {
    const finding = {
      expected: "a provider that can be created and answers a request",
      got: errorMessage(error),
      hint,
    };
    return { id, title, status: "failed", findings: [finding], notes: [] };
  }
}

/** Throws `invalid_argument` unless the value is a subject that can be checked. */
export function checkSubject(subject: ProviderSubject): void {
  check.object("subject", subject);
  check.text("subject.name", subject.name);
  check.function("subject.create", subject.create);
  check.object("subject.dialect", subject.dialect);
  for (const name of ["whole", "events", "error"] as const) {
    check.function(`subject.dialect.${name}`, subject.dialect[name]);
  }
}

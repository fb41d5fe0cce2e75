import { check, escapeInvisible, invalidArgument } from "@agent/core/toolkit";
import { countOf, escapeToLine } from "@agent/internal";
import type { ProviderReport } from "./provider/types.js";
import type { CheckResult, CheckStatus, Finding, PackReport } from "./types.js";

const MARKS: Readonly<Record<CheckStatus, string>> = { passed: "ok", failed: "FAIL", not_checked: "--" };

/** Formats the report as plain text: one line per check; below a failed check, the problem and how to fix it. */
export function formatReport(report: PackReport | ProviderReport): string {
  check.object("report", report);
  if (!Array.isArray(report.checks) || !("provider" in report || Array.isArray(report.tools))) {
    throw invalidArgument("report", "what checkPack or checkProvider resolved to", report);
  }
  const failed = report.checks.filter(({ status }) => status === "failed").length;
  const open = report.checks.filter(({ status }) => status === "not_checked").length;
  const lines = [
    ...("provider" in report ? [escapeToLine(report.provider)] : packLines(report)),
    ...report.checks.flatMap(formatCheck),
    failed > 0
      ? `${countOf(failed, "check")} failed.`
      : `All checks passed${open === 0 ? "" : `; ${open} could not be run`}.`,
  ];
  return `${lines.join("\n")}\n`;
}

function packLines({ pack, tools, sandbox }: PackReport): string[] {
  const isEnforced = sandbox?.startsWith("enforced");
  const how = isEnforced ? sandbox : `${sandbox}. The pack ran with your rights, in a separate process`;
  return [
    ...(sandbox === undefined ? [] : [`Isolation: ${escapeToLine(how ?? "")}`]),
    `${pack}: ${countOf(tools.length, "tool")}`,
    ...tools.map(
      ({ name, enabled, capabilities }) =>
        `  ${escapeToLine(name)} (${[enabled ? "on" : "off by default", ...capabilities].join(", ")})`,
    ),
  ];
}

/** One check with everything it found. */
function formatCheck({ id, title, status, findings, notes, remarks = [] }: CheckResult): string[] {
  return [
    `${MARKS[status].padEnd(4)} ${id}: ${title}`,
    ...findings.map(formatFinding),
    ...notes.map((note) => `     not checked: ${escapeToLine(note)}`),
    ...remarks.map((remark) => `     note: ${escapeToLine(remark)}`),
  ];
}

/** A finding on a few lines: the problem and what to do. Escapes text of the pack: it must not control the terminal. */
export function formatFinding({ tool, expected, got, hint }: Finding): string {
  const where = tool === undefined ? "" : `${tool}: `;
  return escapeInvisible(`     ${where}expected ${expected}\n       got: ${got}\n       hint: ${hint}`);
}

import type { EvalDifference, EvalGroup, EvalReport } from "./report.js";

const HEAD = ["CASE", "MODEL", "POLICY", "PASSED", "95 %", "TOKENS", "COST", "SECONDS", "RESULT"];
const MOST_PROBLEM = 300;

/** A report as a table for people, with the differences to an earlier one and the reasons of failures below. */
export function formatEvals(report: EvalReport, differences: readonly EvalDifference[] = []): string {
  const { groups } = report;
  const changeOf = ({ file, case: name, model }: EvalGroup): string => {
    const found = differences.find((one) => one.case === name && one.model === model && one.file === file);
    return found ? changeText(found) : "";
  };
  const rows = groups.map((group) => [
    line(group.case),
    line(group.model),
    group.required === 1 ? "always" : `≥ ${percent(group.required)}`,
    `${group.passed}/${group.judged}`,
    group.judged === 0 ? "" : `${percent(group.interval[0])}–${percent(group.interval[1])}`,
    String(group.tokens),
    costText(group.cost),
    group.seconds.toFixed(1),
    [group.verdict, changeOf(group)].filter(Boolean).join(", "),
  ]);
  const gone = differences.filter(({ change }) => change === "gone");
  return [
    table([HEAD, ...rows]),
    ...groups.flatMap(problems),
    ...gone.map(({ case: name, model }) => `no longer there: ${line(name)} (${line(model)})`),
    summary(report),
    "",
  ].join("\n");
}

function changeText({ change, share = 0, tokens = 0 }: EvalDifference): string {
  const parts: string[] = change === "same" ? [] : [change];
  if (Math.abs(share) >= 0.005) parts.push(`${signed(Math.round(share * 100))} points`);
  if (Math.abs(tokens) >= 1) parts.push(`${signed(Math.round(tokens))} tokens per run`);
  return parts.join(", ");
}

function problems(group: EvalGroup): string[] {
  return group.runs.flatMap(({ status, problem }, index) =>
    status === "passed"
      ? []
      : [
          `${line(group.case)} (${line(group.model)}), run ${index + 1}: ${status}: ${line(problem ?? "").slice(0, MOST_PROBLEM)}`,
        ],
  );
}

function summary({ groups, tokens, cost, stopped }: EvalReport): string {
  const count = (verdict: EvalGroup["verdict"]): number =>
    groups.filter((group) => group.verdict === verdict).length;
  const parts = [
    `${count("holds")} hold, ${count("fails")} fail, ${count("not judged")} not judged`,
    `${tokens} tokens`,
    ...(cost === undefined ? [] : [costText(cost)]),
    ...(stopped === "cost" ? ["stopped at the cost limit"] : []),
    ...(stopped === "interrupted" ? ["interrupted"] : []),
  ];
  return `\n${parts.join("; ")}`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const signed = (value: number): string => (value > 0 ? `+${value}` : `${value}`);
const costText = (cost: number | undefined): string => (cost === undefined ? "" : `$${cost.toFixed(4)}`);

/** Text of a model or a server on one line, without control characters. */
function line(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

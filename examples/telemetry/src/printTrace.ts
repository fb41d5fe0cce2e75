import type { CollectedSpan } from "./collector.js";

const FAILED = 2;

/** The spans as an indented tree, in the order they started. */
export function printTrace(spans: readonly CollectedSpan[]): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const ordered = [...spans].sort((a, b) =>
    Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)),
  );
  const lines = (parent: string | undefined, indent: string): string[] =>
    ordered
      .filter(({ parentSpanId }) => (known.has(parentSpanId ?? "") ? parentSpanId : undefined) === parent)
      .flatMap(({ name, spanId, status }) => [
        `${indent}${name}${status?.code === FAILED ? " (failed)" : ""}`,
        ...lines(spanId, `${indent}  `),
      ]);
  return lines(undefined, "").join("\n");
}

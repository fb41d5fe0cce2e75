import { quote } from "@agent/internal";

/** An SBPL rule for several filters; empty without any, since a rule without filters would match everything. */
export function rule(decision: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${decision} ${operations} ${filters.join(" ")})`;
}

/** A file or directory with everything below it. */
export function subpath(path: string): string {
  return `(subpath ${text(path)})`;
}

/** A file or directory itself. */
export function literal(path: string): string {
  return `(literal ${text(path)})`;
}

/** A string of SBPL. Throws for control characters, whose escapes differ between versions. */
export function text(value: string): string {
  if (/\p{Cc}/u.test(value)) {
    throw new Error(
      `A sandbox cannot have a path with control characters: ${quote(value)}. Nothing was run.`,
    );
  }
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

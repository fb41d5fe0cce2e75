import { escapeToLine, quote } from "@agent/core/toolkit";

/** Thrown while a script is examined, when its meaning cannot be known before it runs. */
export class Unresolvable extends Error {
  override readonly name = "Unresolvable";
}

/** Shell text for a message: short, on one line, with nothing invisible in it. */
export function shown(source: string): string {
  return quote(escapeToLine(source));
}

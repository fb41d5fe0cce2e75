import { errorMessage } from "@agent/core/toolkit";
import { note } from "../../process/output.js";

const REPEAT_MS = 60_000;
const MOST = 100;
const printed = new Map<string, number>();

/**
 * Prints a temporary fault, and the same one again after a minute: while a database is unavailable, there are several
 * a second.
 */
export function printFault(error: unknown): void {
  const message = errorMessage(error);
  const now = performance.now();
  if (now - (printed.get(message) ?? -Infinity) < REPEAT_MS) return;
  if (printed.size >= MOST) printed.clear();
  printed.set(message, now);
  note(`agent: ${message}`);
}

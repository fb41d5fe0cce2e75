import { escapeToLine, quote } from "@agent/core/toolkit";

/** Thrown when the meaning of a script cannot be determined before it runs. */
export class Unresolvable extends Error {
  override readonly name: string = "Unresolvable";
}

/** Thrown for a script outside the grammar that all shells parse alike. */
export class NotInGrammar extends Unresolvable {
  override readonly name = "NotInGrammar";
}

/** Shell text for a message: short, on one line, with invisible characters escaped. */
export function shown(source: string): string {
  return quote(escapeToLine(source));
}

/** Thrown when a rule refuses a command, or when the command sets a variable that would bypass the rules. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly rule?: string,
  ) {
    super(message);
  }
}

import { escapeToLine, quote } from "@agent/core/toolkit";

/** Thrown while a script is examined, when its meaning cannot be known before it runs. */
export class Unresolvable extends Error {
  override readonly name: string = "Unresolvable";
}

/** Thrown for a script outside the grammar that all shells read alike. */
export class NotInGrammar extends Unresolvable {
  override readonly name = "NotInGrammar";
}

/** Shell text for a message: short, on one line, with nothing invisible in it. */
export function shown(source: string): string {
  return quote(escapeToLine(source));
}

/** Thrown when a rule refuses a command, or when the command sets a variable that would undo the rules. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly rule?: string,
  ) {
    super(message);
  }
}

import type { HereDocument } from "./hereDocument.js";
import { NotInGrammar, shown } from "./refusal.js";

/** A place in a script, shared by the readers of its tokens and of its words. */
export class Cursor {
  readonly source: string;
  at = 0;
  /** How many `$(` are open here. */
  substitutions = 0;
  /** The here-document whose body begins with the next line. */
  hereDocument: HereDocument | undefined;

  constructor(source: string) {
    this.source = source;
  }

  /** The error for what stands at `at`: what it is, where, and what to write instead. */
  refusal(at: number, what: string, instead: string): NotInGrammar {
    const line = this.source.slice(0, at).split("\n").length;
    const place = this.source.slice(at, at + 24);
    return new NotInGrammar(`line ${line} has ${what}${place && ` at ${shown(place)}`}: ${instead}`);
  }

  /** Passes what the sticky pattern matches here, if it does. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found;
  }

  /** Shells differ in where the body begins if a line break is quoted behind "<<". */
  refuseLineBreak(hasLineBreak: boolean): void {
    if (hasLineBreak && this.hereDocument)
      throw this.refusal(
        this.hereDocument.at,
        "a here-document and a quoted line break in one line",
        "swap them",
      );
  }
}

import type { BlockOptions } from "./toolBlock.js";

/** The kinds of parts of a conversation; a blank line separates two of different kinds. */
export type Section = "answer" | "calls" | "chat";

/** Finished parts of a conversation, in order, until they are printed for the width of that moment. */
export class Sections {
  #waiting: ((options: BlockOptions) => string[])[] = [];
  #last: Section | undefined;
  #afterBlank = false;

  /** Begins a section: a blank line comes first, unless the last part was of the same kind. The chat's own always have one. */
  begin(section: Section): void {
    const starts = section === "chat" || this.#last !== section;
    if (starts && !this.#afterBlank) this.#waiting.push(() => [""]);
    this.#afterBlank ||= starts;
    this.#last = section;
  }

  /** Begins a section right below what was printed last. */
  continueBelow(section: Section): void {
    this.#last = section;
  }

  /** Adds a part to the section. */
  add(render: (options: BlockOptions) => string[]): void {
    this.#waiting.push(render);
    this.#afterBlank = false;
  }

  /** Adds a part that belongs to what is above it. The next section begins with a blank line. */
  addBelow(render: (options: BlockOptions) => string[]): void {
    this.#last = undefined;
    this.add(render);
  }

  /** Something is written that is not a part yet: the next section begins with a blank line. */
  touched(): void {
    this.#afterBlank = false;
  }

  /** The blank row before rows of this kind that are not a part yet, as when they will be. */
  gapBefore(section: Section): string[] {
    return this.#last === section || this.#afterBlank ? [] : [""];
  }

  /** The rows of all parts that wait; they wait no longer. */
  take(options: BlockOptions): string[] {
    return this.#waiting.splice(0).flatMap((render) => render(options));
  }
}

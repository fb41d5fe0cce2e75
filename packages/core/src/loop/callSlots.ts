import type { ToolCapability } from "../tools/types.js";

// Calls with these capabilities run alone: two edits of one file must not overlap.
const EXCLUSIVE: readonly ToolCapability[] = ["write", "destroy", "execute"];

/** Whether a call must not overlap with any other. */
export function isExclusive(capabilities: readonly ToolCapability[]): boolean {
  return EXCLUSIVE.some((capability) => capabilities.includes(capability));
}

interface Waiting {
  readonly exclusive: boolean;
  readonly start: () => void;
}

/**
 * Lets readers run together and every other call alone, in the order in which they ask. A call that makes nested calls
 * or starts child agents passes its turn on to them, so that they cannot wait for each other.
 */
export class CallSlots {
  #readers = 0;
  #isWriting = false;
  readonly #queue: Waiting[] = [];

  /** Resolves once the call may run. */
  async acquire(exclusive: boolean): Promise<CallSlot> {
    if (this.#queue.length > 0 || !this.#isFree(exclusive)) {
      await new Promise<void>((start) => {
        this.#queue.push({ exclusive, start });
      });
    } else this.#take(exclusive);
    return new CallSlot(this, exclusive, () => this.#release(exclusive));
  }

  #isFree(exclusive: boolean): boolean {
    return !this.#isWriting && (!exclusive || this.#readers === 0);
  }

  #take(exclusive: boolean): void {
    if (exclusive) this.#isWriting = true;
    else this.#readers++;
  }

  #release(exclusive: boolean): void {
    if (exclusive) this.#isWriting = false;
    else this.#readers--;
    for (let next = this.#queue[0]; next && this.#isFree(next.exclusive); next = this.#queue[0]) {
      this.#queue.shift();
      this.#take(next.exclusive);
      next.start();
    }
  }
}

/** The turn of one call. */
export class CallSlot {
  readonly #slots: CallSlots;
  readonly #exclusive: boolean;
  readonly #release: () => void;
  #isReleased = false;
  #inner: CallSlots | undefined;

  constructor(slots: CallSlots, exclusive: boolean, release: () => void) {
    this.#slots = slots;
    this.#exclusive = exclusive;
    this.#release = release;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#release();
  }

  /** The slots of nested calls and child agents. A call that is alone keeps its turn and orders them among themselves. */
  forNested(): CallSlots {
    if (this.#exclusive) {
      this.#inner ??= new CallSlots();
      return this.#inner;
    }
    this.release();
    return this.#slots;
  }
}

/** Which runs continue at which time: a binary heap whose outdated entries are skipped. */
export class WakeTimes {
  readonly #heap: { readonly id: string; readonly at: number }[] = [];
  readonly #times = new Map<string, number>();

  set(id: string, at: number): void {
    this.#times.set(id, at);
    const heap = this.#heap;
    let index = heap.push({ id, at }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#at(parent) <= this.#at(index)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  delete(id: string): void {
    this.#times.delete(id);
  }

  /** The earliest time, or `undefined` if no run waits for one. */
  get next(): number | undefined {
    for (let first = this.#heap[0]; first; first = this.#heap[0]) {
      if (this.#times.get(first.id) === first.at) return first.at;
      this.#removeFirst();
    }
    return undefined;
  }

  /** Removes the runs whose time has come, and returns them in order. */
  takeDue(now: number): string[] {
    const due: string[] = [];
    for (let at = this.next; at !== undefined && at <= now; at = this.next) {
      const { id } = this.#heap[0] as { id: string };
      due.push(id);
      this.#times.delete(id);
    }
    return due;
  }

  ids(): Iterable<string> {
    return this.#times.keys();
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      let least = index;
      if (left < heap.length && this.#at(left) < this.#at(least)) least = left;
      if (right < heap.length && this.#at(right) < this.#at(least)) least = right;
      if (least === index) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Infinity;
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    const [first, second] = [heap[one], heap[other]];
    if (!first || !second) return;
    heap[one] = second;
    heap[other] = first;
  }
}

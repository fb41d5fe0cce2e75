/** Keeps the first `limit` of any number of items, in the order of `compare`, in memory for twice as many. */
export class FirstItems<Item> {
  #items: Item[] = [];

  readonly #limit: number;
  readonly #compare: (a: Item, b: Item) => number;

  constructor(limit: number, compare: (a: Item, b: Item) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  add(item: Item): void {
    if (this.#items.push(item) >= 2 * this.#limit + 1) this.#items = this.sorted();
  }

  sorted(): Item[] {
    return this.#items.sort(this.#compare).slice(0, this.#limit);
  }
}

/** Keeps the first `limit` of any number of items, in the order of `compare`, in memory for twice as many. */
export class FirstItems<Item> {
  #items: Item[] = [];

  constructor(
    private readonly limit: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

  add(item: Item): void {
    if (this.#items.push(item) >= 2 * this.limit + 1) this.#items = this.sorted();
  }

  sorted(): Item[] {
    return this.#items.sort(this.compare).slice(0, this.limit);
  }
}

import { COST, type Work } from "./work.js";

/** Equality of JSON values. */
export function isDeepEqual(a: unknown, b: unknown, work: Work): boolean {
  work.spend(COST.item);
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isDeepEqual(item, b[index], work));
  }
  const keys = Object.keys(a);
  const otherKeys = Object.keys(b);
  work.spend((keys.length + otherKeys.length) * COST.property);
  if (keys.length !== otherKeys.length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isDeepEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], work),
  );
}

/**
 * A set of JSON values, compared by their JSON text: the cost of a look-up depends on the size of the value, not of the
 * set.
 */
export class ValueSet {
  readonly #scalars = new Set<unknown>();
  readonly #objects = new Set<string>();
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  has(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return this.#scalars.has(value);
    return this.#objects.size > 0 && this.#objects.has(this.#textOf(value));
  }

  /** Whether the value is new. */
  add(value: unknown): boolean {
    const isScalar = typeof value !== "object" || value === null;
    const [values, key] = isScalar
      ? [this.#scalars, value]
      : [this.#objects as Set<unknown>, this.#textOf(value)];
    const before = values.size;
    return values.add(key).size > before;
  }

  /** JSON text with sorted keys: the same for equal values. */
  #textOf(value: unknown): string {
    this.#work.spend(1 + (typeof value === "string" ? value.length * COST.character : 0));
    if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
    if (Array.isArray(value)) return `[${value.map((item) => this.#textOf(item)).join()}]`;
    const keys = Object.keys(value).sort();
    const entries = keys.map(
      (key) => `${JSON.stringify(key)}:${this.#textOf((value as Record<string, unknown>)[key])}`,
    );
    return `{${entries.join()}}`;
  }
}

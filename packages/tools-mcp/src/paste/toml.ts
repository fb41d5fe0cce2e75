/** What follows a value or a key: comments and white space, line ends included only inside brackets. */
const SPACE = /(?:[ \t]|#[^\n]*)*/y;
const SPACE_AND_LINES = /(?:[ \t\r\n]|#[^\n]*)*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC_STRING = /"(?:\\.|[^"\\\n])*"/y;
const LITERAL_STRING = /'[^'\n]*'/y;
const PLAIN_VALUE = /true|false|[+-]?\d[\d_]*(?:\.\d+)?/y;

type Table = Record<string, unknown>;

/**
 * Reads the part of TOML in which servers are written: tables, strings, numbers, booleans, lists and inline tables.
 * Throws with the line for anything else.
 */
export function parseToml(text: string): Record<string, unknown> {
  return new TomlReader(text).read();
}

class TomlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Table {
    const root = emptyTable();
    let table = root;
    for (;;) {
      this.#skip(SPACE_AND_LINES);
      if (this.#at === this.#text.length) return root;
      if (this.#take("[")) {
        table = this.#keys().reduce((parent, key) => this.#below(parent, key), root);
        this.#expect("]");
      } else this.#entry(table);
      this.#skip(SPACE);
      if (this.#at < this.#text.length && !/[\r\n]/.test(this.#peek())) throw this.#problem("a new line");
    }
  }

  /** `key = value`, where `a.b = value` is an entry of the table `a`. */
  #entry(table: Table): void {
    const keys = this.#keys();
    this.#expect("=");
    this.#skip(SPACE);
    const last = keys.pop() ?? "";
    keys.reduce((parent, key) => this.#below(parent, key), table)[last] = this.#value();
  }

  #below(parent: Table, key: string): Table {
    parent[key] ??= emptyTable();
    const child = parent[key];
    if (typeof child !== "object" || Array.isArray(child)) throw this.#problem("another name");
    return child as Table;
  }

  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#skip(SPACE);
      const key = this.#match(BARE_KEY) ?? this.#string();
      if (key === undefined) throw this.#problem("a name");
      keys.push(key);
      this.#skip(SPACE);
    } while (this.#take("."));
    return keys;
  }

  #value(): unknown {
    const text = this.#string();
    if (text !== undefined) return text;
    if (this.#take("[")) return this.#list("]", () => this.#value());
    if (this.#take("{")) {
      const table = emptyTable();
      this.#list("}", () => this.#entry(table));
      return table;
    }
    const plain = this.#match(PLAIN_VALUE);
    if (plain === undefined) throw this.#problem("a value");
    return plain === "true" || plain === "false" ? plain === "true" : Number(plain.replaceAll("_", ""));
  }

  #list<T>(end: "]" | "}", item: () => T): T[] {
    const items: T[] = [];
    for (;;) {
      this.#skip(SPACE_AND_LINES);
      if (this.#take(end)) return items;
      items.push(item());
      this.#skip(SPACE_AND_LINES);
      if (!this.#take(",") && this.#peek() !== end) throw this.#problem(`"," or "${end}"`);
    }
  }

  #string(): string | undefined {
    const literal = this.#match(LITERAL_STRING);
    if (literal !== undefined) return literal.slice(1, -1);
    const basic = this.#match(BASIC_STRING);
    if (basic === undefined) return undefined;
    try {
      return JSON.parse(basic);
    } catch {
      throw this.#problem("a string");
    }
  }

  #skip(pattern: RegExp): void {
    this.#match(pattern);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    this.#skip(SPACE);
    if (!this.#take(character)) throw this.#problem(`"${character}"`);
  }

  #problem(wanted: string): Error {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    return new Error(`This is not TOML that is understood here: line ${line} needs ${wanted}.`);
  }
}

/** Without a prototype: a pasted name may be any word. */
function emptyTable(): Table {
  return Object.create(null);
}

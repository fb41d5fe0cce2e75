import { arrayOf, checkFunction, checkObject, invalidArgument } from "../../toolkit/hostOptions/checks.js";

const checkItems = arrayOf("objects");
// A longer text, such as an image's, is written anew each time: keeping it would hold it in memory twice.
const MAX_KEPT_CHARACTERS = 64 * 1024;

/** JSON text, with whatever else its maker wants to know about it later. */
export interface JsonText {
  readonly text: string;
}

/**
 * JSON text of objects that never change, such as messages: each request repeats the whole conversation, and writing
 * all of it anew takes longer the longer it gets. Keeps no object alive.
 */
export class JsonTexts<Source extends object, Made extends JsonText = JsonText> {
  readonly #known = new WeakMap<Source, { readonly of: string; readonly made: Made }>();

  /** What `make` made of `source` before, or makes now. `of` says what else it depends on. */
  get(source: Source, make: () => Made, of = ""): Made {
    checkFunction("make", make);
    if (typeof source !== "object" || source === null) throw invalidArgument("source", "an object", source);
    const known = this.#known.get(source);
    if (known !== undefined && known.of === of) return known.made;
    const made = make();
    if (made.text.length <= MAX_KEPT_CHARACTERS) this.#known.set(source, { of, made });
    return made;
  }
}

/** The body of a request: `fields`, and after them, in their order, fields that are JSON text already. */
export function jsonBody(fields: object, texts: Readonly<Record<string, string | undefined>>): string {
  checkObject("fields", fields);
  checkObject("texts", texts);
  let body = JSON.stringify(fields).slice(0, -1);
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined) body += `${body === "{" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `${body}}`;
}

/** Objects as JSON text, separated by commas: what stands between the brackets of a list. */
export function jsonItems(items: readonly object[]): string {
  checkItems("items", items);
  return items.map((item) => JSON.stringify(item)).join(",");
}

import { arrayOf, checkObject, checkText, invalidArgument } from "../../toolkit/hostOptions/checks.js";

const checkItems = arrayOf("objects");
// A longer text, such as an image, is serialised for each request: caching it would hold it in memory twice.
const MAX_KEPT_CHARACTERS = 64 * 1024;

/** JSON text; a caller extends it with what it wants to remember about the text. */
export interface JsonText {
  readonly text: string;
}

/**
 * A cache of the JSON text of immutable objects, such as messages: each request repeats the whole conversation, and
 * serialising all of it takes longer the longer it gets. Keeps no object alive.
 *
 * @example
 * ```ts
 * import type { ChatMessage } from "@agent/core";
 * import { JsonTexts } from "@agent/core/provider";
 *
 * const texts = new JsonTexts<ChatMessage>();
 * const textOf = (message: ChatMessage) => texts.get(message) ?? texts.keep(message, JSON.stringify(message));
 * ```
 */
export class JsonTexts<Source extends object, Written extends string | JsonText = string> {
  readonly #kept = new WeakMap<Source, { readonly of: string; readonly written: Written }>();

  /** The text kept for `source`. `undefined` if there is none, or if `of`, its other dependency, has changed. */
  get(source: Source, of = ""): Written | undefined {
    checkSource(source);
    const kept = this.#kept.get(source);
    return kept?.of === of ? kept.written : undefined;
  }

  /** Keeps the text and returns it. */
  keep(source: Source, written: Written, of = ""): Written {
    checkSource(source);
    const text = textOf(written);
    checkText("written", text);
    if (text.length <= MAX_KEPT_CHARACTERS) this.#kept.set(source, { of, written });
    return written;
  }
}

function textOf(written: string | JsonText): string {
  return typeof written === "object" ? written?.text : written;
}

function checkSource(source: object): void {
  if (typeof source !== "object" || source === null) throw invalidArgument("source", "an object", source);
}

/** The body of a request: `fields` first, then `texts`, whose values are JSON text already. */
export function jsonBody(fields: object, texts: Readonly<Record<string, string | undefined>>): string {
  checkObject("fields", fields);
  checkObject("texts", texts);
  let body = JSON.stringify(fields).slice(0, -1);
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined) body += `${body === "{" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `${body}}`;
}

/** Objects as JSON text, separated by commas: the inside of a JSON array. */
export function jsonItems(items: readonly object[]): string {
  checkItems("items", items);
  return items.map((item) => JSON.stringify(item)).join(",");
}

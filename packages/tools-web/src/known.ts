import { createHash } from "node:crypto";
import type { PackHost, ToolContext } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { canonicalUrl } from "./network/url.js";

const MAX_REMEMBERED = 20_000;
const MAX_KEPT = 1000;
const MAX_MESSAGE = 200_000;
const MAX_CUTS = 3;
const MAX_ADDRESS = 8192;
const WITH_SCHEME = /https?:\/\/[^\s<>"'`|\\^{}]+/gi;
const BARE =
  /(?:^|[\s<>"'`(|[])((?:[a-z0-9-]{1,63}\.){1,8}[a-z0-9-]{2,63}(?::\d{1,5})?(?:\/[^\s<>"'`|\\^{}]*)?)/gi;
const TRAILING = /[.,;:!?'"*_~…»”’]+$/;

type Message = ToolContext["sessionContext"][number];

/**
 * The URLs that may be fetched without asking in auto mode: those that the user wrote, that a search returned, and that
 * a fetched page links to on its own host. All were fixed before the model could put data into them.
 */
export class KnownAddresses {
  readonly #context: Pick<ToolContext, "sessionContext"> | undefined;
  readonly #state: PackHost["state"];
  readonly #found = new Set<string>();
  /** Those of them that a search returned. */
  readonly #results = new Set<string>();
  // Messages never change, so each is searched once.
  readonly #written = new WeakMap<Message, ReadonlySet<string>>();

  constructor(context: Pick<ToolContext, "sessionContext"> | undefined, state: PackHost["state"]) {
    this.#context = context;
    this.#state = state;
  }

  /** Adds canonical URLs. */
  add(addresses: readonly string[]): void {
    const keys = addresses.map(keyOf);
    for (const key of keys) {
      // The oldest are dropped first: they are asked about again.
      this.#found.delete(key);
      this.#found.add(key);
    }
    for (const oldest of this.#found) {
      if (this.#found.size <= MAX_REMEMBERED) break;
      this.#found.delete(oldest);
    }
    this.#keep(keys);
  }

  /** Adds canonical URLs that a search returned. */
  addResults(addresses: readonly string[]): void {
    for (const address of addresses.slice(-MAX_KEPT)) this.#results.add(keyOf(address));
    for (const oldest of this.#results) {
      if (this.#results.size <= MAX_KEPT) break;
      this.#results.delete(oldest);
    }
    this.add(addresses);
  }

  /** Whether a search returned it: such addresses often lead to the page by a redirect. */
  isResult(url: URL): boolean {
    return this.#results.has(keyOf(url.href));
  }

  has(url: URL): boolean {
    const key = keyOf(url.href);
    return this.#found.has(key) || this.#isWritten(key) || this.#kept().includes(digest(key));
  }

  /** Stores the newest URLs with the session, so that they are known when it is resumed. */
  #keep(keys: readonly string[]): void {
    if (this.#state === undefined) return;
    const kept = new Set(this.#kept());
    const before = kept.size;
    for (const key of keys.slice(-MAX_KEPT)) kept.add(digest(key));
    if (kept.size > before) this.#state.set({ addresses: [...kept].slice(-MAX_KEPT) });
  }

  #kept(): readonly unknown[] {
    const value = this.#state?.get();
    return isRecord(value) && Array.isArray(value.addresses) ? value.addresses : [];
  }

  /** Whether the user wrote it. Messages that a program wrote, such as summaries, may contain text of the model. */
  #isWritten(key: string): boolean {
    for (const message of this.#context?.sessionContext ?? []) {
      if (message.role !== "user" || message.generated || message.from !== undefined) continue;
      let keys = this.#written.get(message);
      if (keys === undefined) {
        keys = addressesIn(message.content);
        this.#written.set(message, keys);
      }
      if (keys.has(key)) return true;
    }
    return false;
  }
}

/** Normalises the spellings of one URL: HTTP or HTTPS, with or without a trailing slash. */
function keyOf(href: string): string {
  const key = href.slice(href.indexOf("//") + 2);
  const query = key.indexOf("?");
  const end = query === -1 ? key.length : query;
  return key[end - 1] === "/" ? key.slice(0, end - 1) + key.slice(end) : key;
}

/** A short form for the session's file, which gets a new list with each page. */
function digest(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 12);
}

function addressesIn(content: Extract<Message, { role: "user" }>["content"]): ReadonlySet<string> {
  // What the user typed comes first. Files, outputs of commands and notes follow it, and the model may have written them.
  const typed = typeof content === "string" ? content : content.find((part) => part.type === "text")?.text;
  const searched = (typed ?? "").slice(0, MAX_MESSAGE);
  const keys = new Set<string>();
  const add = (address: string): void => {
    const href = canonicalUrl(address);
    if (href !== undefined) keys.add(keyOf(href));
  };
  const whole = Array.from(searched.matchAll(WITH_SCHEME), ([address]) => address);
  const bare = Array.from(searched.matchAll(BARE), ([, address]) => `https://${address}`);
  for (const address of [...whole, ...bare]) {
    // No longer one can be fetched.
    if (address.length > MAX_ADDRESS) continue;
    // A sentence or a bracket may end after a URL: "(see https://example.com/a)."
    for (let rest = address, cuts = 0; cuts < MAX_CUTS && rest !== ""; cuts++) {
      add(rest);
      rest = rest.replace(TRAILING, "");
      add(rest);
      rest = /[)\]]$/.test(rest) ? rest.slice(0, -1) : "";
    }
  }
  return keys;
}

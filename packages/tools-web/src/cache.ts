import type { Page } from "./page/readPage.js";

const MAX_AGE_MS = 15 * 60 * 1000;
const MAX_BYTES = 24 * 1024 * 1024;

export interface FetchedPage extends Page {
  readonly url: string;
  readonly status: number;
  /** Bytes of the body that were read, and what the rest of it is, if there is more. */
  readonly bytes: number;
  readonly rest?: string;
  readonly fetchedAt: number;
}

/** The pages of a session, so that continued reading does not fetch again. Limited in time and size. */
export class PageCache {
  readonly #pages = new Map<string, FetchedPage>();
  #bytes = 0;

  get(url: string, now = Date.now()): FetchedPage | undefined {
    const page = this.#pages.get(url);
    if (page === undefined || now - page.fetchedAt <= MAX_AGE_MS) return page;
    this.#remove(url);
    return undefined;
  }

  set(url: string, page: FetchedPage): void {
    this.#remove(url);
    this.#pages.set(url, page);
    this.#bytes += sizeOf(page);
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest);
    }
  }

  #remove(url: string): void {
    const page = this.#pages.get(url);
    if (page === undefined) return;
    this.#pages.delete(url);
    this.#bytes -= sizeOf(page);
  }
}

function sizeOf({ text, part, links }: FetchedPage): number {
  const data = part && part.type !== "text" ? part.data.length : 0;
  return 2 * text.length + data + links.reduce((sum, link) => sum + link.length, 0);
}

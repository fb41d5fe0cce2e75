import { isRecord } from "@agent/internal";
import { checkFunction, checkObject, checkSignal, checkText } from "../../toolkit/hostOptions/checks.js";
import type { ModelInfo } from "../factory.js";
import type { HttpEndpoint } from "./endpoint.js";
import { AttemptError } from "./retry.js";

// Far beyond any real list; a server may offer next pages forever.
const MAX_PAGES = 50;
const MAX_MODELS = 10_000;

/** How a server lists its models: the paths of its pages and their content. */
export interface ModelPages {
  /** The path of the first page. */
  readonly first: string;
  /** The models on a page. */
  read(page: Readonly<Record<string, unknown>>): readonly ModelInfo[];
  /** The path of the page after this one, if there is one. */
  next?(page: Readonly<Record<string, unknown>>): string | undefined;
}

/** Reads all pages of a server's list of models. Rejects as `HttpEndpoint.attempts` does. */
export async function listModelPages(
  endpoint: HttpEndpoint,
  pages: ModelPages,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelInfo[]> {
  checkObject("endpoint", endpoint);
  checkFunction("endpoint.attempts", endpoint.attempts);
  checkObject("pages", pages);
  checkText("pages.first", pages.first);
  checkFunction("pages.read", pages.read);
  checkSignal("signal", signal);
  const models: ModelInfo[] = [];
  const read = new Set<string>();
  let path: string | undefined = pages.first;
  // A server may offer the same next page forever.
  while (path !== undefined && !read.has(path) && read.size < MAX_PAGES) {
    const address: string = path;
    read.add(address);
    const page = await endpoint.attempts(
      { signal },
      async (idle) =>
        readPage(pages, await endpoint.readJson(await endpoint.open(address, undefined, idle), idle)),
      "list its models",
    );
    for (const model of page.models) models.push(model);
    path = page.next;
  }
  return models;
}

function readPage(
  pages: ModelPages,
  page: unknown,
): { readonly models: readonly ModelInfo[]; readonly next: string | undefined } {
  if (!isRecord(page)) return { models: [], next: undefined };
  const models = pages.read(page);
  if (models.length <= MAX_MODELS) return { models, next: pages.next?.(page) };
  throw new AttemptError(`a page of the list has ${models.length} models`, { retryable: false });
}

/** The objects in `list`; other items are left out. Empty if `list` is not an array. */
export function recordsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

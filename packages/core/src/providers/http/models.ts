import { isRecord } from "@agent/internal";
import type { ModelInfo } from "../factory.js";
import type { HttpEndpoint } from "./endpoint.js";

// Far beyond any list; a server that never ends its pages must not keep anybody waiting.
const MAX_PAGES = 50;

/** How one server lists its models: which pages there are, and what a page holds. */
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
  { first, read, next }: ModelPages,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelInfo[]> {
  const models: ModelInfo[] = [];
  let path: string | undefined = first;
  for (let pages = 0; path !== undefined && pages < MAX_PAGES; pages++) {
    const address: string = path;
    const page = await endpoint.attempts(
      { signal },
      async (idle) => endpoint.readJson(await endpoint.open(address, undefined, idle), idle),
      "list its models",
    );
    if (!isRecord(page)) break;
    models.push(...read(page));
    path = next?.(page);
  }
  return models;
}

/** The objects of a list that may hold anything, or be none. */
export function recordsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

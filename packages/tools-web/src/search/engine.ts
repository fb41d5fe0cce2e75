export interface SearchResult {
  readonly url: string;
  readonly title: string;
  /** A part of the page, or a summary. */
  readonly text?: string;
  readonly date?: string;
}

export interface SearchRequest {
  /** The maximum number of results. */
  readonly count: number;
  /** Only pages of this host and its subdomains. */
  readonly site?: string;
  readonly signal: AbortSignal;
}

/** A search engine. */
export interface SearchEngine {
  /** Named in every result, so that the user knows who saw the query. */
  readonly name: string;
  /** The host that queries are sent to, for rules such as `net.fetch(api.example.com)`. */
  readonly url?: string;
  search(query: string, request: SearchRequest): Promise<readonly SearchResult[]>;
}

/**
 * The part of an AI SDK language model that is used. Versions 2, 3 and 4 of its specification have it. A structural type,
 * so that this package does not depend on the types of the AI SDK.
 */
export interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // biome-ignore lint/suspicious/noExplicitAny: each version types the options its own way; `unknown` would fit none.
  doGenerate(options: any): PromiseLike<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  doStream(options: any): PromiseLike<ModelStream>;
}

interface ModelStream {
  readonly stream: ReadableStream<unknown>;
  readonly response?: unknown;
}

export const VERSIONS: readonly string[] = ["v2", "v3", "v4"];

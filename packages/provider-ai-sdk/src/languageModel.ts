/**
 * The part of an AI SDK language model that is used, by shape: versions 2, 3 and 4 of its specification have it, and
 * the AI SDK's own types stay with whoever brings the model.
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

import type { ChatProvider, ChatRequest, ChatResponse, Effort, ModelPrice } from "@agent/core";

/** A provider that can be replaced between two messages, for `/model`. It describes itself as the current one. */
export class SwitchableProvider implements ChatProvider {
  #current: ChatProvider;

  constructor(first: ChatProvider) {
    this.#current = first;
  }

  get id(): string | undefined {
    return this.#current.id;
  }

  get model(): string {
    return this.#current.model ?? "unknown";
  }

  get contextTokens(): number | undefined {
    return this.#current.contextTokens;
  }

  get price(): ModelPrice | undefined {
    return this.#current.price;
  }

  get efforts(): readonly Effort[] | undefined {
    return this.#current.efforts;
  }

  get nativeOutput(): boolean | undefined {
    return this.#current.nativeOutput;
  }

  use(provider: ChatProvider): void {
    this.#current = provider;
  }

  accepts(mediaType: string): boolean {
    return this.#current.accepts?.(mediaType) ?? false;
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return this.#current.respond(request);
  }
}

import type { ChatProvider, ChatRequest, ChatResponse } from "@agent/core";

/** A provider that can be exchanged between two messages, for `/model`. */
export class SwitchableProvider implements ChatProvider {
  #current: ChatProvider;

  constructor(first: ChatProvider) {
    this.#current = first;
  }

  get model(): string {
    return this.#current.model ?? "unknown";
  }

  use(provider: ChatProvider): void {
    this.#current = provider;
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return this.#current.respond(request);
  }
}

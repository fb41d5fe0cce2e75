import type { AnyMessage } from "@agentclientprotocol/sdk";

type Id = string | number | null;

/** Maps request ids: several programs count their requests from 0, and the editor needs unique ids. */
export class RequestIds<Owner> {
  readonly #asked = new Map<string, { readonly owner: Owner; readonly id: Id }>();
  #count = 0;

  /** The owner's request with a new id that is unique for the editor. */
  outgoing(owner: Owner, message: AnyMessage & { readonly id: Id }): AnyMessage {
    const id = `r${++this.#count}`;
    this.#asked.set(id, { owner, id: message.id });
    return { ...message, id } as AnyMessage;
  }

  /** The editor's response with the id that its owner used; `undefined` for an unknown id. */
  incoming(message: AnyMessage & { readonly id: Id }): { owner: Owner; message: AnyMessage } | undefined {
    const asked = this.#asked.get(String(message.id));
    if (!asked) return undefined;
    this.#asked.delete(String(message.id));
    return { owner: asked.owner, message: { ...message, id: asked.id } as AnyMessage };
  }

  /** The editor's id of a request that its owner cancels. */
  find(owner: Owner, id: unknown): string | undefined {
    for (const [number, asked] of this.#asked) if (asked.owner === owner && asked.id === id) return number;
    return undefined;
  }

  forget(owner: Owner): void {
    for (const [number, asked] of this.#asked) if (asked.owner === owner) this.#asked.delete(number);
  }
}

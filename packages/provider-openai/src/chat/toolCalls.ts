import type { ChatRequest, ChatToolCall } from "@agent/core";
import { type AnswerLimits, callId, callName, jsonText } from "@agent/core/provider";

/** A call or a piece of one. Compatible servers may leave out any field. */
export interface WireToolCall {
  readonly index?: number | null;
  readonly id?: unknown;
  readonly type?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  /** Fields that are not part of the API, such as Gemini's signature in `extra_content`. */
  readonly [field: string]: unknown;
}

interface PartialCall {
  readonly position: number;
  id: string;
  name: string;
  arguments: string;
  own: Record<string, unknown> | null;
}

/** Assembles tool calls from pieces. Accepts servers that leave out ids, indexes or both. */
export class ToolCallAssembly {
  readonly #calls: PartialCall[] = [];
  /** The last call of each index. A map, because searching all calls for each piece would take quadratic time. */
  readonly #byIndex = new Map<number, PartialCall>();
  readonly #limits: AnswerLimits;
  readonly #onDraft: ChatRequest["onToolDraft"];

  constructor(limits: AnswerLimits, onDraft: ChatRequest["onToolDraft"]) {
    this.#limits = limits;
    this.#onDraft = onDraft;
  }

  get size(): number {
    return this.#calls.length;
  }

  add({ index, id: rawId, type: _, function: called, ...own }: WireToolCall): void {
    const id = callId(rawId);
    const name = callName(called?.name);
    const text = argumentText(called?.arguments);
    this.#limits.addCharacters(text.length);
    const call = this.#find(index ?? undefined, id, name) ?? this.#open(index ?? undefined);
    call.id ||= id;
    call.name ||= name;
    call.arguments += text;
    if (Object.keys(own).length > 0) {
      this.#limits.addCharacters(jsonText(own).length);
      call.own = { ...call.own, ...own };
    }
    this.#onDraft?.({ index: call.position, name: call.name, delta: text });
  }

  #open(index: number | undefined): PartialCall {
    this.#limits.addCall();
    const call = { position: this.#calls.length, id: "", name: "", arguments: "", own: null };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The call a piece belongs to: the same index, unless a new id together with a name starts another one. */
  #find(index: number | undefined, id: string, name: string): PartialCall | undefined {
    const known = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (!known || name === "" || known.name === "") return known;
    const startsAnother = id === "" ? index === undefined : id !== known.id;
    return startsAnother ? undefined : known;
  }

  finished(): ChatToolCall[] {
    return this.#calls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
  }

  /** The fields of each call that are not part of the API, or `undefined` if no call has any. */
  ownFields(): (Readonly<Record<string, unknown>> | null)[] | undefined {
    const fields = this.#calls.map(({ own }) => own);
    return fields.some((own) => own !== null) ? fields : undefined;
  }
}

/** Some servers send the arguments as an object where the API says text. */
function argumentText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(value);
}

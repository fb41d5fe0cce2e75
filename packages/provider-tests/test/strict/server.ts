import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProviderDialect, SampleAnswer } from "@agent/testing";
import { type Fields, Refusal, type Signed, type StrictRequest } from "./rules.js";

const TOKENS_AN_ITEM = 100;

/** A piece of a prompt, in the order the model reads it, and whether it has a cache breakpoint. */
export interface PromptItem {
  readonly text: string;
  readonly isMarked: boolean;
}

/** One API with all rules of its server. */
export interface StrictWire {
  readonly name: string;
  readonly dialect: ProviderDialect;
  /** Throws a `Refusal` for a request that the real server refuses. */
  check(request: StrictRequest, signed: Signed): void;
  /** The pieces of the prompt that the prompt cache compares. */
  prompt(body: Fields): readonly PromptItem[];
  /** Whether the cache stores only prefixes that end at a breakpoint. */
  readonly cachesMarked: boolean;
  /** The prefix of the server's call ids. */
  readonly idPrefix: string;
  /** The header that holds the key, and the prefix before the key. */
  readonly keyHeader: readonly [name: string, prefix: string];
  /** The status of a wrong key: Google answers 400. */
  readonly keyRefusal: number;
  /** The response of the model list, with one model of this id. */
  models(id: string): object;
}

export interface StrictServer {
  readonly baseURL: string;
  readonly requests: readonly StrictRequest[];
  readonly refusals: readonly string[];
  /** For each answered request, how many of its tokens came from the cache. */
  readonly cached: readonly number[];
  close(): Promise<void>;
}

/**
 * A server that refuses what the real one refuses, caches prompts, and plays a model that calls `tool` twice for each
 * question, signing every answer, and then answers. If `key` is given, it refuses every other key. With `cutsFirst` the
 * first answer reaches its length limit while the model still thinks.
 */
export async function startStrictServer(
  wire: StrictWire,
  {
    key,
    tool = "look_up",
    cutsFirst = false,
  }: { readonly key?: string; readonly tool?: string; readonly cutsFirst?: boolean } = {},
): Promise<StrictServer> {
  const requests: StrictRequest[] = [];
  const refusals: string[] = [];
  const cached: number[] = [];
  const signed = new Set<string>();
  const cache = new PromptCache(wire.cachesMarked);
  let answers = 0;

  const next = (usage: NonNullable<SampleAnswer["usage"]>, isStructured: boolean): SampleAnswer => {
    const number = answers++;
    const signature = `signed+by/${wire.name}==${number}`;
    signed.add(signature);
    const thought = { reasoning: `Thought ${number}.`, signature, usage };
    if (cutsFirst && number === 0) return { ...thought, finish: "length" };
    const text = `Answer ${number}.`;
    if (number % 3 === 2) return { ...thought, text: isStructured ? JSON.stringify({ answer: text }) : text };
    const call = { id: `${wire.idPrefix}_${number}`, name: tool, args: { path: `file${number}` } };
    return { ...thought, text: `Looking ${number}.`, calls: [call] };
  };

  const server = createServer(async (message, response) => {
    let text = "";
    for await (const part of message.setEncoding("utf8")) text += part;
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const [header, prefix] = wire.keyHeader;
    if (key !== undefined && message.headers[header] !== `${prefix}${key}`) {
      const words = `API key not valid: ${String(message.headers[header])}`;
      reply(wire.keyRefusal, wire.dialect.error(words));
      return;
    }
    if (message.method === "GET") {
      reply(200, wire.models("m"));
      return;
    }
    const request = { url: message.url ?? "", headers: message.headers, body: JSON.parse(text) as Fields };
    requests.push(request);
    try {
      wire.check(request, signed);
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof SyntaxError)) throw error;
      refusals.push(error.message);
      reply(400, wire.dialect.error(error.message));
      return;
    }
    const items = wire.prompt(request.body);
    const hits = cache.read(items) * TOKENS_AN_ITEM;
    cache.write(items);
    cached.push(hits);
    const isStructured = /"(json_schema|responseJsonSchema)"/.test(text);
    const answer = next({ input: items.length * TOKENS_AN_ITEM, output: 7, cached: hits }, isStructured);
    const isStream = wire.dialect.isStream?.(request) ?? request.body.stream === true;
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(
      isStream ? wire.dialect.events(answer).join("") : JSON.stringify(wire.dialect.whole(answer)),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusals,
    cached,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A prompt cache. It stores every prefix, or only prefixes that end at a breakpoint, and then searches near breakpoints. */
class PromptCache {
  readonly #prefixes = new Set<string>();
  readonly #isMarked: boolean;
  static readonly #LOOKBACK = 20;

  constructor(isMarked: boolean) {
    this.#isMarked = isMarked;
  }

  write(items: readonly PromptItem[]): void {
    for (const [index, item] of items.entries()) {
      if (!this.#isMarked || item.isMarked) this.#prefixes.add(prefix(items, index));
    }
  }

  /** How many items at the beginning are in the cache. */
  read(items: readonly PromptItem[]): number {
    for (let index = items.length - 1; index >= 0; index--) {
      const isNear = items.slice(index, index + PromptCache.#LOOKBACK).some(({ isMarked }) => isMarked);
      if ((!this.#isMarked || isNear) && this.#prefixes.has(prefix(items, index))) return index + 1;
    }
    return 0;
  }
}

function prefix(items: readonly PromptItem[], index: number): string {
  return JSON.stringify(items.slice(0, index + 1).map(({ text }) => text));
}

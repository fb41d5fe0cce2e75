import { checkFunction, checkObject, checkRequest } from "../../toolkit/hostOptions/checks.js";
import type { MediaFitter } from "../adapt/media.js";
import { GatheredText } from "../answer/gatheredText.js";
import type { ChatRequest, ChatResponse } from "../interface.js";
import type { HttpEndpoint } from "./endpoint.js";
import type { IdleTimeout } from "./idleTimeout.js";
import { AttemptError } from "./retry.js";

// A server may refuse several fields one after the other. The limit stops a server that refuses everything.
const MOST_LESSONS = 4;

/** The format of one API: how requests are built and answers are read. */
export interface Wire {
  /** Keeps images and files that the server would refuse out of `request`. */
  readonly media?: MediaFitter;
  /** The path below the base URL, and the body as JSON text: `JSON.stringify`, or `jsonBody` for long conversations. */
  request(request: ChatRequest, stream: boolean): { readonly path: string; readonly body: string };
  /** A reader for one answer to `request`. */
  reader(request: ChatRequest): AnswerReader;
  /**
   * Adapts later requests to a refusal, for example by leaving out a field the server does not support. Returns whether
   * it did; then the request is built and sent again immediately.
   */
  learn?(refusal: AttemptError, request: ChatRequest): boolean;
}

/** Reads one answer, whole or in events. Throws an `AttemptError` for one that cannot be used. */
export interface AnswerReader {
  /** The answer of a request that does not stream. */
  whole(answer: unknown): ChatResponse;
  /** Handles one event of a stream. A server that does not stream sends its whole answer as the only event. */
  add(event: unknown): void;
  /**
   * Reads an event without parsing it as JSON, and returns whether it could; otherwise the event is parsed and passed
   * to `add`. For the kind of event that a stream repeats thousands of times: parsing is most of its cost.
   */
  addUnparsed?(data: string): boolean;
  /** The answer after the last event. Throws unless it is complete. */
  end(endMarkCame: boolean): ChatResponse;
}

/**
 * Implements `respond` for a provider on HTTP: sends the request in the format of `wire` and reads the answer, with
 * retries.
 */
export async function askWire(endpoint: HttpEndpoint, wire: Wire, given: ChatRequest): Promise<ChatResponse> {
  checkObject("endpoint", endpoint);
  checkFunction("endpoint.attempts", endpoint.attempts);
  checkObject("wire", wire);
  checkFunction("wire.request", wire.request);
  checkFunction("wire.reader", wire.reader);
  checkRequest(given);
  const request = wire.media?.fit(given) ?? given;
  return await endpoint.attempts(request, async (idle) => {
    const stream = request.onText !== undefined;
    const response = await openLearning(endpoint, wire, request, stream, idle);
    if (!stream) return wire.reader(request).whole(await endpoint.readJson(response, idle));
    const gathered = new GatheredText(request);
    const reader = wire.reader(gathered.request);
    try {
      return reader.end(await endpoint.readStream(response, idle, reader, () => gathered.report()));
    } finally {
      gathered.report();
    }
  });
}

async function openLearning(
  endpoint: HttpEndpoint,
  wire: Wire,
  request: ChatRequest,
  stream: boolean,
  idle: IdleTimeout,
): Promise<Response> {
  for (let lessons = 0; ; lessons++) {
    const { path, body } = wire.request(request, stream);
    try {
      return await endpoint.open(path, body, idle);
    } catch (error) {
      if (!(error instanceof AttemptError) || lessons >= MOST_LESSONS) throw error;
      if (!wire.learn?.(error, request)) throw error;
    }
  }
}

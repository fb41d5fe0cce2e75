import { EventEmitter, once } from "node:events";
import type { ChatAction, ChatEvent } from "../src/events.js";
import { type ChatState, EMPTY_CHAT } from "../src/state/chatState.js";
import { reduceChat } from "../src/state/reduce.js";

/** A page without a browser, over plain HTTP: follows the events, reduces them, and posts actions. */
export class Page {
  readonly #url: string;
  readonly #leave = new AbortController();
  readonly events: ChatEvent[] = [];
  state: ChatState = EMPTY_CHAT;
  readonly #changes = new EventEmitter();
  #ended = false;
  /** Resolves when the server has ended the stream. */
  readonly ended = once(this.#changes, "end");

  private constructor(url: string) {
    this.#url = url;
  }

  /** Resolves once the first event has arrived. */
  static async open(url: string): Promise<Page> {
    const page = new Page(url);
    const response = await fetch(url, { signal: page.#leave.signal });
    if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    void page.#read(response.body);
    await page.until(() => page.events.length > 0);
    return page;
  }

  async post(action: ChatAction | string, headers: Record<string, string> = {}): Promise<Response> {
    return await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof action === "string" ? action : JSON.stringify(action),
    });
  }

  /** Resolves once `condition` holds; rejects if the stream ends first. */
  async until(condition: (state: ChatState) => boolean): Promise<void> {
    while (!condition(this.state)) {
      if (this.#ended) throw new Error(`The stream ended with the state ${JSON.stringify(this.state)}.`);
      await once(this.#changes, "change");
    }
  }

  close(): void {
    this.#leave.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = "";
    try {
      const decoder = new TextDecoder();
      for await (const chunk of body) {
        text += decoder.decode(chunk, { stream: true });
        const records = text.split("\n\n");
        text = records.pop() ?? "";
        for (const record of records.filter((line) => line.startsWith("data: "))) {
          const event = JSON.parse(record.slice("data: ".length)) as ChatEvent;
          this.events.push(event);
          this.state = reduceChat(this.state, event);
        }
        this.#changes.emit("change");
      }
    } catch {
      // The page was closed.
    }
    this.#ended = true;
    this.#changes.emit("change");
    this.#changes.emit("end");
  }
}

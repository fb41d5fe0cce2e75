import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

const PAUSE_MS = 20;

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
}

/**
 * A model server on this machine that follows the last message, one step per line: `call TOOL {json}` (all of them in
 * one turn), `draft TOOL {js` (the start of a call, as it is written), `say TEXT` (and ends), `write TEXT` (and
 * continues), `think TEXT`, `pause FILE` (until it exists), `hang`, `limit SECONDS` (rate limit with this delay),
 * `status CODE BODY`. `then` before a line keeps it for the turn after the calls. Anything else is echoed.
 */
export class ScriptedModel {
  readonly models: string[];
  /** The messages of every request. */
  readonly requests: (readonly WireMessage[])[] = [];
  readonly #server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      if (request.url?.endsWith("/models")) {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ object: "list", data: this.models.map((id) => ({ id })) }));
      } else void this.#respond(JSON.parse(body), response).catch(() => response.destroy());
    });
  });
  #gate: Promise<void> | undefined;

  private constructor(models: readonly string[]) {
    this.models = [...models];
  }

  static async start(models: readonly string[] = ["scripted"]): Promise<ScriptedModel> {
    const model = new ScriptedModel(models);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    running.push(model);
    return model;
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The environment of a program that uses this server. */
  get env(): Record<string, string> {
    return { OPENAI_BASE_URL: this.baseURL, OPENAI_API_KEY: "none", AGENT_MODEL: this.models[0] ?? "" };
  }

  /** The last request as text. */
  get lastRequest(): string {
    return JSON.stringify(this.requests.at(-1) ?? []);
  }

  /** Makes every request wait for its answer until it is released. */
  hold(): { release: () => void } {
    let release = (): void => undefined;
    this.#gate = new Promise((resolve) => {
      release = resolve;
    });
    return { release: () => release() };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #respond(
    body: { messages: WireMessage[]; stream?: boolean },
    response: ServerResponse,
  ): Promise<void> {
    this.requests.push(body.messages);
    await this.#gate;
    const stream = new AnswerStream(response, body.stream === true);
    const calls: string[] = [];
    for (const line of stepsOf(body.messages)) {
      const word = line.split(" ", 1)[0] ?? "";
      const rest = line.slice(word.length + 1);
      if (word === "write" || word === "say") stream.text(decode(rest));
      if (word === "think") stream.delta({ reasoning_content: decode(rest) });
      if (word === "pause") while (!existsSync(rest)) await wait(PAUSE_MS);
      if (word === "hang") return stream.begin();
      if (word === "draft") stream.call(0, rest);
      if (word === "limit") {
        response.writeHead(429, { "retry-after": rest });
        response.end(JSON.stringify({ error: { message: "Too many requests" } }));
        return;
      }
      if (word === "status") {
        const [, code = "500", content = ""] = /^(\d+) ?(.*)$/s.exec(rest) ?? [];
        response.writeHead(Number(code), { "content-type": "text/html" });
        response.end(decode(content));
        return;
      }
      if (word === "call") calls.push(rest);
      if (word === "say") break;
    }
    for (const [index, text] of calls.entries()) stream.call(index, text);
    stream.end(calls.length > 0 ? "tool_calls" : "stop");
  }
}

const running: ScriptedModel[] = [];
afterEach(() => {
  for (const model of running.splice(0)) model.close();
});

/** The steps of this turn: those before the first `then`, after the calls those after it. */
function stepsOf(messages: readonly WireMessage[]): string[] {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const turn = messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const content = textOf(messages[at]?.content);
  const parts = content.split(/^then (?=\w)/m);
  const lines = (parts[turn] ?? "say That is all.").split("\n").filter((line) => line.trim() !== "");
  const isScript = lines.some((line) => /^(call|draft|say|write|think|pause|hang|limit|status)\b/.test(line));
  return isScript ? lines : [`say You said ${JSON.stringify(content)}.`];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const [first] = content.filter((part) => typeof part?.text === "string");
  return first?.text ?? "";
}

/** An answer as server-sent events, or whole if the request does not stream. */
class AnswerStream {
  readonly #response: ServerResponse;
  readonly #isStreamed: boolean;
  #content = "";

  constructor(response: ServerResponse, isStreamed: boolean) {
    this.#response = response;
    this.#isStreamed = isStreamed;
  }

  begin(): void {
    if (this.#response.headersSent || !this.#isStreamed) return;
    this.#response.writeHead(200, { "content-type": "text/event-stream" });
    this.#response.flushHeaders();
  }

  text(text: string): void {
    this.#content += text;
    for (const piece of text.match(/\s*\S+\s*/g) ?? [text]) this.delta({ content: piece });
  }

  /** A tool's name and its arguments. */
  call(index: number, text: string): void {
    const [, name = "", args = "{}"] = /^(\S+) ?(.*)$/s.exec(text) ?? [];
    const call = { id: `call_${randomUUID()}`, type: "function", function: { name, arguments: args } };
    this.delta({ tool_calls: [{ index, ...call }] });
  }

  delta(delta: object, finish: string | null = null): void {
    this.begin();
    if (this.#isStreamed) this.#send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  end(reason: string): void {
    const usage = {
      prompt_tokens: 1234,
      completion_tokens: 56,
      prompt_tokens_details: { cached_tokens: 1000 },
    };
    if (!this.#isStreamed) {
      const message = { role: "assistant", content: this.#content };
      this.#response.setHeader("content-type", "application/json");
      this.#response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: reason }], usage }));
      return;
    }
    this.delta({}, reason);
    this.#send({ choices: [], usage });
    this.#response.end("data: [DONE]\n\n");
  }

  #send(data: object): void {
    this.#response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", ...data })}\n\n`);
  }
}

function decode(text: string): string {
  return text.replaceAll("\\n", "\n");
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

import { isDeepStrictEqual } from "node:util";
import type { ChatMessage, ChatResponse, ChatTool } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import {
  ask,
  type Examination,
  inBothModes,
  outcome,
  type Problem,
  type ProviderCheck,
} from "./examination.js";
import { streamReply } from "./server.js";
import type { SampleAnswer } from "./types.js";

const CALLS = [
  { id: "call_a1", name: "read_file", args: { path: "größe 😀.txt", lines: [1, 2] } },
  { id: "call_b2", name: "list_dir", args: {} },
];
const USAGE = { input: 120, output: 30, cached: 100 };
const SIGNATURE = 'c2lnbmF0dXJl+/=="\\ 1';
const TOOLS: readonly ChatTool[] = CALLS.map(({ name }) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", properties: {} } },
}));

const asksFor: SampleAnswer = { text: "Looking: größer 😀.", calls: CALLS, usage: USAGE };

/** Checks of how a provider reads valid answers. */
export const ANSWER_CHECKS: readonly ProviderCheck[] = [
  {
    id: "answers",
    title: "resolves to the text, the calls in order, the finish reason and the usage of an answer",
    hint: "Return all of the answer; `arguments` is the JSON text of a call's arguments.",
    run: (examination) =>
      inBothModes((mode) =>
        examination.with(
          [examination.reply(asksFor), examination.reply({ text: "Cut", finish: "length" })],
          async (provider, server) => {
            const first = await ask(provider, mode, { tools: TOOLS });
            const [request] = server.requests;
            if (mode === "streaming" && request && !examination.isStream(request)) {
              return [
                { expected: `a request for a stream, by ${streamSign(examination)}`, got: request.text },
              ];
            }
            const second = await ask(provider, mode);
            return [
              ...differences(examination, first.response, outcome(first)),
              ...(second.response?.finishReason === "length" && second.response.content === "Cut"
                ? []
                : [
                    {
                      expected: "an answer cut off by its limit to finish with length",
                      got: outcome(second),
                    },
                  ]),
            ];
          },
        ),
      ),
  },
  {
    id: "streams",
    title: "passes on text and reasoning as they arrive, and only if asked to",
    hint: "Call onText and onReasoning for each piece while it arrives, not once at the end.",
    run: async (examination) => {
      const answer = { text: "One two three four.", reasoning: "Counting.", usage: USAGE };
      const { dialect } = examination.subject;
      const pieces = dialect.events(answer);
      // The server pauses until onText was called: a provider that passes text on only at the end makes it time out.
      const withText = pieces.findIndex((piece) => piece.includes("One"));
      const heard = new Heard();
      const reply = streamReply(pieces, "clean", (at) => (at === withText ? heard.wait() : undefined));
      return await examination.with([reply], async (provider) => {
        const asked = await ask(provider, "streaming", { onText: () => heard.now() });
        const problems: Problem[] = [];
        if (asked.text !== answer.text || asked.response?.content !== answer.text) {
          problems.push({
            expected: `the text ${JSON.stringify(answer.text)} through onText`,
            got: `${JSON.stringify(asked.text)}; ${outcome(asked)}`,
          });
        }
        if (!heard.inTime)
          problems.push({
            expected: "text through onText while the rest of the answer is still to come",
            got: `none within ${PATIENCE_MS} ms`,
          });
        if (dialect.carries?.reasoning !== false && asked.reasoning !== answer.reasoning) {
          problems.push({
            expected: `the reasoning ${JSON.stringify(answer.reasoning)} through onReasoning`,
            got: JSON.stringify(asked.reasoning),
          });
        }
        return problems;
      });
    },
  },
  {
    id: "echoes-state",
    title: "sends the server's state back byte for byte, also after the conversation was saved and loaded",
    hint: "Return it as `state` (a JSON value), give the provider an `id`, and put it into the next request.",
    skip: ({ subject }) =>
      subject.dialect.carries?.signature === false ? "this API has no state" : undefined,
    run: (examination) =>
      inBothModes((mode) =>
        examination.with(
          [
            examination.reply({ ...asksFor, reasoning: "Hm.", signature: SIGNATURE }),
            examination.reply({ text: "Done." }),
          ],
          async (provider, server) => {
            const first = await ask(provider, mode, { tools: TOOLS });
            if (!first.response) return [{ expected: "an answer", got: outcome(first) }];
            if (provider.id === undefined)
              return [{ expected: "a provider with an id", got: "none: its state is never kept" }];
            await ask(provider, mode, { tools: TOOLS, messages: continued(first.response, provider.id) });
            const sent = server.requests.at(-1)?.text ?? "";
            if (sent.includes(JSON.stringify(SIGNATURE).slice(1, -1))) return [];
            return [{ expected: `${SIGNATURE} in the next request`, got: sent.slice(0, 2000) }];
          },
        ),
      ),
  },
  {
    id: "stable-prefix",
    title: "begins each field of a request with the bytes of the previous request, so that prompt caches hit",
    hint: "Only append to the messages; nothing in a request may depend on the time or on chance.",
    run: (examination) =>
      inBothModes((mode) =>
        examination.with(
          [examination.reply({ ...asksFor, signature: SIGNATURE }), examination.reply({ text: "Done." })],
          async (provider, server) => {
            const system: ChatMessage = { role: "system", content: "Be brief." };
            const question: ChatMessage = { role: "user", content: "hello" };
            const first = await ask(provider, mode, { tools: TOOLS, messages: [system, question] });
            if (!first.response) return [{ expected: "an answer", got: outcome(first) }];
            await ask(provider, mode, {
              tools: TOOLS,
              messages: [system, ...continued(first.response, provider.id)],
            });
            const [before = {}, after = {}] = server.requests.map(({ body }) => body);
            return Object.entries(before).flatMap(([field, value]): Problem[] => {
              const [start, whole] = [cacheable(value), cacheable(after[field])];
              if (whole.startsWith(start)) return [];
              return [{ expected: `${field} of the next request to begin with ${start}`, got: whole }];
            });
          },
        ),
      ),
  },
  {
    id: "parallel",
    title: "keeps concurrent requests apart",
    hint: "Hold the state of a request in the request, not in the provider.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const texts = ["first answer", "second answer", "third answer"];
        return await examination.with(
          texts.map((text) => examination.reply({ text })),
          async (provider) => {
            const all = await Promise.all(texts.map(() => ask(provider, mode)));
            const got = all.map(({ response }) => response?.content ?? "").sort();
            const streamed = all.every(({ text, response }) => mode === "JSON" || text === response?.content);
            if (isDeepStrictEqual(got, [...texts].sort()) && streamed) return [];
            return [
              { expected: `the answers ${texts.join(", ")}, each whole`, got: all.map(outcome).join("; ") },
            ];
          },
        );
      }),
  },
];

/** The conversation after an answer with calls, saved to JSON and loaded again as a session does. */
function continued(response: ChatResponse, id: string | undefined): ChatMessage[] {
  const state =
    id !== undefined && response.state !== undefined ? { provider: id, value: response.state } : undefined;
  const messages: ChatMessage[] = [
    { role: "user", content: "hello" },
    {
      role: "assistant",
      content: response.content,
      tool_calls: response.toolCalls,
      ...(state && { state }),
    },
    ...response.toolCalls.map(
      ({ id: call }): ChatMessage => ({ role: "tool", tool_call_id: call, content: "ok" }),
    ),
  ];
  return JSON.parse(JSON.stringify(messages));
}

function streamSign({ subject }: Examination): string {
  return subject.dialect.isStream
    ? "isStream() of the dialect"
    : "stream: true in its body. If this API asks in another way, tell the kit with isStream() of the dialect";
}

function differences({ subject }: Examination, response: ChatResponse | undefined, got: string): Problem[] {
  const problems: Problem[] = [];
  if (response?.content !== asksFor.text)
    problems.push({ expected: `the text ${JSON.stringify(asksFor.text)}`, got });
  const calls = response?.toolCalls.map(({ function: called }) => [called.name, readJson(called.arguments)]);
  if (
    !isDeepStrictEqual(
      calls,
      CALLS.map(({ name, args }) => [name, args]),
    )
  ) {
    problems.push({ expected: `the calls ${JSON.stringify(CALLS)}`, got });
  }
  if (response?.finishReason !== "tool_calls") problems.push({ expected: "to finish with tool_calls", got });
  const { inputTokens, outputTokens, cachedTokens } = response?.usage ?? {};
  const wrongCache = subject.dialect.carries?.cached !== false && cachedTokens !== USAGE.cached;
  if (inputTokens !== USAGE.input || outputTokens !== USAGE.output || wrongCache) {
    problems.push({
      expected: `the usage ${JSON.stringify(USAGE)}, cached tokens being part of the input`,
      got,
    });
  }
  return problems;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The part of a field that a server caches: without cache breakpoints and without the closing brackets at the end. */
function cacheable(field: unknown): string {
  const text = JSON.stringify(field ?? null, (_key, value: unknown) => {
    if (!isRecord(value)) return value;
    const { cache_control: _, ...rest } = value;
    return rest;
  });
  return text.replace(/[\]}]+$/, "");
}

/** How long the server waits for the provider to pass on the first text. A good provider does so immediately. */
const PATIENCE_MS = 5000;

/** Makes the server wait until a provider has passed on something that it received. */
class Heard {
  #isHeard = false;
  #wake: () => void = () => undefined;
  #inTime = true;

  /** False once a wait has timed out. */
  get inTime(): boolean {
    return this.#inTime;
  }

  now(): void {
    this.#isHeard = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (this.#isHeard) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#inTime = false;
        resolve();
      }, PATIENCE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

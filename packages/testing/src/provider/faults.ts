import { isAgentError } from "@agent/core";
import { type Asked, ask, inBothModes, outcome, type Problem, type ProviderCheck } from "./examination.js";
import { jsonReply, type Reply, resetReply, silentReply, streamReply } from "./server.js";
import type { SampleAnswer } from "./types.js";

const FINE: SampleAnswer = { text: "Fine, after all." };
const CALLING: SampleAnswer = {
  text: "Removing.",
  calls: [{ id: "call_1", name: "remove", args: { path: "/tmp/a/long/path", force: true } }],
};
const TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum context length";
const SHORT_MS = 150;
// Far more time than a provider needs to notice, even on a busy machine.
const PATIENCE_MS = 5000;

/** Checks of what a provider does when the server or the connection fails. */
export const FAULT_CHECKS: readonly ProviderCheck[] = [
  {
    id: "whole-or-nothing",
    title: "never resolves to half an answer, wherever the stream is cut",
    hint: "Resolve only after the event that ends an answer; reject when the stream ends before it. askWire passes JSON that comes instead of a stream to add(), as one event.",
    run: async (examination) => {
      const { dialect } = examination.subject;
      const events = dialect.events(CALLING);
      const problems: Problem[] = [];
      const unstreamed = await examination.with(
        [jsonReply(dialect.whole(CALLING))],
        (provider) => ask(provider, "streaming"),
        { maxRetries: 0 },
      );
      if (unstreamed.response && !isWhole(unstreamed)) {
        problems.push({
          expected:
            "the whole answer or a rejection when a server that does not stream sends JSON instead of events",
          got: outcome(unstreamed),
        });
      }
      for (let count = 0; count < events.length; count++) {
        const reply = streamReply(events.slice(0, count), count % 2 === 0 ? "cut" : "clean");
        const asked = await examination.with([reply], (provider) => ask(provider, "streaming"), {
          maxRetries: 0,
        });
        if (asked.response && !isWhole(asked)) {
          problems.push({
            expected: `a rejection after ${count} of ${events.length} events`,
            got: outcome(asked),
          });
        }
      }
      return problems;
    },
  },
  {
    id: "reads-bytes",
    title: "reads a stream however it is cut into bytes and lines",
    hint: "Decode with { stream: true }, accept CRLF, CR and LF, and ignore comments: readEvents does it.",
    run: async (examination) => {
      const { dialect } = examination.subject;
      const text = dialect.events({ text: "größer 😀", calls: CALLING.calls ?? [] }).join("");
      const problems: Problem[] = [];
      for (const ending of ["\n", "\r\n"]) {
        const bytes = Buffer.from(`: a comment\n\n${text}`.replaceAll("\n", ending));
        const pieces = Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
        const asked = await examination.with([streamReply(pieces)], (provider) => ask(provider, "streaming"));
        if (asked.response?.content !== "größer 😀" || asked.response.toolCalls.length !== 1) {
          problems.push({
            expected: `the answer, byte by byte with ${JSON.stringify(ending)}`,
            got: outcome(asked),
          });
        }
      }
      return problems;
    },
  },
  {
    id: "retries",
    title: "asks again after a failure that passes, says so, and waits as long as the server asks",
    hint: "Repeat after 429, 500, 502, 503, 529 and a broken connection, call onRetry before each, obey retry-after.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const passing: [string, Reply][] = [
          ["429 with retry-after", examination.errorReply(429, "slow down", { "retry-after-ms": "5" })],
          ["500", examination.errorReply(500, "oops")],
          [
            "502 that is a web page",
            jsonReply("<html>Bad gateway</html>", 502, { "content-type": "text/html" }),
          ],
          ["503", examination.errorReply(503, "overloaded")],
          ["a reset connection", resetReply],
        ];
        const problems: Problem[] = [];
        for (const [name, reply] of passing) {
          await examination.with([reply, examination.reply(FINE)], async (provider, server) => {
            const asked = await ask(provider, mode);
            if (asked.response?.content !== FINE.text || server.requests.length !== 2) {
              problems.push({
                expected: `an answer with the second request after ${name}`,
                got: `${server.requests.length} requests; ${outcome(asked)}`,
              });
            } else if (asked.retries.length !== 1) {
              problems.push({
                expected: `one call of onRetry after ${name}`,
                got: `${asked.retries.length}`,
              });
            }
          });
        }
        await examination.with([examination.errorReply(500, "oops")], async (provider, server) => {
          const asked = await ask(provider, mode);
          if (!asked.response && server.requests.length === 3) return;
          problems.push({
            expected: "an error after two repetitions of a request that always fails",
            got: `${server.requests.length} requests; ${outcome(asked)}`,
          });
        });
        return problems;
      }),
  },
  {
    id: "fails-in-words",
    title: "rejects immediately with provider_failed and the server's words when asking again cannot help",
    hint: "Throw an AgentError with the code provider_failed and what the server said: statusError and runAttempts do it.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const lasting: [string, Reply, RegExp][] = [
          ["status 400", examination.errorReply(400, "the field x is unknown"), /the field x is unknown/],
          ["status 401", examination.errorReply(401, "no such key"), /no such key/],
          ["status 404", examination.errorReply(404, "no such model"), /no such model/],
          [
            "a web page",
            jsonReply("<!doctype html><title>Welcome</title>", 200, { "content-type": "text/html" }),
            /./,
          ],
        ];
        const problems: Problem[] = [];
        for (const [name, reply, words] of lasting) {
          await examination.with([reply], async (provider, server) => {
            const asked = await ask(provider, mode);
            const isRight = isAgentError(asked.error, "provider_failed") && words.test(asked.error.message);
            if (isRight && server.requests.length === 1) return;
            problems.push({
              expected: `provider_failed after one request for ${name}, matching ${words}`,
              got: `${server.requests.length} requests; ${outcome(asked)}`,
            });
          });
        }
        return problems;
      }),
  },
  {
    id: "error-in-answer",
    title: "rejects for an error that comes with status 200 or in the middle of a stream",
    hint: "Look for the API's error object in every body and every event: bodyError reads it.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const { dialect } = examination.subject;
        const error = dialect.error("the model crashed");
        const events = [...dialect.events(FINE).slice(0, -2), `data: ${JSON.stringify(error)}\n\n`];
        const reply = mode === "JSON" ? jsonReply(error) : streamReply(events);
        const asked = await examination.with([reply], (provider) => ask(provider, mode), { maxRetries: 0 });
        const isRight = isAgentError(asked.error) && /the model crashed/.test(asked.error.message);
        return isRight
          ? []
          : [{ expected: "an AgentError that says: the model crashed", got: outcome(asked) }];
      }),
  },
  {
    id: "overflow",
    title: "rejects with context_overflow when the conversation is too long",
    hint: "Throw an AgentError with the code context_overflow: the agent then shortens the conversation.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const reply = examination.errorReply(400, TOO_LONG);
        const asked = await examination.with([reply], (provider) => ask(provider, mode));
        return isAgentError(asked.error, "context_overflow")
          ? []
          : [{ expected: `context_overflow for ${JSON.stringify(TOO_LONG)}`, got: outcome(asked) }];
      }),
  },
  {
    id: "times-out",
    title: "rejects when the server falls silent, before its answer or within it",
    hint: "Abort a request after timeoutMs without a byte: runAttempts does it.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const { dialect } = examination.subject;
        const half =
          mode === "JSON"
            ? streamReply(["{"], "open")
            : streamReply(dialect.events(FINE).slice(0, 1), "open");
        const problems: Problem[] = [];
        for (const [name, reply] of [
          ["no answer", silentReply],
          ["half an answer", half],
        ] as const) {
          const asked = await examination.with([reply], (provider) => ask(provider, mode, {}, PATIENCE_MS), {
            timeoutMs: SHORT_MS,
            maxRetries: 0,
          });
          if (isAgentError(asked.error, "provider_failed")) continue;
          problems.push({
            expected: `provider_failed after ${SHORT_MS} ms of silence with ${name}`,
            got: outcome(asked),
          });
        }
        return problems;
      }),
  },
];

function isWhole({ response }: Asked): boolean {
  const [call] = response?.toolCalls ?? [];
  if (response?.content !== CALLING.text || !call) return false;
  return call.function.arguments === JSON.stringify(CALLING.calls?.[0]?.args);
}

import { inspect } from "node:util";
import { isAgentError } from "@agent/core";
import { createRedactor } from "@agent/core/provider";
import { ask, inBothModes, KEY, outcome, type Problem, type ProviderCheck } from "./examination.js";
import {
  jsonReply,
  type Reply,
  resetReply,
  ScriptedServer,
  silentReply,
  splitReply,
  streamReply,
} from "./server.js";
import type { SampleAnswer } from "./types.js";

// Also the beginning of the key, in case a message was shortened inside it. It is longer than what the kit's names share.
const KEY_START = KEY.slice(0, 18);
const HUGE_ERROR_BYTES = 4 * 1024 * 1024;
const FINE: SampleAnswer = { text: "Fine, after all." };

/** The key in the encodings in which servers and gateways echo it. */
const ENCODED_KEYS: readonly string[] = [
  KEY,
  KEY.toUpperCase(),
  encodeURIComponent(KEY),
  encodeURIComponent(encodeURIComponent(KEY)),
  [...KEY].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  KEY.replace(/[/+]/g, (character) => `&#${character.charCodeAt(0)};`),
  Buffer.from(`user:${KEY}`).toString("base64"),
  Buffer.from(KEY).toString("base64url"),
  Buffer.from(KEY).toString("hex"),
];

// Titles of a web page in which the key begins at different positions: a summary of the page may end inside the key.
const PAGE_PADDINGS: readonly number[] = [40, 60, 80, 100, 180, 240];

function pageReply(title: string): Reply {
  return jsonReply(`<!doctype html><title>${title}</title>`, 403, { "content-type": "text/html" });
}

/** Checks that a provider can be stopped, and that it leaks no key and no conversation. */
export const SAFETY_CHECKS: readonly ProviderCheck[] = [
  {
    id: "cancels",
    title: "ends immediately on the signal, closes the connection, and sends nothing once it fired",
    hint: "Pass the request's signal to fetch and to every wait, and throw an AgentError with the code aborted.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const problems: Problem[] = [];
        await examination.with([examination.reply(FINE)], async (provider, server) => {
          const asked = await ask(provider, mode, { signal: AbortSignal.abort() });
          if (isAgentError(asked.error, "aborted") && server.requests.length === 0) return;
          problems.push({
            expected: "aborted, and no request",
            got: `${server.requests.length} requests; ${outcome(asked)}`,
          });
        });
        await examination.with([silentReply], async (provider, server) => {
          const controller = new AbortController();
          const asking = ask(provider, mode, { signal: controller.signal });
          await server.firstRequest;
          controller.abort();
          const asked = await asking;
          if (!isAgentError(asked.error, "aborted"))
            problems.push({ expected: "aborted while the server is silent", got: outcome(asked) });
          else await server.requests[0]?.closed;
        });
        await examination.with(
          [examination.errorReply(500, "oops")],
          async (provider) => {
            const controller = new AbortController();
            const asked = await ask(provider, mode, {
              signal: controller.signal,
              onRetry: () => setImmediate(() => controller.abort()),
            });
            if (!isAgentError(asked.error, "aborted"))
              problems.push({ expected: "aborted while waiting to ask again", got: outcome(asked) });
          },
          { retryDelayMs: 60_000 },
        );
        return problems;
      }),
  },
  {
    id: "hides-keys",
    title:
      "has the key in no error, in no reason for a retry and in nothing it shows of itself, in any encoding",
    hint: "Redact with createRedactor before anything is shortened or thrown, and keep the key in a private field.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const { dialect } = examination.subject;
        const redact = createRedactor(() => [KEY, KEY_START]);
        const echoed = `your key ${ENCODED_KEYS.join(", ")}`;
        const replies: Reply[] = [
          examination.errorReply(401, echoed),
          examination.errorReply(500, echoed),
          jsonReply(dialect.error(echoed)),
          jsonReply(`no JSON: ${echoed}`),
          splitReply(401, `your key ${KEY}`),
          ...PAGE_PADDINGS.map((length) => pageReply(`${"x".repeat(length)}${KEY}`)),
          streamReply([`data: ${JSON.stringify(dialect.error(echoed))}\n\n`]),
          (_request, response) => {
            response.writeHead(307, { location: `http://127.0.0.1:1/?key=${encodeURIComponent(KEY)}` }).end();
          },
          resetReply,
        ];
        const problems: Problem[] = [];
        for (const reply of replies) {
          await examination.with([reply], async (provider) => {
            const asked = await ask(provider, mode);
            const error = asked.error as Error;
            const shown = [
              ...asked.retries.map(({ reason }) => reason),
              error?.message,
              error?.stack,
              JSON.stringify(error),
              inspect(error, { depth: 9, showHidden: true }),
              inspect(provider, { depth: 9, showHidden: true }),
              JSON.stringify(provider),
            ].join("\n");
            if (redact(shown) !== shown)
              problems.push({ expected: "no key anywhere", got: redact(shown).slice(0, 500) });
          });
        }
        return problems;
      }),
  },
  {
    id: "stays-on-origin",
    title: "follows no redirect to another origin: it would get the conversation and the key",
    hint: 'Send with fetchSameOrigin, or with redirect: "manual".',
    run: (examination) =>
      inBothModes(async (mode) => {
        const elsewhere = await ScriptedServer.start([examination.reply(FINE)]);
        try {
          const reply: Reply = ({ url }, response) => {
            response.writeHead(307, { location: `${elsewhere.baseURL}${url}` }).end();
          };
          const asked = await examination.with([reply], (provider) => ask(provider, mode));
          if (elsewhere.requests.length === 0 && asked.error !== undefined) return [];
          return [
            {
              expected: "an error, and no request to the other origin",
              got: `${elsewhere.requests.length} requests there; ${outcome(asked)}`,
            },
          ];
        } finally {
          await elsewhere.close();
        }
      }),
  },
  {
    id: "bounds-errors",
    title: "has a bounded message without control characters, also where the server's error is huge",
    hint: "Read only the beginning of an error's body and escape what could control a terminal: statusError does it.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const huge: Reply = (_request, response) => {
          response.writeHead(400);
          response.end("\u001b[2J".repeat(HUGE_ERROR_BYTES / 4));
        };
        const asked = await examination.with([huge], (provider) => ask(provider, mode));
        const { message = "" } = (asked.error ?? {}) as Error;
        if (isAgentError(asked.error) && message.length < 20_000 && !message.includes("\u001b")) return [];
        return [
          {
            expected: "a message of less than 20000 characters without control characters",
            got: message === "" ? outcome(asked) : `${message.length} characters`,
          },
        ];
      }),
  },
  {
    id: "prints-nothing",
    title: "prints nothing, whatever happens",
    hint: "Leave printing to the host; use onNotice for what a user should know.",
    run: (examination) =>
      inBothModes(async (mode) => {
        const replies = [examination.errorReply(500, "oops"), resetReply, examination.reply(FINE)];
        const printed = await whilePrinting(() =>
          examination.with(replies, (provider) => ask(provider, mode)),
        );
        return printed === "" ? [] : [{ expected: "nothing printed", got: printed }];
      }),
  },
];

// An alias, since lint forbids `console`: this file observes the console and prints nothing.
const printer = globalThis.console;

/** The output of the process while `work` ran. */
async function whilePrinting(work: () => Promise<unknown>): Promise<string> {
  let printed = "";
  const streams = [process.stdout, process.stderr];
  const writers = streams.map((stream) => stream.write);
  const methods = ["log", "error", "warn", "info", "debug"] as const;
  const originals = methods.map((name) => printer[name]);
  const keep = (text: unknown): true => {
    printed += String(text);
    return true;
  };
  for (const stream of streams) stream.write = keep as typeof stream.write;
  // A test runner may have replaced these with functions that print elsewhere.
  for (const name of methods) printer[name] = keep;
  try {
    await work();
  } finally {
    for (const [index, stream] of streams.entries()) stream.write = writers[index] ?? stream.write;
    for (const [index, name] of methods.entries()) printer[name] = originals[index] ?? printer[name];
  }
  return printed;
}

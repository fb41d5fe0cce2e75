import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export const ANSWER = "I paid order 7 back: 12 euros.";
/** A program that sends more requests is looping. */
const MOST_REQUESTS = 40;

/** The fault, and when it happens: before anything ran, in the call of the refund, or in the last answer. */
export interface Fault {
  readonly name: string;
  readonly at: "find_order" | "refund" | "answer";
  /** Whether it affects every request until the user tries again, and not only one. */
  readonly lasts?: boolean;
  readonly send?: (response: ServerResponse, body: Body) => void;
  /** Whether the tool itself fails the first time. */
  readonly toolFails?: boolean;
}

type Body = readonly string[];

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", created: 1, model: "model", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (name: string, args: string, count: number): string[] => [
  event({
    role: "assistant",
    content: null,
    tool_calls: [
      { index: 0, id: `c${count}`, type: "function", function: { name, arguments: args.slice(0, 8) } },
    ],
  }),
  event({ tool_calls: [{ index: 0, function: { arguments: args.slice(8) } }] }),
  event({}, "tool_calls"),
  "data: [DONE]\n\n",
];
const say = (answer: string, finish = "stop"): string[] => [
  event({ role: "assistant", content: answer.slice(0, 10) }),
  event({ content: answer.slice(10) }),
  event({}, finish),
  "data: [DONE]\n\n",
];
const status =
  (code: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);
const stream = (response: ServerResponse, body: Body): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const one of body) response.write(one);
};
const instead = (body: (count: number) => Body) => (response: ServerResponse) => {
  stream(response, body(90));
  response.end();
};
const ERROR = JSON.stringify({ error: { message: "The server is overloaded.", type: "server_error" } });

export const FAULTS: readonly Fault[] = [
  { name: "429 with `Retry-After`", at: "find_order", send: status(429, ERROR, { "retry-after": "1" }) },
  { name: "500", at: "find_order", send: status(500, ERROR) },
  {
    name: "502 with a web page",
    at: "find_order",
    send: status(502, "<html>Bad gateway</html>", { "content-type": "text/html" }),
  },
  { name: "503 in the last request", at: "answer", send: status(503, ERROR) },
  {
    name: "the connection breaks before the answer",
    at: "find_order",
    send: (response) => response.socket?.resetAndDestroy(),
  },
  {
    name: "the connection breaks in the text",
    at: "answer",
    send: (response, body) => {
      stream(response, body.slice(0, 1));
      setTimeout(() => response.socket?.resetAndDestroy(), 100);
    },
  },
  {
    name: "the text ends in the middle, without an error",
    at: "answer",
    send: (response, body) => {
      stream(response, body.slice(0, 1));
      response.end();
    },
  },
  {
    name: "the server reports an error in the text",
    at: "answer",
    send: (response, body) => {
      stream(response, [...body.slice(0, 1), `data: ${ERROR}\n\n`]);
      response.end();
    },
  },
  {
    name: "the connection breaks in the arguments of a call",
    at: "refund",
    send: (response, body) => {
      stream(response, body.slice(0, 1));
      setTimeout(() => response.socket?.resetAndDestroy(), 100);
    },
  },
  {
    name: "the call ends in the middle, without an error",
    at: "refund",
    send: (response, body) => {
      stream(response, body.slice(0, 1));
      response.end();
    },
  },
  {
    name: "arguments that are not JSON",
    at: "refund",
    send: instead((count) => call("refund", '{"order": "7"', count)),
  },
  {
    name: "arguments that do not fit the schema",
    at: "refund",
    send: instead((count) => call("refund", '{"number": 7}', count)),
  },
  {
    name: "a tool that does not exist",
    at: "refund",
    send: instead((count) => call("pay_back", '{"order":"7"}', count)),
  },
  { name: "the tool throws", at: "find_order", toolFails: true },
  {
    name: "the answer is cut at the token limit",
    at: "answer",
    send: instead(() => say("I paid order", "length")),
  },
  {
    name: "an empty answer",
    at: "answer",
    send: instead(() => [event({ role: "assistant", content: "" }), event({}, "stop"), "data: [DONE]\n\n"]),
  },
  {
    name: "503 until the user tries again, after the refund",
    at: "answer",
    lasts: true,
    send: status(503, ERROR),
  },
];

/** A chat completions model that looks up order 7, refunds it and reports that, with one fault. */
export async function startFaultyServer({ at, send, lasts = false }: Fault) {
  let requests = 0;
  let isFaulty = send !== undefined;
  const server = createServer(async (request, response) => {
    const seen = await text(request);
    requests++;
    const stage = seen.includes("Paid back") ? "answer" : seen.includes("one tea") ? "refund" : "find_order";
    const body = stage === "answer" ? say(ANSWER) : call(stage, '{"order":"7"}', requests);
    if (requests > MOST_REQUESTS) status(400, JSON.stringify({ error: { message: "Enough." } }))(response);
    else if (stage === at && isFaulty) {
      isFaulty = lasts;
      send?.(response, body);
    } else {
      stream(response, body);
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    recover: () => {
      isFaulty = false;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

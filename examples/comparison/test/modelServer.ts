import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** One answer of the server: a text, a call with its arguments, or an error. */
export type Answer =
  | string
  | { readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly status: number };

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** A chat completions server, streamed or not, that gives these answers in order. */
export async function startModelServer(
  answers: readonly Answer[],
): Promise<{ baseURL: string; seen: Message[][] }> {
  const seen: Message[][] = [];
  const server = createServer(async (request, response) => {
    const { messages, stream } = (await json(request)) as { messages: Message[]; stream?: boolean };
    const answer = answers[seen.length] ?? "(no answer left)";
    seen.push(messages);
    if (typeof answer === "object" && "status" in answer) {
      response.writeHead(answer.status, { "content-type": "application/json" }).end("{}");
      return;
    }
    const message =
      typeof answer === "string"
        ? { role: "assistant", content: answer }
        : { role: "assistant", content: null, tool_calls: [toCall(answer, seen.length)] };
    const finish_reason = typeof answer === "string" ? "stop" : "tool_calls";
    const common = { id: "1", created: 1, model: "model" };
    if (!stream) {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          ...common,
          object: "chat.completion",
          choices: [{ index: 0, message, finish_reason }],
        }),
      );
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    response.end(`${chunk(message, null)}${chunk({}, finish_reason)}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

function toCall({ name, args }: Extract<Answer, { readonly name: string }>, turn: number): object {
  return {
    index: 0,
    id: `call_${turn}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
}

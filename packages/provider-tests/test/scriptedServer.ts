import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProviderDialect, SampleAnswer } from "@agent/testing";

/** A server that gives the listed answers, one per request, streamed if the request asks for it. */
export async function scriptedServer(dialect: ProviderDialect, answers: readonly SampleAnswer[]) {
  const requests: { readonly url: string; readonly body: Record<string, unknown> }[] = [];
  const server = createServer(async (message, response) => {
    let text = "";
    for await (const part of message.setEncoding("utf8")) text += part;
    const answer = answers[requests.length] ?? { text: "The script is over." };
    const request = { url: message.url ?? "", body: JSON.parse(text || "{}") as Record<string, unknown> };
    requests.push(request);
    const isStream = dialect.isStream?.(request) ?? request.body.stream === true;
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(isStream ? dialect.events(answer).join("") : JSON.stringify(dialect.whole(answer)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

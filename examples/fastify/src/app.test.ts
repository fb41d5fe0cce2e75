import { scriptedProvider } from "@agent/core/replay";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "./app.js";

const ASK = { calls: [{ name: "order_status", args: { order: "17" } }] };

async function start(): Promise<string> {
  const app = createApp(scriptedProvider([ASK, "It is on its way."]), (token) =>
    token === "secret" ? "ann" : undefined,
  );
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  return `${url}/chat`;
}

function send(url: string, token: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ type: "send", content: "Where is order 17?" }),
  });
}

test("answers a message of a user, whom the tool knows", async () => {
  const url = await start();
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const events = await fetch(url, { headers: { authorization: "Bearer secret" }, signal: gone.signal });
  expect((await send(url, "secret")).status).toBe(202);
  let seen = "";
  for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes('"type":"done"')) break;
  }
  expect(seen).toContain("Order 17 of ann is on its way.");
});

test("refuses a message without a valid token, and answers the next request", async () => {
  const url = await start();
  expect((await send(url, "wrong")).status).toBe(403);
  expect((await send(url, "secret")).status).toBe(202);
});

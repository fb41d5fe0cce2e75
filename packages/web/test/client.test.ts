import { Agent } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { expect, onTestFinished, test, vi } from "vitest";
import { createChatClient } from "../src/client/client.js";
import { createChatHandlers } from "../src/server/handlers.js";
import { SERVERS } from "./servers.js";

const [[, nodeHttp]] = SERVERS as [(typeof SERVERS)[number]];

/** An EventSource whose connection is refused, as browsers report it: an event without a reason. Node has none. */
class RefusedSource extends EventTarget {
  static readonly CLOSED = 2;
  readonly readyState = RefusedSource.CLOSED;

  constructor() {
    super();
    queueMicrotask(() => this.dispatchEvent(new Event("error")));
  }

  close(): void {}
}

async function serve(): Promise<string> {
  vi.stubGlobal("EventSource", RefusedSource);
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: () => new Agent(scriptedProvider(["Hello."])),
  });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await handlers.close();
    await server.stop();
  });
  return server.url;
}

test("reports why the server refused the connection", async () => {
  const client = createChatClient({ url: await serve() });
  await new Promise<void>((resolve) => {
    onTestFinished(client.subscribe(() => client.getState().error !== undefined && resolve()));
  });
  expect(client.getState()).toMatchObject({
    connection: "refused",
    error: "This conversation is not yours, or you are not logged in.",
  });
});

test("reports why an action was refused until the next one, and never rejects", async () => {
  const url = await serve();
  const client = createChatClient({ url: `${url}?session=1` });
  expect(await client.send("")).toBe(false);
  expect(client.getState().error).toContain('"content" must be a non-empty string');
  expect(await client.stop()).toBe(true);
  expect(client.getState().error).toBeUndefined();
  const nowhere = createChatClient({ url: "http://127.0.0.1:1/" });
  expect(await nowhere.send("Hi")).toBe(false);
  expect(nowhere.getState().error).toBe("The server cannot be reached.");
});

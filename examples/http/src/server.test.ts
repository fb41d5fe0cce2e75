import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { expect, onTestFinished, test } from "vitest";
import type { ClientEvent } from "./eventLog.js";
import { createApp } from "./server.js";

const USERS = new Map([
  ["token-ann", "ann"],
  ["token-bob", "../bob"],
]);

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "example-http-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

async function listen(directory: string, answers: readonly ScriptedAnswer[]) {
  const app = createApp({ directory, users: USERS, createProvider: () => scriptedProvider(answers) });
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  onTestFinished(() => close(app));
  return { app, client: (token = "token-ann") => clientOf(app, token) };
}

async function close(app: Server): Promise<void> {
  if (!app.listening) return;
  app.close();
  app.closeAllConnections();
  await once(app, "close");
}

/** What a browser does, with `fetch`. */
function clientOf(app: Server, token: string) {
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const headers = { authorization: `Bearer ${token}` };
  return {
    post: (path: string, body: unknown = {}) =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) }),
    get: (path: string, more: Record<string, string> = {}) =>
      fetch(url + path, { headers: { ...headers, ...more } }),
  };
}

/** The events of an SSE answer as they arrive, with their numbers. */
async function* eventsOf(response: Response): AsyncGenerator<{ id: number; event: ClientEvent }> {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      yield {
        id: Number(/^id: (\d+)$/m.exec(block)?.[1]),
        event: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ""),
      };
    }
  }
}

async function allEvents(response: Response): Promise<ClientEvent[]> {
  const all: ClientEvent[] = [];
  for await (const { event } of eventsOf(response)) all.push(event);
  return all;
}

/** The model asks to write a poem into Ann's files. */
const write = (directory: string) => {
  const path = join(directory, "ann", "files", "poem.txt");
  return { calls: [{ name: "write_file", args: { path, content: "Roses." } }] };
};

test("events arrive as SSE and a second request approves the call", async () => {
  const directory = await temporaryDirectory();
  const { client } = await listen(directory, [write(directory), "Written."]);
  const ann = client();
  const types: string[] = [];
  for await (const { event } of eventsOf(await ann.post("/messages", { text: "Write." }))) {
    types.push(event.type);
    if (event.type !== "approval") continue;
    expect(event).toMatchObject({ name: "write_file", args: { content: "Roses." } });
    expect((await ann.post(`/approvals/${event.id}`, { decision: "allow" })).status).toBe(200);
  }
  expect(types).toEqual(["tool_requested", "approval", "tool_start", "tool_end", "text", "done"]);
  expect(await readFile(join(directory, "ann", "files", "poem.txt"), "utf8")).toBe("Roses.");
});

test("a denial reaches the model, and a question is answered once", async () => {
  const directory = await temporaryDirectory();
  const { client } = await listen(directory, [write(directory), "Then not."]);
  const ann = client();
  const ends: ClientEvent[] = [];
  for await (const { event } of eventsOf(await ann.post("/messages", { text: "Write." }))) {
    if (event.type === "tool_end") ends.push(event);
    if (event.type !== "approval") continue;
    expect((await ann.post(`/approvals/${event.id}`, { decision: "maybe" })).status).toBe(400);
    await ann.post(`/approvals/${event.id}`, { decision: { deny: "No poems." } });
    expect((await ann.post(`/approvals/${event.id}`, { decision: "allow" })).status).toBe(404);
  }
  expect(ends).toMatchObject([{ outcome: "denied", text: "Tool call denied: No poems." }]);
});

test("a client that was reloaded catches up after the last event it saw", async () => {
  const directory = await temporaryDirectory();
  const { client } = await listen(directory, [write(directory), "Written."]);
  const ann = client();
  let lastId = 0;
  for await (const { id, event } of eventsOf(await ann.post("/messages", { text: "Write." }))) {
    if (event.type === "approval") break; // The page is reloaded while the question is open.
    lastId = id;
  }
  const events: ClientEvent[] = [];
  for await (const { event } of eventsOf(await ann.get("/events", { "last-event-id": String(lastId) }))) {
    events.push(event);
    if (event.type === "approval") await ann.post(`/approvals/${event.id}`, { decision: "allow" });
  }
  expect(events.map(({ type }) => type)).toEqual(["approval", "tool_start", "tool_end", "text", "done"]);
});

test("each user has a conversation of their own, which outlives the server", async () => {
  const directory = await temporaryDirectory();
  const first = await listen(directory, ["Hello, you."]);
  await allEvents(await first.client("token-ann").post("/messages", { text: "I am Ann." }));
  await allEvents(await first.client("token-bob").post("/messages", { text: "I am Bob." }));
  await close(first.app);

  const second = await listen(directory, ["You are Ann."]);
  const ann = second.client("token-ann");
  expect(await (await ann.get("/conversation")).json()).toEqual({
    busy: false,
    messages: [
      { role: "user", content: "I am Ann." },
      { role: "assistant", content: "Hello, you." },
    ],
  });
  const events = await allEvents(await ann.post("/messages", { text: "Who am I?" }));
  expect(events.at(-1)).toMatchObject({ type: "done", text: "You are Ann." });
  expect(await (await second.client("token-bob").get("/conversation")).text()).not.toContain("Ann");
});

test("a message can be stopped, and the next one is answered", async () => {
  const directory = await temporaryDirectory();
  const { client } = await listen(directory, [write(directory), "Hello."]);
  const ann = client();
  const events: ClientEvent[] = [];
  for await (const { event } of eventsOf(await ann.post("/messages", { text: "Write." }))) {
    events.push(event);
    if (event.type === "approval") await ann.post("/stop");
  }
  expect(events).toContainEqual(expect.objectContaining({ type: "error", code: "aborted" }));
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", outcome: "aborted" }));
  const next = await allEvents(await ann.post("/messages", { text: "Hi." }));
  expect(next.at(-1)).toMatchObject({ type: "done", text: "Hello." });
});

test("requests that cannot be served say why", async () => {
  const directory = await temporaryDirectory();
  const { app, client } = await listen(directory, [write(directory), "Done."]);
  const ann = client();
  expect((await clientOf(app, "wrong").get("/conversation")).status).toBe(401);
  expect((await ann.get("/nothing")).status).toBe(404);
  expect((await ann.post("/messages", { txt: "x" })).status).toBe(400);
  expect((await ann.post("/messages", { text: "x".repeat(2_000_000) })).status).toBe(400);
  for await (const { event } of eventsOf(await ann.post("/messages", { text: "Write." }))) {
    if (event.type !== "approval") continue;
    expect((await ann.post("/messages", { text: "And?" })).status).toBe(409);
    await ann.post(`/approvals/${event.id}`, { decision: "allow" });
  }
});

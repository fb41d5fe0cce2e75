import { Agent, Conversation, definePack } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  type ChatClient,
  type ChatClientOptions,
  type ChatClientState,
  createChatClient,
} from "../src/client/client.js";
import { browserCookie } from "../src/server/browserCookie.js";
import { type ChatHandlersOptions, createChatHandlers } from "../src/server/handlers.js";
import { SERVERS } from "./servers.js";

const [[, nodeHttp]] = SERVERS as [(typeof SERVERS)[number]];

async function serve(
  answers: readonly ScriptedAnswer[] = ["Hello."],
  options: Partial<ChatHandlersOptions> = {},
) {
  const handlers = createChatHandlers({
    identify: (request) => /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1],
    open: () => new Agent(scriptedProvider(answers)),
    ...options,
  });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  return { ...server, handlers };
}

const TOKEN = { headers: { authorization: "Bearer ann" } };

function connect(options: ChatClientOptions): ChatClient {
  const client = createChatClient(options);
  onTestFinished(client.subscribe(() => undefined));
  return client;
}

/** Resolves to the state once it is as wanted. */
async function until(
  client: ChatClient,
  isWanted: (state: ChatClientState) => boolean,
): Promise<ChatClientState> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (isWanted(client.getState())) resolve();
    };
    onTestFinished(client.subscribe(look));
    look();
  });
  return client.getState();
}

test("sends a bearer token with the stream and with actions, and asks for it each time", async () => {
  const { url } = await serve();
  let asked = 0;
  const client = connect({
    url,
    headers: async () => {
      asked++;
      return { authorization: "Bearer ann" };
    },
  });
  await until(client, ({ connection }) => connection === "open");
  expect(await client.send("Hi")).toBe(true);
  const { messages } = await until(
    client,
    ({ messages: [, answer], status }) => !!answer && status === "idle",
  );
  expect(messages).toMatchObject([{ content: "Hi" }, { blocks: [{ text: "Hello." }] }]);
  expect(asked).toBe(2);
});

test("reports why the server refused the connection, and does not try again", async () => {
  const { url } = await serve();
  const client = connect({ url });
  expect(await until(client, ({ error }) => error !== undefined)).toMatchObject({
    connection: "refused",
    error: "This conversation is not yours, or you are not logged in.",
  });
});

test("connects again with an action that the server accepts after it had refused the connection", async () => {
  const { url } = await serve();
  let token = "";
  const client = connect({ url, headers: () => ({ authorization: token }) });
  await until(client, ({ connection }) => connection === "refused");
  token = "Bearer ann";
  expect(await client.send("Hi")).toBe(true);
  const { messages, error } = await until(
    client,
    ({ messages: [, answer], status }) => !!answer && status === "idle",
  );
  expect(messages).toMatchObject([{ content: "Hi" }, { blocks: [{ text: "Hello." }] }]);
  expect(error).toBeUndefined();
});

test("forgets why an action was refused when a message of another tab is answered", async () => {
  const { url } = await serve();
  const [late, other] = [connect({ url, ...TOKEN }), connect({ url, ...TOKEN })];
  await until(late, ({ connection }) => connection === "open");
  expect(await late.decide("an earlier question", "allow")).toBe(false);
  expect(late.getState().error).toBe("This call does not wait for a decision any more.");
  await other.send("Hi");
  const { error } = await until(late, ({ messages, status }) => messages.length === 2 && status === "idle");
  expect(error).toBeUndefined();
});

test("shows the conversation that its actions reach, also after another login in another tab", async () => {
  const { url } = await serve(["Hello, Bob."]);
  let user = "ann";
  const client = connect({ url, headers: () => ({ authorization: `Bearer ${user}` }) });
  await until(client, ({ connection }) => connection === "open");
  user = "bob";
  expect(await client.send("Hi")).toBe(true);
  const { messages } = await until(
    client,
    ({ messages: [, answer], status }) => !!answer && status === "idle",
  );
  expect(messages).toMatchObject([{ content: "Hi" }, { blocks: [{ text: "Hello, Bob." }] }]);
});

test("keeps two tabs of a new browser in the same conversation", async () => {
  const { url } = await serve([], {
    identify: browserCookie(),
    open: () => new Agent(scriptedProvider(["Hello."])),
  });
  let cookie = "";
  const real = globalThis.fetch;
  // The cookies of a browser: of two answers that arrive at the same time, the later one counts.
  const opened: Promise<Response>[] = [];
  const browser = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const sent = real(input, { ...init, headers: { ...(init?.headers as object), cookie } });
    if (opened.length < 2) {
      opened.push(sent);
      await vi.waitFor(() => expect(opened).toHaveLength(2));
      await Promise.all(opened);
    }
    const response = await sent;
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return response;
  });
  onTestFinished(() => browser.mockRestore());
  const tabs = [connect({ url }), connect({ url })] as const;
  for (const tab of tabs) await until(tab, ({ connection }) => connection === "open");
  for (const [index, tab] of tabs.entries()) {
    expect(await tab.send(`Hi from ${index}`)).toBe(true);
    await until(tab, ({ messages }) => JSON.stringify(messages).includes(`Hi from ${index}`));
  }
});

test("reports why an action was refused until the next one, and never rejects", async () => {
  const { url } = await serve();
  const client = createChatClient({ url, ...TOKEN });
  expect(await client.send("")).toBe(false);
  expect(client.getState().error).toContain('"content" must be a non-empty string');
  expect(await client.stop()).toBe(true);
  expect(client.getState().error).toBeUndefined();
  const nowhere = createChatClient({ url: "http://127.0.0.1:1/" });
  expect(await nowhere.send("Hi")).toBe(false);
  expect(nowhere.getState().error).toBe("The server cannot be reached.");
});

test("connects again after the connection was lost, and has the whole state", async () => {
  const { url, handlers } = await serve();
  const client = connect({ url, ...TOKEN });
  await until(client, ({ connection }) => connection === "open");
  await client.send("Hi");
  await until(client, ({ messages, status }) => messages.length === 2 && status === "idle");
  // Ends its streams; the conversation is not stored, so the next one is empty.
  await handlers.close("ann");
  await until(client, ({ connection }) => connection === "lost");
  const again = await until(client, ({ connection }) => connection === "open");
  expect(again.messages).toEqual([]);
});

test("tries again while the server is overloaded", async () => {
  const { url } = await serve();
  const real = globalThis.fetch;
  const answers = [429, 503];
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async (...request) => {
    const status = answers.shift();
    return status === undefined ? await real(...request) : new Response("{}", { status });
  });
  onTestFinished(() => asked.mockRestore());
  const client = connect({ url, ...TOKEN });
  await until(client, ({ connection }) => connection === "open");
  expect(asked).toHaveBeenCalledTimes(3);
});

test("edits an earlier message, and answers one again, by their ids", async () => {
  const { url } = await serve(["One.", "Two.", "Deux.", "Uno."]);
  const client = connect({ url, ...TOKEN });
  const done = (text: string) =>
    until(client, ({ messages, status }) => status === "idle" && JSON.stringify(messages).includes(text));
  await client.send("1");
  await done("One.");
  await client.send("2");
  const before = await done("Two.");
  const [first, , second] = before.messages;
  expect(new Set(before.messages.map(({ id }) => id)).size).toBe(4);
  expect(before.messages.map(({ at }) => Number.isNaN(Date.parse(at ?? "")))).toEqual([
    false,
    false,
    false,
    false,
  ]);

  expect(await client.send("2, in French", { replaces: second?.id ?? "" })).toBe(true);
  const edited = await done("Deux.");
  expect(edited.messages).toMatchObject([
    { id: first?.id, content: "1" },
    { blocks: [{ text: "One." }] },
    { content: "2, in French" },
    { blocks: [{ text: "Deux." }] },
  ]);
  expect(await client.send("2 again", { replaces: second?.id ?? "" })).toBe(false);
  expect(client.getState().error).toBe("This message of the user is not in the conversation any more.");

  expect(await client.regenerate(first?.id)).toBe(true);
  const again = await done("Uno.");
  expect(again.messages).toMatchObject([{ id: first?.id, content: "1" }, { blocks: [{ text: "Uno." }] }]);
  // A page that connects now is shown the same, with the same ids.
  const other = connect({ url, ...TOKEN });
  const { messages } = await until(other, ({ connection }) => connection === "open");
  expect(messages).toEqual(again.messages);
});

const polite = definePack({
  name: "polite",
  setup: () => ({
    tools: [],
    hooks: {
      name: "polite",
      onMessage: ({ content }) => (content === "Rude." ? { deny: "Be polite." } : undefined),
    },
  }),
});

test("shows the message again if the one that was to replace it is refused", async () => {
  const { url } = await serve([], {
    open: () => new Agent(scriptedProvider(["One.", "Two."]), { tools: [polite] }),
  });
  const client = connect({ url, ...TOKEN });
  await client.send("1");
  const { messages } = await until(
    client,
    ({ messages: all, status }) => all.length === 2 && status === "idle",
  );
  await client.send("Rude.", { replaces: messages[0]?.id ?? "" });
  const refused = await until(client, ({ error, messages: all }) => error !== undefined && all.length === 2);
  expect(refused.messages).toMatchObject([{ id: messages[0]?.id }, { blocks: [{ text: "One." }] }]);
  expect(refused.error).toContain("Be polite.");
});

test("shows the old answer again if answering once more is refused", async () => {
  let sent = 0;
  const once = definePack({
    name: "once",
    setup: () => ({
      tools: [],
      hooks: { name: "once", onMessage: () => (++sent > 1 ? { deny: "Only once." } : undefined) },
    }),
  });
  const { url } = await serve([], { open: () => new Agent(scriptedProvider(["One."]), { tools: [once] }) });
  const client = connect({ url, ...TOKEN });
  await client.send("1");
  const before = await until(client, ({ messages, status }) => messages.length === 2 && status === "idle");
  await client.regenerate();
  const after = await until(client, ({ error, messages }) => error !== undefined && messages.length === 2);
  expect(after.messages).toMatchObject([{ id: before.messages[0]?.id }, { blocks: [{ text: "One." }] }]);
  expect(after).toMatchObject({ status: "idle", error: expect.stringContaining("Only once.") });
});

test("refuses to replace or answer a message that the user did not write", async () => {
  const conversation = new Conversation({
    session: {
      systemPrompt: "",
      messages: [
        { role: "user", content: "Hi." },
        { role: "assistant", content: "Hello." },
        { role: "user", content: "A summary.", generated: true },
        { role: "user", content: "The job has ended.", from: "job-1" },
        { role: "assistant", content: "It has ended." },
      ],
    },
  });
  const { url } = await serve([], {
    open: () => new Agent(scriptedProvider(["Hello again."]), { conversation }),
  });
  const client = connect({ url, ...TOKEN });
  const { messages } = await until(client, ({ connection }) => connection === "open");
  const [, , summary, notice] = messages;
  expect(summary).toMatchObject({ content: "A summary.", generated: true });
  expect(notice).toMatchObject({ content: "The job has ended.", generated: true, from: "job-1" });
  for (const message of [summary, notice]) {
    expect(await client.send("Changed.", { replaces: message?.id ?? "" })).toBe(false);
    expect(await client.regenerate(message?.id)).toBe(false);
  }
  expect(await client.regenerate()).toBe(true);
  const again = await until(client, ({ messages: all, status }) => all.length === 2 && status === "idle");
  expect(again.messages).toMatchObject([{ content: "Hi." }, { blocks: [{ text: "Hello again." }] }]);
});

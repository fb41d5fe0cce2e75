import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  Conversation,
  type ConversationStore,
  contextType,
  defineTool,
  loadSession,
  memoryStore,
  recordSession,
  type ToolPack,
} from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createChatClient } from "../src/client/client.js";
import type { ChatAction } from "../src/events.js";
import { browserCookie } from "../src/server/browserCookie.js";
import { type ChatHandlersOptions, createChatHandlers } from "../src/server/handlers.js";
import type { ViewMessage } from "../src/state/chatState.js";
import { asking } from "./asking.js";
import { Page } from "./page.js";
import { SERVERS, type StartServer } from "./servers.js";

const GREET = { calls: [{ name: "greet", args: { who: "Ada" } }] };

const greet = defineTool({
  name: "greet",
  description: "Greets someone.",
  input: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  execute: ({ who }, call) => {
    call?.onOutput("greeting…\n");
    return `Hello, ${who}.`;
  },
});

const greeter: ToolPack = { packName: "greeter", register: (registry) => registry.register(greet) };

/** Serves one conversation whose model gives these answers. */
async function start(
  startServer: StartServer,
  answers: readonly ScriptedAnswer[],
  options: Partial<ChatHandlersOptions> = {},
): Promise<string> {
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: (_id, { approve }) => new Agent(scriptedProvider(answers), { tools: [greeter], approve }),
    ...options,
  });
  const server = await startServer(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  return `${server.url}?session=1`;
}

async function open(url: string): Promise<Page> {
  const page = await Page.open(url);
  onTestFinished(() => page.close());
  return page;
}

const [[, nodeHttp]] = SERVERS as [(typeof SERVERS)[number]];

test("shows the page that a limit was reached, and continues once it was raised", async () => {
  const usage = { inputTokens: 100, outputTokens: 20, cost: 0.5 };
  let maxTokens = 200;
  const provider = {
    ...scriptedProvider([]),
    respond: async () => ({ content: "Hello.", toolCalls: [], finishReason: "stop" as const, usage }),
  };
  const page = await open(
    await start(nodeHttp, [], {
      open: (_id, { approve }) =>
        new Agent(provider, {
          approve,
          maxTokens,
          onBudget: () => (maxTokens > 200 ? { maxTokens } : undefined),
        }),
    }),
  );
  const send = (content: string) => page.post({ type: "send", content });
  await send("One.");
  await page.until(({ usage: shown }) => shown !== undefined);
  await send(`Two. ${"more ".repeat(100)}`);
  await page.until(({ error }) => error !== undefined);
  expect(page.state.error).toContain("The limit of 200 tokens for this conversation is reached: 120 tokens");
  maxTokens = 10_000;
  await send("Three.");
  await page.until(({ error, status }) => error === undefined && status === "idle");
  expect(page.state.usage).toEqual(usage);
});

describe.each(SERVERS)("on %s", (_name, startServer) => {
  test("answers a message, waits for the page's decision about a call, and streams output", async () => {
    const page = await open(await start(startServer, [GREET, "Greeted."]));
    expect((await page.post({ type: "send", content: "Greet Ada." })).status).toBe(202);
    await page.until(({ approvals }) => approvals.length === 1);
    const [approval] = page.state.approvals;
    expect(approval).toMatchObject({ name: "greet", args: { who: "Ada" } });
    await page.post({ type: "decide", id: approval?.id ?? "", decision: "allow" });
    await page.until(({ status }) => status === "idle");
    expect(page.state.messages.at(-1)).toMatchObject({
      blocks: [
        { type: "call", name: "greet", state: "ok", output: "greeting…\n", text: "Hello, Ada." },
        { type: "text", text: "Greeted." },
      ],
    });
  });

  test("sends the whole state to a page that reconnects while a call waits, and accepts its decision", async () => {
    const url = await start(startServer, [GREET, "I did not greet."]);
    const first = await open(url);
    await first.post({ type: "send", content: "Greet Ada." });
    await first.until(({ approvals }) => approvals.length === 1);
    first.close();
    const second = await open(url);
    expect(second.events[0]).toMatchObject({ type: "snapshot", state: { status: "working" } });
    await second.post({
      type: "decide",
      id: second.state.approvals[0]?.id ?? "",
      decision: { deny: "she is asleep" },
    });
    await second.until(({ status }) => status === "idle");
    expect(second.state.messages.at(-1)).toMatchObject({
      blocks: [{ state: "denied", text: "Tool call denied: she is asleep" }, { text: "I did not greet." }],
    });
  });
});

test("stops the answer on stop, and answers the next message", async () => {
  const forever = ({ signal }: { signal: AbortSignal }): Promise<string> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const page = await open(await start(nodeHttp, [forever, "Here."]));
  await page.post({ type: "send", content: "Think." });
  await page.until(({ status }) => status === "working");
  await page.post({ type: "stop" });
  await page.until(({ status }) => status === "idle");
  expect(page.state.messages.at(-1)).toMatchObject({ stopped: true });
  await page.post({ type: "send", content: "And now?" });
  await page.until(({ messages }) => messages.length === 4);
  await page.until(({ status }) => status === "idle");
  expect(page.state.messages.at(-1)).toMatchObject({ blocks: [{ type: "text", text: "Here." }] });
});

test("steers an answer with a message sent meanwhile", async () => {
  const page = await open(await start(nodeHttp, [GREET, "Greeted both."]));
  await page.post({ type: "send", content: "Greet Ada." });
  await page.until(({ approvals }) => approvals.length === 1);
  await page.post({ type: "send", content: "And Grace." });
  await page.post({ type: "decide", id: page.state.approvals[0]?.id ?? "", decision: "always" });
  await page.until(({ status }) => status === "idle");
  expect(page.state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("accepts a rule instead of the whole tool", async () => {
  const page = await open(await start(nodeHttp, [GREET, "Greeted.", GREET, "Again."]));
  await page.post({ type: "send", content: "Greet Ada." });
  await page.until(({ approvals }) => approvals.length === 1);
  const [approval] = page.state.approvals;
  const decide = (rule: string) =>
    page.post({ type: "decide", id: approval?.id ?? "", decision: { always: rule } });
  await decide(`${approval?.name}(who: Ada)`);
  await page.until(({ status }) => status === "idle");
  await page.post({ type: "send", content: "Greet Ada again." });
  await page.until(({ messages, status }) => messages.length === 4 && status === "idle");
  expect(page.state.approvals).toEqual([]);
});

test("shows a provider's failure as an error, and continues the conversation", async () => {
  const failing = (): never => {
    throw new Error("no such model");
  };
  const page = await open(await start(nodeHttp, [failing, "Better."]));
  await page.post({ type: "send", content: "Hello." });
  await page.until(({ error }) => error !== undefined);
  expect(page.state.error).toContain("no such model");
  await page.post({ type: "send", content: "Again." });
  await page.until(({ messages }) => messages.at(-1)?.role === "assistant");
});

test("shows a saved conversation when it is opened", async () => {
  const conversation = new Conversation({
    session: { systemPrompt: "", messages: [{ role: "user", content: "Hi" }] },
  });
  const url = await start(nodeHttp, [], {
    open: () => new Agent(scriptedProvider([]), { conversation }),
  });
  expect((await open(url)).state.messages).toMatchObject([{ role: "user", content: "Hi" }]);
});

test("asks again on the next server about a call that waits when the server closes", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agent-web-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "chat.jsonl");
  const openWith = (answers: readonly ScriptedAnswer[]): ChatHandlersOptions["open"] => {
    return async (_id, { approve }) => {
      const session = existsSync(file) ? await loadSession(file) : undefined;
      const conversation = new Conversation(session ? { session } : {});
      const recorder = recordSession(conversation, file);
      const agent = new Agent(scriptedProvider(answers), { conversation, tools: [greeter], approve });
      return { agent, close: () => recorder.close() };
    };
  };
  const handlers = createChatHandlers({ identify: () => "1", open: openWith([GREET]) });
  const server = await nodeHttp(handlers);
  const before = await open(server.url);
  await before.post({ type: "send", content: "Greet Ada." });
  await before.until(({ approvals }) => approvals.length === 1);
  await handlers.close();
  await before.ended;
  await server.stop();

  const after = await open(await start(nodeHttp, [], { open: openWith(["Greeted after all."]) }));
  await after.until(({ approvals }) => approvals.length === 1);
  expect(after.state).toMatchObject({
    status: "working",
    approvals: [{ name: "greet", args: { who: "Ada" } }],
    messages: [{ content: "Greet Ada." }, { blocks: [{ name: "greet", state: "waiting" }] }],
  });
  await after.post({ type: "decide", id: after.state.approvals[0]?.id ?? "", decision: "allow" });
  await after.until(({ status }) => status === "idle");
  expect(after.state.messages.at(-1)).toMatchObject({
    blocks: [
      { name: "greet", state: "ok", text: "Hello, Ada." },
      { type: "text", text: "Greeted after all." },
    ],
  });
});

describe("a question of a tool", () => {
  const startAsking = async (): Promise<Page> => {
    const url = await start(nodeHttp, [], {
      open: (_id, { ask }) =>
        new Agent(scriptedProvider([{ calls: [{ name: "ask_form" }] }, "Done."]), {
          tools: [asking],
          host: { ask },
        }),
    });
    const page = await open(url);
    await page.post({ type: "send", content: "Ship it." });
    await page.until(({ questions }) => questions.length === 1);
    return page;
  };
  const resultOf = ({ state }: Page): unknown => {
    const answer = state.messages.at(-1);
    return answer?.role === "assistant" && answer.blocks.find((block) => block.type === "call")?.text;
  };

  test("is shown on every page, and refuses values that do not fit its fields", async () => {
    const page = await startAsking();
    const { id, ...question } = page.state.questions[0] ?? { id: "" };
    expect(question).toMatchObject({ source: "The model", message: "Whom do we ship to?" });
    expect(question).not.toHaveProperty("signal");
    const reply = async (values: Record<string, unknown>): Promise<[number, string]> => {
      const response = await page.post({ type: "answer", id, answer: { answer: "yes", values } });
      return [response.status, await response.text()];
    };
    expect(await reply({ count: 1 })).toEqual([400, expect.stringContaining('\\"name\\" must be filled in')]);
    expect(await reply({ name: "Ann", count: 1.5 })).toEqual([
      400,
      expect.stringContaining("a whole number"),
    ]);
    expect(await reply({ name: "Ann", count: 1, colour: "pink" })).toEqual([
      400,
      expect.stringContaining("one of the choices"),
    ]);
    expect((await page.post('{"type":"answer","id":"x","answer":{"answer":"yes"}}')).status).toBe(400);
    expect((await page.post({ type: "answer", id: "x", answer: { answer: "no" } })).status).toBe(409);
    expect((await reply({ name: "Ann", count: 1, more: true }))[0]).toBe(202);
    await page.until(({ status }) => status === "idle");
    expect([resultOf(page), page.state.questions]).toEqual([
      '{"answer":"yes","values":{"name":"Ann","count":1}}',
      [],
    ]);
  });

  test("is dismissed when the user stops the agent", async () => {
    const page = await startAsking();
    await page.post({ type: "stop" });
    await page.until(({ status, questions }) => status === "idle" && questions.length === 0);
  });

  test("does not exist where the program passes no way to ask", async () => {
    const agent = new Agent(scriptedProvider([]), { tools: [asking] });
    expect(agent.registry.describeTools().map(({ name }) => name)).not.toContain("ask_form");
  });
});

test("informs tools whose conversation it is, also when it continues after a decision", async () => {
  const whoAmI = defineTool({
    name: "who_am_i",
    description: "Tells who is asking.",
    input: { type: "object" },
    execute: (_input, call) => JSON.stringify(call?.context),
  });
  const calls = { calls: [{ name: "who_am_i" }] };
  const conversation = new Conversation();
  const waiting = new Agent(scriptedProvider([calls]), {
    conversation,
    tools: [whoAmI],
    approve: () => "suspend",
  });
  await waiting.chat("Who am I?").catch(() => undefined);
  const url = await start(nodeHttp, [], {
    open: (id, { approve }) => ({
      agent: new Agent(scriptedProvider(["You.", calls, "Still you."]), {
        conversation,
        tools: [whoAmI],
        approve,
      }),
      context: { user: `user ${id}` },
    }),
  });
  const page = await open(url);
  const allow = async (): Promise<void> => {
    await page.until(({ approvals }) => approvals.length === 1);
    await page.post({ type: "decide", id: page.state.approvals[0]?.id ?? "", decision: "allow" });
    await page.until(({ status }) => status === "idle");
  };
  await allow();
  await page.post({ type: "send", content: "And now?" });
  await allow();
  const results = page.state.messages.flatMap((message) =>
    message.role === "assistant"
      ? message.blocks.flatMap((block) => (block.type === "call" ? block.text : []))
      : [],
  );
  expect(results).toEqual(['{"user":"user 1"}', '{"user":"user 1"}']);
});

test("does not compile without the context that the agent of open() declares", () => {
  const make = () => new Agent(scriptedProvider([]), { context: contextType<{ user: string }>() });
  const identify = () => "ann";
  createChatHandlers({ identify, open: (user) => ({ agent: make(), context: { user } }) });
  createChatHandlers({ identify, open: () => ({ agent: new Agent(scriptedProvider([])), context: 1 }) });
  // @ts-expect-error the context is missing
  createChatHandlers({ identify, open: () => make() });
  // @ts-expect-error here too
  createChatHandlers({ identify, open: async () => ({ agent: make() }) });
  // @ts-expect-error the context has another form
  createChatHandlers({ identify, open: () => ({ agent: make(), context: { usr: "ann" } }) });
});

test("shares nothing between two conversations", async () => {
  const url = await start(nodeHttp, ["One."]);
  const [one, two] = [await open(url), await open(url.replace("session=1", "session=2"))];
  await one.post({ type: "send", content: "Hello." });
  await one.until(({ messages, status }) => messages.length === 2 && status === "idle");
  expect(two.state.messages).toEqual([]);
});

test("refuses a request that identify() does not know, with 403", async () => {
  const url = await start(nodeHttp, []);
  const stranger = url.replace("?session=1", "");
  expect((await fetch(stranger)).status).toBe(403);
  expect((await fetch(stranger, { method: "POST" })).status).toBe(403);
});

test("answers 500 without its secrets for an agent that cannot be made, reports it, and tries it again", async () => {
  let attempts = 0;
  const reported: unknown[] = [];
  const url = await start(nodeHttp, [], {
    open: () => {
      attempts++;
      throw new Error("password=hunter2");
    },
    onError: (error, id) => reported.push([String(error), id]),
  });
  for (const _ of [1, 2]) {
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("hunter2")]);
  }
  expect(attempts).toBe(2);
  expect(reported).toEqual(Array(2).fill(["Error: password=hunter2", "1"]));
});

test("warns by default of errors that pages are not told, also of those of onError", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warned.mockRestore());
  const fail = (message: string) => (): never => {
    throw new Error(message);
  };
  await (await fetch(await start(nodeHttp, [], { open: fail("no database") }))).text();
  const url = await start(nodeHttp, [], { identify: fail("no login"), onError: fail("no log") });
  expect((await fetch(url)).status).toBe(500);
  const page = await open(
    await start(nodeHttp, [], {
      open: () => new Agent(scriptedProvider(["Never."]), { beforeRequest: fail("no budget") }),
    }),
  );
  await page.post({ type: "send", content: "Hi." });
  await page.until(({ error }) => error !== undefined);
  expect(page.state.error).toBe("The message could not be answered.");
  expect(warned.mock.calls.map(([message]) => message)).toEqual(["no database", "no log", "no budget"]);
  expect(warned.mock.calls[0]?.[1]).toMatchObject({ detail: expect.stringContaining("handlers.test.ts") });
});

test.each([
  ["nothing", () => undefined, "open() must return an agent, { agent } or a runChat, got nothing."],
  ["an agent that would not be stored", () => new Agent(scriptedProvider([])), "nothing would be stored"],
])("reports an open() that returns %s", async (_what, opens, words) => {
  const reported: unknown[] = [];
  const url = await start(nodeHttp, [], {
    store: memoryStore(),
    open: opens as never,
    onError: (error) => reported.push(error),
  });
  expect((await fetch(url)).status).toBe(500);
  expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining(words) })]);
});

const JSON_TYPE = { "content-type": "application/json" };
test.each([
  ["a form of another site", { "content-type": "text/plain" }, '{"type":"stop"}', 415, "application/json"],
  ["text that is not JSON", JSON_TYPE, "{", 400, "not JSON"],
  ["an array", JSON_TYPE, "[]", 400, "must be an object, got an empty array"],
  ["an unknown type", JSON_TYPE, '{"type":"sned"}', 400, '"sned"'],
  ["an empty message", JSON_TYPE, '{"type":"send","content":" "}', 400, "content"],
  ["an invalid decision", JSON_TYPE, '{"type":"decide","id":"a","decision":true}', 400, "decision"],
  ["a decision without an id", JSON_TYPE, '{"type":"decide","decision":"allow"}', 400, '"id"'],
  [
    "a decision no one waits for",
    JSON_TYPE,
    '{"type":"decide","id":"a","decision":"allow"}',
    409,
    "any more",
  ],
  [
    "a body that is too large",
    JSON_TYPE,
    `{"type":"send","content":"${"x".repeat(2000)}"}`,
    413,
    "1000 bytes",
  ],
])("refuses %s with a message", async (_name, headers, body, status, words) => {
  const page = await open(await start(nodeHttp, [], { maxBodyBytes: 1000 }));
  const response = await page.post(body, headers);
  const { error } = (await response.json()) as { error: string };
  expect([response.status, error]).toEqual([status, expect.stringContaining(words)]);
});

test("closes after a while a conversation that no one watches, and opens it again", async () => {
  const disposals = new EventEmitter();
  const disposed = once(disposals, "dispose");
  let opened = 0;
  const url = await start(nodeHttp, [], {
    idleMs: 20,
    open: () => {
      opened++;
      const watched: ToolPack = {
        packName: "watched",
        register: (registry) => registry.provide?.({ dispose: () => void disposals.emit("dispose") }),
      };
      return new Agent(scriptedProvider([]), { tools: [watched] });
    },
  });
  (await open(url)).close();
  await disposed;
  await open(url);
  expect(opened).toBe(2);
});

test("names wrong options", () => {
  expect(() => createChatHandlers({} as never)).toThrow("identify");
  expect(() => createChatHandlers({ identify: () => "1", open: 3 as never })).toThrow("open");
  expect(() =>
    createChatHandlers({ identify: () => "1", open: () => null as never, idelMs: 3 } as never),
  ).toThrow("idleMs");
});

test("closes the resources of a conversation also if a pack of its agent cannot be disposed of", async () => {
  const stuck: ToolPack = {
    packName: "stuck",
    register: (registry) => registry.provide?.({ dispose: () => Promise.reject(new Error("stuck")) }),
  };
  let isClosed = false;
  const handlers = createChatHandlers({
    identify: () => "1",
    open: () => ({
      agent: new Agent(scriptedProvider([]), { tools: [stuck] }),
      close: () => {
        isClosed = true;
      },
    }),
  });
  await handlers.GET(new Request("http://localhost/"));
  await handlers.close();
  expect(isClosed).toBe(true);
});

test("asks again on the next server about a call that waits when the server is killed", async () => {
  const store = memoryStore();
  const openWith =
    (answers: readonly ScriptedAnswer[]): ChatHandlersOptions["open"] =>
    (_id, { approve, conversation }) =>
      new Agent(scriptedProvider(answers), { conversation, tools: [greeter], approve });
  const before = await open(await start(nodeHttp, [], { store, open: openWith([GREET]) }));
  await before.post({ type: "send", content: "Greet Ada." });
  await before.until(({ approvals }) => approvals.length === 1);
  // Nothing is closed: the other server finds what was stored until now.
  const after = await open(await start(nodeHttp, [], { store, open: openWith(["Greeted after all."]) }));
  await after.until(({ approvals }) => approvals.length === 1);
  await after.post({ type: "decide", id: after.state.approvals[0]?.id ?? "", decision: "allow" });
  await after.until(({ status }) => status === "idle");
  expect(after.state.messages.at(-1)).toMatchObject({
    blocks: [
      { name: "greet", state: "ok", text: "Hello, Ada." },
      { type: "text", text: "Greeted after all." },
    ],
  });
});

test("shows a question only once it is stored, and asks it all the same if the store fails", async () => {
  const memory = memoryStore();
  const failures: unknown[] = [];
  let fails = false;
  const store: ConversationStore = {
    load: memory.load,
    append: async (...stored) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (fails) throw new Error("no database");
      await memory.append(...stored);
    },
  };
  const page = await open(
    await start(nodeHttp, [], {
      store,
      open: (_id, { approve, conversation }) =>
        new Agent(scriptedProvider([GREET, "One.", GREET, "Two."]), {
          conversation,
          tools: [greeter],
          approve,
        }),
      onError: (error) => failures.push(error),
    }),
  );
  const ask = async () => {
    await page.post({ type: "send", content: "Greet Ada." });
    await page.until(({ approvals }) => approvals.length === 1);
    return (await memory.load("1")).findLast(({ type }) => type === "suspended");
  };
  expect(await ask()).toMatchObject({ calls: [{ name: "greet", args: { who: "Ada" } }] });
  await page.post({ type: "decide", id: page.state.approvals[0]?.id ?? "", decision: "allow" });
  await page.until(({ status }) => status === "idle");
  await vi.waitFor(async () => expect(JSON.stringify(await memory.load("1"))).toContain("One."));
  expect(failures).toEqual([]);
  fails = true;
  expect(await ask()).toMatchObject({ calls: [] });
  expect(failures.map(String)).toEqual([expect.stringContaining("no database")]);
  fails = false;
});

test("answers the newest message again", async () => {
  const page = await open(await start(nodeHttp, ["One.", "Uno."]));
  expect((await page.post({ type: "regenerate" })).status).toBe(409);
  await page.post({ type: "send", content: "1" });
  await page.until(({ status, messages }) => status === "idle" && messages.length === 2);
  expect((await page.post({ type: "regenerate" })).status).toBe(202);
  await page.until(({ status, messages }) => status === "idle" && JSON.stringify(messages).includes("Uno."));
  expect(page.state.messages).toMatchObject([
    { role: "user", content: "1" },
    { role: "assistant", blocks: [{ type: "text", text: "Uno." }] },
  ]);
});

test("sends a new browser a cookie with the stream, which keeps its conversation", async () => {
  const url = await start(nodeHttp, ["Hello."], { identify: browserCookie() });
  const first = await fetch(url);
  const [cookie] = (first.headers.get("set-cookie") ?? "").split(";");
  expect(first.headers.get("set-cookie")).toMatch(
    /^chat=[\da-f-]{36}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  );
  await first.body?.cancel();
  const headers = { cookie: cookie ?? "", "content-type": "application/json" };
  const sent = await fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify({ type: "send", content: "Hi" }),
  });
  expect([sent.status, sent.headers.get("set-cookie")]).toEqual([202, null]);
  // A value that no browser was given starts a new conversation.
  const forged = await fetch(url, { headers: { cookie: "chat=../../etc" } });
  expect(forged.headers.get("set-cookie")).toContain("chat=");
  await forged.body?.cancel();
});

test("a signed cookie counts only as it was issued", async () => {
  const identify = browserCookie({ secret: "a text that only servers know" });
  const ask = (cookie = "") => identify(new Request("https://example.com/chat", { headers: { cookie } }));
  const issued = (await ask()) as { id: string; headers: { "set-cookie": string } };
  const [value = ""] = issued.headers["set-cookie"].split(";");
  expect(await ask(value)).toBe(issued.id);
  const other = browserCookie({ secret: "another text of some servers" });
  const forged = [value.replace(/\..*/, ""), value.replace(/.$/, (last) => (last === "0" ? "1" : "0"))];
  for (const cookie of [...forged, `chat=${crypto.randomUUID()}${value.slice(value.indexOf("."))}`])
    expect(await ask(cookie)).toMatchObject({ headers: {} });
  expect(await other(new Request("https://example.com", { headers: { cookie: value } }))).toHaveProperty(
    "id",
  );
  expect(() => browserCookie({ secret: "short" })).toThrow("at least 16 characters");
});

test("copies a stored conversation up to a message into a new one", async () => {
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    store: memoryStore(),
    open: (_id, { conversation }) => new Agent(scriptedProvider(["One.", "Two."]), { conversation }),
  });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  const page = await open(`${server.url}?session=1`);
  for (const content of ["1", "2"]) {
    await page.post({ type: "send", content });
    await page.until(({ messages, status }) => messages.length === 2 * Number(content) && status === "idle");
  }
  const second = page.state.messages[2]?.id ?? "";
  await handlers.branch("1", "1/b", { before: second });
  const branch = await open(`${server.url}?session=1/b`);
  // When an answer began is known to the page, when it was complete to the store.
  const withoutTimes = (messages: readonly ViewMessage[]) => messages.map(({ at: _, ...message }) => message);
  expect(withoutTimes(branch.state.messages)).toEqual(withoutTimes(page.state.messages.slice(0, 2)));
  await expect(handlers.branch("1", "1/b")).rejects.toThrow("does not exist yet");
});

const APP = "https://app.example.com";
test("lets pages of the named origins read answers, and asks no login for the question of a browser", async () => {
  const url = await start(nodeHttp, ["Hello."], { origins: [APP] });
  const ask = async (origin: string, method = "GET", more: Record<string, string> = {}) => {
    const { status, headers, body } = await fetch(url, { method, headers: { origin, ...more } });
    await body?.cancel();
    return [status, headers.get("access-control-allow-origin"), headers.get("vary"), headers];
  };
  const question = { "access-control-request-headers": "authorization, content-type" };
  const [status, allowed, vary, headers] = await ask(APP, "OPTIONS", question);
  expect([status, allowed, vary]).toEqual([204, APP, "Origin"]);
  expect((headers as Headers).get("access-control-allow-headers")).toBe("authorization, content-type");
  expect((headers as Headers).get("access-control-allow-methods")).toBe("GET, POST");
  expect((await ask(APP)).slice(0, 3)).toEqual([200, APP, "Origin"]);
  // The reason of a refusal can be read too.
  expect((await ask(APP, "POST")).slice(0, 2)).toEqual([415, APP]);
  expect((await ask("https://evil.example", "OPTIONS", question)).slice(0, 2)).toEqual([403, null]);
  expect((await ask("https://evil.example")).slice(0, 2)).toEqual([403, null]);
});

test("moves pages to the new handlers after a hot reload, and asks again about a call that waited", async () => {
  const store = memoryStore();
  const name = crypto.randomUUID();
  const load = (answers: readonly ScriptedAnswer[]) =>
    createChatHandlers({
      name,
      store,
      identify: () => "1",
      open: (_id, { approve, conversation }) =>
        new Agent(scriptedProvider(answers), { conversation, tools: [greeter], approve }),
    });
  let handlers = load([GREET]);
  // The server stays; the module of its route is loaded again.
  const current = (method: "GET" | "POST") => (request: Request) => handlers[method](request);
  const server = await nodeHttp({ ...handlers, GET: current("GET"), POST: current("POST") });
  const client = createChatClient({ url: server.url });
  const leave = client.subscribe(() => undefined);
  onTestFinished(async () => {
    leave();
    await handlers.close();
    await server.stop();
  });
  const until = async (isWanted: () => boolean): Promise<void> =>
    await vi.waitFor(() => expect(isWanted()).toBe(true), { timeout: 20_000, interval: 10 });
  await until(() => client.getState().connection === "open");
  await client.send("Greet Ada.");
  await until(() => client.getState().approvals.length === 1);
  const [asked] = client.getState().approvals;
  handlers = load(["Greeted by the new one."]);
  await until(() => client.getState().approvals.some(({ id }) => id !== asked?.id));
  await client.decide(client.getState().approvals[0]?.id ?? "", "allow");
  await until(() => JSON.stringify(client.getState().messages).includes("Greeted by the new one."));
});

/** A promise that a test resolves. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("opens no conversation once it is closed, however long others take to end", async () => {
  const [disposing, release] = [gate(), gate()];
  const slow: ToolPack = {
    packName: "slow",
    register: (registry) =>
      registry.provide?.({
        dispose: async () => {
          disposing.open();
          await release.opened;
        },
      }),
  };
  let opened = 0;
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: () => {
      opened++;
      return new Agent(scriptedProvider([]), { tools: [slow] });
    },
  });
  const get = (session: number) => handlers.GET(new Request(`http://localhost/?session=${session}`));
  expect((await get(1)).status).toBe(200);
  const closed = handlers.close();
  await disposing.opened;
  expect([(await get(1)).status, (await get(2)).status]).toEqual([503, 503]);
  release.open();
  await closed;
  expect(await (await get(1)).json()).toEqual({ error: "The server is closing. Try again in a moment." });
  expect(opened).toBe(1);
});

test("closes one conversation, and opens it again only when everything of it is stored", async () => {
  const store = memoryStore();
  const [disposing, release] = [gate(), gate()];
  const opened: string[] = [];
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    store,
    open: (id, { conversation }) => {
      opened.push(id);
      // The pack adds a last message while it is disposed of.
      const parting: ToolPack = {
        packName: "parting",
        register: (registry) =>
          registry.provide?.({
            dispose: async () => {
              if (opened.length > 2) return;
              disposing.open();
              await release.opened;
              conversation.append({ role: "user", content: "Goodbye." });
            },
          }),
      };
      return new Agent(scriptedProvider([]), { conversation, ...(id === "1" && { tools: [parting] }) });
    },
  });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  const [one, other] = [await open(`${server.url}?session=1`), await open(`${server.url}?session=2`)];
  const closed = handlers.close("1");
  await one.ended;
  await disposing.opened;
  const again = open(`${server.url}?session=1`);
  expect((await other.post({ type: "stop" })).status).toBe(202);
  expect(opened).toEqual(["1", "2"]);
  release.open();
  await closed;
  expect((await again).state.messages).toMatchObject([{ content: "Goodbye." }]);
  expect(opened).toEqual(["1", "2", "1"]);
  await handlers.close("unknown");
});

test("asks again about a call whose question is being stored when the server closes", async () => {
  const memory = memoryStore();
  const [storing, release] = [gate(), gate()];
  const store: ConversationStore = {
    load: memory.load,
    append: async (id, changes, position) => {
      if (changes.some(({ type }) => type === "suspended")) {
        storing.open();
        await release.opened;
      }
      await memory.append(id, changes, position);
    },
  };
  const errors: unknown[] = [];
  const openWith =
    (answers: readonly ScriptedAnswer[]): ChatHandlersOptions["open"] =>
    (_id, { approve, conversation }) =>
      new Agent(scriptedProvider(answers), { conversation, tools: [greeter], approve });
  const handlers = createChatHandlers({
    identify: () => "1",
    store,
    open: openWith([GREET]),
    onError: (error) => errors.push(error),
  });
  const body = JSON.stringify({ type: "send", content: "Greet Ada." });
  const headers = { "content-type": "application/json" };
  await handlers.POST(new Request("http://localhost/", { method: "POST", headers, body }));
  await storing.opened;
  const closed = handlers.close();
  // What a fast shutdown would do meanwhile.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  release.open();
  await closed;
  expect(errors).toEqual([]);
  const after = await open(
    await start(nodeHttp, [], { store: memory, open: openWith(["Greeted after all."]) }),
  );
  await after.until(({ approvals }) => approvals.length === 1);
  await after.post({ type: "decide", id: after.state.approvals[0]?.id ?? "", decision: "allow" });
  await after.until(({ status }) => status === "idle");
  expect(JSON.stringify(after.state.messages)).toContain("Hello, Ada.");
});

test("asks again about all calls of an answer, also about one that was still previewed when the server closed", async () => {
  const store = memoryStore();
  const [previewing, release] = [gate(), gate()];
  const greetSlowly = defineTool({
    name: "greet_slowly",
    description: "Greets someone, after a long preview.",
    input: { type: "object" },
    capabilities: ["read"],
    preview: async () => {
      previewing.open();
      await release.opened;
      return { changes: [] };
    },
    execute: () => "Hello at last.",
  });
  const both = { calls: [...GREET.calls, { name: "greet_slowly", args: {} }] };
  const openWith =
    (answers: readonly ScriptedAnswer[]): ChatHandlersOptions["open"] =>
    (_id, { approve, conversation }) =>
      new Agent(scriptedProvider(answers), { conversation, tools: [greeter, greetSlowly], approve });
  const handlers = createChatHandlers({ identify: () => "1", store, open: openWith([both]) });
  const server = await nodeHttp(handlers);
  const before = await open(server.url);
  await before.post({ type: "send", content: "Greet both." });
  await before.until(({ approvals }) => approvals.length === 1);
  const closed = handlers.close();
  await previewing.opened;
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  release.open();
  await closed;
  await server.stop();

  const after = await open(await start(nodeHttp, [], { store, open: openWith(["Both greeted."]) }));
  for (const name of ["greet", "greet_slowly"]) {
    await after.until(({ approvals }) => approvals[0]?.name === name);
    await after.post({ type: "decide", id: after.state.approvals[0]?.id ?? "", decision: "allow" });
  }
  await after.until(({ status }) => status === "idle");
  expect(after.state.messages.at(-1)).toMatchObject({
    blocks: [{ text: "Hello, Ada." }, { text: "Hello at last." }, { text: "Both greeted." }],
  });
});

test("reports at the end of each message that the conversation cannot be stored, also without onError", async () => {
  const store: ConversationStore = {
    load: async () => [],
    append: async () => {
      throw new Error("no database");
    },
  };
  const talk: Partial<ChatHandlersOptions> = {
    store,
    open: (_id, { conversation }) => new Agent(scriptedProvider(["One.", "Two."]), { conversation }),
  };
  const errors = new EventEmitter();
  const page = await open(
    await start(nodeHttp, [], { ...talk, onError: (error, id) => void errors.emit("error-of", error, id) }),
  );
  for (const content of ["1", "2"]) {
    const reported = once(errors, "error-of");
    await page.post({ type: "send", content });
    const [error, id] = await reported;
    expect([String(error), id]).toEqual([expect.stringContaining("no database"), "1"]);
  }
  const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  onTestFinished(() => warnings.mockRestore());
  const other = await open(await start(nodeHttp, [], talk));
  await other.post({ type: "send", content: "1" });
  await vi.waitFor(() => expect(String(warnings.mock.calls[0]?.[0])).toContain("no database"));
});

/** Conversations that report when they are disposed of. */
function watched(answer: ScriptedAnswer = "Hello.") {
  const disposals = new EventEmitter();
  const disposed: string[] = [];
  const open: ChatHandlersOptions["open"] = (id) => {
    const pack: ToolPack = {
      packName: "watched",
      register: (registry) =>
        registry.provide?.({
          dispose: () => {
            disposed.push(id);
            disposals.emit(id);
          },
        }),
    };
    return new Agent(scriptedProvider([answer]), { tools: [pack] });
  };
  return { open, disposed, ended: (id: string) => once(disposals, id) };
}

test("does not close a conversation that works although no page has been connected for long", async () => {
  const release = gate();
  const answer = async () => {
    await release.opened;
    return "Done at last.";
  };
  const { open: openWatched, ended } = watched();
  const url = (
    await start(nodeHttp, [], {
      idleMs: 20,
      open: (id, questions) =>
        id === "worker"
          ? new Agent({
              respond: async () => ({ content: await answer(), toolCalls: [], finishReason: "stop" }),
            })
          : openWatched(id, questions),
    })
  ).replace("session=1", "session=");
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ type: "send", content: "Work." });
  expect((await fetch(`${url}worker`, { method: "POST", headers, body })).status).toBe(202);
  // The time of another conversation, which became idle later, has passed.
  const closed = ended("other");
  (await open(`${url}other`)).close();
  await closed;
  const page = await open(`${url}worker`);
  release.open();
  await page.until(({ status }) => status === "idle");
  expect(page.state.messages).toMatchObject([{ content: "Work." }, { blocks: [{ text: "Done at last." }] }]);
});

test("closes the conversation that has been idle for longest when too many are, and none that is watched", async () => {
  const { open: openWatched, disposed, ended } = watched();
  const url = (await start(nodeHttp, [], { maxIdle: 2, open: openWatched })).replace("session=1", "session=");
  const page = await open(`${url}watched`);
  const post = async (id: string) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ type: "stop" });
    expect((await fetch(`${url}${id}`, { method: "POST", headers, body })).status).toBe(202);
  };
  for (const id of ["a", "b", "a"]) await post(id);
  const first = ended("a");
  await post("c");
  await first;
  const second = ended("b");
  await post("a");
  await second;
  expect(disposed).toEqual(["a", "b"]);
  expect((await page.post({ type: "stop" })).status).toBe(202);
});

test("lets a client take only the actions that identify() allows it, and tells its page", async () => {
  const store = memoryStore();
  const url = await start(nodeHttp, [], {
    store,
    identify: (request) => {
      const role = new URL(request.url).searchParams.get("role");
      if (role === "colleague") return { id: "desk" };
      if (role === "customer") return { id: "desk", actions: ["send", "stop"] };
      if (role === "odd") return { id: "desk", actions: null as never };
      return { id: "desk", actions: [] };
    },
    open: (_id, { approve, conversation }) =>
      new Agent(scriptedProvider([GREET, "Greeted."]), { conversation, tools: [greeter], approve }),
  });
  const as = (role: string) => url.replace("session=1", `role=${role}`);
  const [customer, colleague, viewer, odd] = await Promise.all(
    ["customer", "colleague", "viewer", "odd"].map((role) => open(as(role))),
  );
  if (!customer || !colleague || !viewer || !odd) throw new Error("a page is missing");
  expect([customer.state.actions, colleague.state.actions, viewer.state.actions]).toEqual([
    ["send", "stop"],
    undefined,
    [],
  ]);
  const hello = { type: "send", content: "Greet Ada." } as const;
  expect([(await viewer.post(hello)).status, (await odd.post(hello)).status]).toEqual([403, 403]);
  expect((await customer.post(hello)).status).toBe(202);
  await customer.until(({ approvals }) => approvals.length === 1);
  const decision = { type: "decide", id: customer.state.approvals[0]?.id ?? "", decision: "allow" } as const;
  const refused = await customer.post(decision);
  expect([refused.status, await refused.json()]).toEqual([
    403,
    { error: "You may not decide in this conversation." },
  ]);
  expect((await colleague.post(decision)).status).toBe(202);
  await customer.until(({ status }) => status === "idle");
  expect(customer.state.messages.at(-1)).toMatchObject({ blocks: [{ state: "ok" }, { text: "Greeted." }] });
});

test("passes tools the context of the client that sent the message, and refuses a wrong one to the compiler", async () => {
  const context = contextType<{ readonly user: string }>();
  const whoami = defineTool({
    name: "whoami",
    description: "Says who asks.",
    context,
    input: { type: "object" },
    execute: (_input, call) => call.context.user,
  });
  const ASK = { calls: [{ name: "whoami" }] };
  const model = scriptedProvider([ASK, "One.", ASK, "Uno.", ASK, "Two.", ASK, "Three."]);
  const open_ = () => ({
    agent: new Agent(model, { tools: [whoami], context }),
    context: { user: "someone" },
  });
  const handlers = createChatHandlers({
    identify: (request) => {
      const user = new URL(request.url).searchParams.get("user");
      return user === null ? "desk" : { id: "desk", context: { user } };
    },
    open: open_,
  });
  // One that names no context fits any agent.
  createChatHandlers({ identify: browserCookie(), open: open_ });
  // @ts-expect-error the context has another form
  createChatHandlers({ identify: () => ({ id: "desk", context: { name: "Ann" } }), open: open_ });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  const page = await open(server.url);
  const ask = async (query: string, action: ChatAction) => {
    const asked = page.events.length;
    const headers = { "content-type": "application/json" };
    await fetch(`${server.url}${query}`, { method: "POST", headers, body: JSON.stringify(action) });
    await page.until(() => page.events.slice(asked).some(({ type }) => type === "done"));
    return page.events.slice(asked).flatMap((event) => (event.type === "tool_end" ? [event.text] : []));
  };
  const send = { type: "send", content: "Who am I?" } as const;
  expect([
    await ask("?user=ann", send),
    await ask("?user=bob", { type: "regenerate" }),
    await ask("?user=cleo", send),
    await ask("", send),
  ]).toEqual([["ann"], ["bob"], ["cleo"], ["someone"]]);
});

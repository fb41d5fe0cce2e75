import { Agent } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import type { AcpHost } from "../src/host.js";
import { serveAcp } from "../src/serve.js";
import { project } from "./editor.js";
import { schemaProblem } from "./schema.js";

interface Answer {
  readonly id?: unknown;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client that writes bytes and reads lines; the model answers "ok", or never if `hangs`. */
function rawClient({ hangs = false, maxMessageBytes = 4 * 1024 * 1024 } = {}) {
  const disposed: string[] = [];
  const messages: Answer[] = [];
  const waiting = new Set<() => void>();
  let count = 0;
  let onAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const host: AcpHost = {
    name: "agent",
    version: "0.0.0",
    openSession: async ({ approve }) => {
      const id = `session-${++count}`;
      const never = (): Promise<string> => {
        onAsked();
        return new Promise(() => undefined);
      };
      const answer = hangs ? never : "ok";
      const agent = new Agent(scriptedProvider(Array.from({ length: 100 }, () => answer)), { approve });
      return {
        id,
        agent,
        dispose: async () => {
          disposed.push(id);
          await agent.dispose();
        },
      };
    },
  };
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  let text = "";
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => {
      text += Buffer.from(chunk).toString();
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) messages.push(JSON.parse(line));
      for (const wake of waiting) wake();
      waiting.clear();
    },
  });
  const served = serveAcp(host, { stream: ndJsonStream(output, input.readable, { maxMessageBytes }) });
  const write = (line: string): Promise<void> => writer.write(Buffer.from(line));
  const end = async (): Promise<void> => {
    await writer.close().catch(() => undefined);
    await served;
  };
  onTestFinished(end);
  return {
    /** Resolves when the model that never answers is asked. */
    asked,
    messages,
    disposed,
    served,
    end,
    write,
    send: (message: object) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    /** The next response to a request, whether it has arrived already or not. */
    answer: async (id: unknown): Promise<Answer> => {
      for (;;) {
        const at = messages.findIndex(
          (message) => "id" in message && message.id === id && !("method" in message),
        );
        if (at !== -1) return messages.splice(at, 1)[0] as Answer;
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
  };
}

/** A client with an open session. */
async function opened(options?: Parameters<typeof rawClient>[0]) {
  const client = rawClient(options);
  await client.send({ id: "init", method: "initialize", params: { protocolVersion: 1 } });
  await client.answer("init");
  await client.send({ id: "new", method: "session/new", params: { cwd: project(), mcpServers: [] } });
  const { result } = await client.answer("new");
  return { ...client, sessionId: result?.sessionId ?? "" };
}

/** Checks that the session still answers. */
async function stillWorks({ send, answer, sessionId }: Awaited<ReturnType<typeof opened>>): Promise<void> {
  const prompt = [{ type: "text", text: "Hi" }];
  await send({ id: "last", method: "session/prompt", params: { sessionId, prompt } });
  expect(await answer("last")).toMatchObject({ result: { stopReason: "end_turn" } });
}

test("answers lines that are not messages with an error, and the session continues", async () => {
  const client = await opened();
  for (const line of [
    "{",
    "[]",
    "1",
    '"x"',
    "null",
    "\u0000",
    "{}",
    '{"jsonrpc":"1.0","id":1}',
    "[[[[",
    "\n",
  ]) {
    await client.write(`${line}\n`);
  }
  await stillWorks(client);
  const errors = client.messages.filter(({ error }) => error !== undefined);
  expect(errors.length).toBeGreaterThan(4);
  for (const message of errors) expect(schemaProblem(message)).toBeUndefined();
});

test("answers wrong types, unknown methods and unknown sessions with a clear error", async () => {
  const client = await opened();
  const { sessionId } = client;
  const wrong = [
    { method: "session/prompt", params: { sessionId: 7, prompt: "x" } },
    { method: "session/prompt", params: { sessionId: "none", prompt: [] } },
    { method: "session/prompt", params: { sessionId, prompt: [{ type: "image", data: 5 }] } },
    { method: "session/prompt" },
    { method: "session/new", params: { cwd: "relative", mcpServers: [] } },
    { method: "session/new", params: { cwd: "/", mcpServers: {} } },
    { method: "session/new", params: null },
    { method: "session/load", params: { sessionId, cwd: 1, mcpServers: [] } },
    { method: "session/set_mode", params: { sessionId, modeId: "root" } },
    { method: "session/set_config_option", params: { sessionId, configId: "__proto__", value: {} } },
    { method: "session/delete", params: { sessionId: "../../etc/passwd" } },
    { method: "session/nothing", params: {} },
    { method: "__proto__", params: {} },
    { method: "", params: [] },
  ];
  for (const [id, message] of wrong.entries()) {
    await client.send({ id, ...message });
    const answer = await client.answer(id);
    expect(answer.error, JSON.stringify(message)).toBeDefined();
    expect(answer.error?.message).not.toMatch(/undefined|TypeError|at .*\.js/);
    expect(schemaProblem(answer)).toBeUndefined();
  }
  await stillWorks(client);
});

test("ignores notifications and responses that belong to nothing", async () => {
  const client = await opened();
  for (const params of [{ sessionId: "none" }, { sessionId: 1 }, null, [], { sessionId: client.sessionId }]) {
    await client.send({ method: "session/cancel", params });
    await client.send({ method: "nothing/at_all", params });
    await client.send({ method: "$/cancel_request", params: { requestId: "none" } });
  }
  await client.send({ id: 99, result: {} });
  await client.send({ id: "r1", error: { code: 1, message: "x" } });
  await stillWorks(client);
});

test("refuses a deeply nested message, and answers a message of a megabyte", async () => {
  const client = await opened();
  const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  await client.write(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":${deep}}\n`);
  expect((await client.answer(1)).error).toBeDefined();
  const prompt = [{ type: "text", text: "x".repeat(1024 * 1024) }];
  await client.send({ id: 2, method: "session/prompt", params: { sessionId: client.sessionId, prompt } });
  expect(await client.answer(2)).toMatchObject({ result: { stopReason: "end_turn" } });
});

test("closes the connection and all its sessions after a line beyond the limit", async () => {
  const client = await opened({ maxMessageBytes: 1024 });
  await client.write("x".repeat(5000)).catch(() => undefined);
  await client.served;
  expect(client.disposed).toEqual([client.sessionId]);
});

test("closes all sessions, also one that is answering, when the input ends in the middle of a message", async () => {
  const client = await opened({ hangs: true });
  const prompt = [{ type: "text", text: "Hi" }];
  await client.send({ id: 1, method: "session/prompt", params: { sessionId: client.sessionId, prompt } });
  await client.write('{"jsonrpc":"2.0","id":2,"meth');
  await client.end();
  expect(client.disposed).toEqual([client.sessionId]);
});

test("answers one of fifty simultaneous prompts, and refuses the others with a reason", async () => {
  const client = await opened();
  const params = { sessionId: client.sessionId, prompt: [{ type: "text", text: "Hi" }] };
  await Promise.all(
    Array.from({ length: 50 }, (_, id) => client.send({ id, method: "session/prompt", params })),
  );
  const answers = await Promise.all(Array.from({ length: 50 }, (_, id) => client.answer(id)));
  const failed = answers.filter(({ error }) => error !== undefined);
  expect(answers.some(({ result }) => result?.stopReason === "end_turn")).toBe(true);
  for (const { error } of failed) expect(error?.message).toContain("answering another message");
  await stillWorks(client);
});

test("gives each use of a repeated id its own answer", async () => {
  const client = await opened();
  const params = { sessionId: client.sessionId, prompt: [{ type: "text", text: "Hi" }] };
  for (let n = 0; n < 3; n++) {
    await client.send({ id: 1, method: "session/prompt", params });
    expect(await client.answer(1)).toMatchObject({ result: { stopReason: "end_turn" } });
  }
});

test("stops a prompt cancelled by $/cancel_request, and the session continues", async () => {
  const client = await opened({ hangs: true });
  const params = { sessionId: client.sessionId, prompt: [{ type: "text", text: "Hi" }] };
  await client.send({ id: 1, method: "session/prompt", params });
  await client.asked;
  await client.send({ method: "$/cancel_request", params: { requestId: 1 } });
  const answer = await client.answer(1);
  expect(answer.result?.stopReason ?? answer.error?.code).toSatisfy(
    (one) => one === "cancelled" || one === -32800,
  );
});

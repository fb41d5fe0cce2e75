import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import type { ChatAction, ChatEvent } from "@agent/web";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "./app.js";

/** Starts one server. Visitors use plain HTTP, each with their own cookie. */
async function serve(folder: string, script: readonly ScriptedAnswer[]) {
  const tokens: string[] = [];
  const app = createApp({
    provider: scriptedProvider(script),
    workspace: folder,
    sessions: join(folder, ".sessions"),
    page: folder,
    printToken: (token) => tokens.push(token),
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    app.closeAllConnections();
    if (app.listening) await new Promise((resolve) => app.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(app.address() as AddressInfo).port}`, tokens, close };
}

function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), "example-http-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "index.html"), "<p>page</p>");
  return folder;
}

/** A visitor: opens the printed address, gets a cookie, and sends it with every later request. */
async function visit({ url, tokens }: { url: string; tokens: readonly string[] }, known?: string) {
  const page = await fetch(`${url}/?token=${tokens.at(-1)}`);
  const cookie = known ?? page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const act = async (action: ChatAction): Promise<number> => {
    const headers = { cookie, "content-type": "application/json" };
    const { status } = await fetch(`${url}/chat`, { method: "POST", headers, body: JSON.stringify(action) });
    return status;
  };
  return { cookie, act, events: () => follow(`${url}/chat`, cookie) };
}

/** The events of a conversation as they arrive, until one of the wanted type. */
async function follow(url: string, cookie: string) {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const response = await fetch(url, { headers: { cookie }, signal: gone.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  const next = async (): Promise<ChatEvent> => {
    for (;;) {
      const end = waiting.indexOf("\n\n");
      if (end === -1) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error("The stream has ended.");
        waiting += value;
        continue;
      }
      const event = waiting.slice(0, end);
      waiting = waiting.slice(end + 2);
      if (event.startsWith("data: ")) return JSON.parse(event.slice("data: ".length));
    }
  };
  return async <Type extends ChatEvent["type"]>(type: Type): Promise<Extract<ChatEvent, { type: Type }>> => {
    for (;;) {
      const event = await next();
      if (event.type === type) return event as Extract<ChatEvent, { type: Type }>;
    }
  };
}

test("answers a request for an unreadable address, and the server continues", async () => {
  const { url } = await serve(workspace(), []);
  expect((await fetch(`${url}//`)).status).toBe(404);
  expect((await fetch(url)).status).toBe(401);
});

test("sends events as SSE, and runs a call only after a second request allows it", async () => {
  const folder = workspace();
  const file = join(folder, "new.txt");
  const server = await serve(folder, [
    { calls: [{ name: "write_file", args: { path: file, content: "x" } }] },
    "Written.",
  ]);
  const ann = await visit(server);
  const until = await ann.events();
  expect((await until("snapshot")).state.messages).toEqual([]);
  expect(await ann.act({ type: "send", content: "Write it." })).toBe(202);
  const { request } = await until("approval");
  expect(request).toMatchObject({ name: "write_file", args: { path: file } });
  expect(existsSync(file)).toBe(false);
  expect(await ann.act({ type: "decide", id: request.id, decision: "allow" })).toBe(202);
  expect(await until("tool_end")).toMatchObject({ name: "write_file", outcome: "ok" });
  expect((await until("done")).text).toBe("Written.");
  expect(readFileSync(file, "utf8")).toBe("x");
});

test("keeps a separate conversation for each visitor, which survives a restart of the server", async () => {
  const folder = workspace();
  const first = await serve(folder, ["Hello, Ann.", "Hello, Bob."]);
  const [ann, bob] = [await visit(first), await visit(first)];
  expect(ann.cookie).not.toBe(bob.cookie);
  for (const [visitor, text] of [
    [ann, "I am Ann."],
    [bob, "I am Bob."],
  ] as const) {
    const until = await visitor.events();
    await visitor.act({ type: "send", content: text });
    await until("done");
  }
  await first.close();
  expect(readdirSync(join(folder, ".sessions")).filter((name) => name.endsWith(".jsonl"))).toHaveLength(2);

  const second = await serve(folder, ["Still here."]);
  const back = await visit(second, ann.cookie);
  const { state } = await (await back.events())("snapshot");
  const shown = JSON.stringify(state.messages);
  expect(shown).toContain("Hello, Ann.");
  expect(shown).not.toContain("Bob");
});

test("refuses a request without a cookie, and ignores a decision about someone else's question", async () => {
  const folder = workspace();
  const file = join(folder, "new.txt");
  const server = await serve(folder, [
    { calls: [{ name: "write_file", args: { path: file, content: "x" } }] },
    "It was not written.",
  ]);
  expect((await fetch(`${server.url}/chat`)).status).toBe(403);
  const [ann, eve] = [await visit(server), await visit(server)];
  const until = await ann.events();
  await ann.act({ type: "send", content: "Write it." });
  const { request } = await until("approval");
  await eve.act({ type: "decide", id: request.id, decision: "allow" });
  await ann.act({ type: "decide", id: request.id, decision: { deny: "No." } });
  expect((await until("done")).text).toBe("It was not written.");
  expect(existsSync(file)).toBe(false);
});

test("opens for one browser per printed token, and for no cookie that it did not issue", async () => {
  const { url, tokens } = await serve(workspace(), []);
  const [token] = tokens;
  for (const wrong of ["", "?token=", "?token=x", `?token=${token?.slice(1)}`]) {
    const { status, headers } = await fetch(`${url}/${wrong}`);
    expect([status, headers.get("set-cookie")]).toEqual([401, null]);
  }
  const first = await fetch(`${url}/?token=${token}`);
  const cookie = first.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  expect((await fetch(`${url}/?token=${token}`)).status).toBe(401);
  expect(tokens).toHaveLength(2);
  const [issued = ""] = cookie.split(";");
  const [id = "", signature = ""] = issued.slice("chat=".length).split(".");
  const selfMade = ["00000000-0000-4000-8000-000000000000", id, `${id}.${"A".repeat(43)}`].map(
    (x) => `chat=${x}`,
  );
  const swapped = `chat=00000000-0000-4000-8000-000000000000.${signature}`;
  for (const wrong of [...selfMade, swapped]) {
    expect((await fetch(`${url}/chat`, { headers: { cookie: wrong } })).status).toBe(403);
    expect((await fetch(url, { headers: { cookie: wrong } })).status).toBe(401);
  }
  const gone = new AbortController();
  const { status } = await fetch(`${url}/chat`, { headers: { cookie: issued }, signal: gone.signal });
  gone.abort();
  expect(status).toBe(200);
});

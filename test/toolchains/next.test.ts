import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer, type ChatServer, call, startChatServer } from "@agent/test-support";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { codeBlocks } from "../docs/markdown.js";
import { type App, createApp, isInstalled, type NextServer, PACKAGES, startNext, why } from "./app.js";

const README = join(PACKAGES, "web", "README.md");
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
const FIRST = "00000000-0000-4000-8000-000000000007";
const SECOND = "00000000-0000-4000-8000-000000000009";
const THIRD = "00000000-0000-4000-8000-000000000011";
const POLLING = { timeout: 120_000, interval: 100 };
const JSON_TYPE = { cookie: `chat=${FIRST}`, "content-type": "application/json" };

/** The app of the README of @agent/web, word for word: a route and a page. */
let app: App;
let model: ChatServer;
let server: NextServer;

beforeAll(async () => {
  if (!isInstalled) return;
  app = createApp("chat", ["core", "provider-openai", "tools-fs", "web"]);
  const [route = ""] = codeBlocks(README, "ts");
  const [page = ""] = codeBlocks(README, "tsx");
  mkdirSync(join(app.directory, "app/api/chat"), { recursive: true });
  writeFileSync(join(app.directory, "app/api/chat/route.ts"), route);
  writeFileSync(join(app.directory, "app/page.tsx"), page);
  writeFileSync(join(app.directory, "plan.txt"), "Rest.\n");
  // The build must work without an API key.
  const built = await app.tool("next", "build");
  expect(built).toContain("Compiled successfully");
  expect(built).not.toMatch(/warn|⚠/i);
  model = await startChatServer();
  server = await startNext(app.directory, modelVariables());
});
afterAll(async () => {
  await server?.stop();
  await model?.close();
  app?.remove();
});

function modelVariables() {
  return { OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.baseURL };
}

type Post = (action: unknown) => Promise<number>;

/** Follows the events of a visitor, who leaves when `talk` is over. */
async function visit(
  chat: string,
  talk: (events: AsyncGenerator<StreamedEvent>, post: Post) => Promise<void>,
  address = server.address,
): Promise<void> {
  const url = `${address}/api/chat`;
  const headers = { cookie: `chat=${chat}`, "content-type": "application/json" };
  const leave = new AbortController();
  const stream = await fetch(url, { headers, signal: leave.signal });
  const post = async (action: unknown) =>
    (await fetch(url, { method: "POST", headers, body: JSON.stringify(action) })).status;
  try {
    await talk(eventsOf(stream), post);
  } finally {
    leave.abort();
  }
}

/** The next event of this type. Reads with `next()`: a loop that is left would end the stream. */
async function firstEvent(events: AsyncGenerator<StreamedEvent>, type: string): Promise<StreamedEvent> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The stream ended without ${type}.`);
    if (value.type === type) return value;
  }
}

/** The model reads the plan, then answers. */
function scriptPlan(text: string): void {
  const path = join(app.directory, "plan.txt");
  model.script(answer({ calls: [call("call_1", "read_file", { path })] }), answer({ content: text }));
}

describe.skipIf(!isInstalled)(`the Next.js app of the README of @agent/web${why}`, () => {
  test("answers a chat over HTTP, with a tool call that waits for a decision", async () => {
    scriptPlan("The plan is to rest.");
    const url = `${server.address}/api/chat`;
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    const stream = await fetch(url, { headers: { cookie: `chat=${FIRST}` }, signal: leave.signal });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const post = async (action: unknown) =>
      (await fetch(url, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(action) })).status;
    expect(await post({ type: "send", content: "What is the plan?" })).toBe(202);
    const types: string[] = [];
    for await (const event of eventsOf(stream)) {
      types.push(event.type);
      if (event.type === "approval")
        expect(await post({ type: "decide", id: event.request.id, decision: "allow" })).toBe(202);
      if (event.type === "done") break;
    }
    expect(types).toEqual(
      expect.arrayContaining(["snapshot", "sent", "approval", "tool_end", "text", "done"]),
    );
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("Rest.");
    expect(server.said()).toBe("");
  });

  test("asks again after a restart about a call that waited for a decision", async () => {
    scriptPlan("To rest, as before.");
    await visit(SECOND, async (events, post) => {
      expect(await post({ type: "send", content: "What is the plan?" })).toBe(202);
      await firstEvent(events, "approval");
    });
    await server.stop();
    server = await startNext(app.directory, modelVariables());
    await visit(SECOND, async (events, post) => {
      const { request } = await firstEvent(events, "approval");
      expect(await post({ type: "decide", id: request.id, decision: "allow" })).toBe(202);
      expect(await firstEvent(events, "done")).toMatchObject({ text: "To rest, as before." });
    });
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("Rest.");
  });

  test("connects pages to the new route in development, when its file has changed", async () => {
    const dev = await startNext(app.directory, modelVariables(), "dev");
    onTestFinished(() => dev.stop());
    await visit(
      THIRD,
      async (events, post) => {
        await firstEvent(events, "snapshot");
        model.script(answer({ content: "Before." }));
        expect(await post({ type: "send", content: "Hi." })).toBe(202);
        expect(await firstEvent(events, "done")).toMatchObject({ text: "Before." });
        const route = join(app.directory, "app/api/chat/route.ts");
        writeFileSync(route, `${readFileSync(route, "utf8")}\nexport const changed = true;\n`);
        // The next request loads the new file, which ends the streams of the old one.
        const ended = (async () => {
          while (!(await events.next()).done);
          return true;
        })();
        await expect
          .poll(async () => {
            await post({ type: "stop" });
            return await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 200, false))]);
          }, POLLING)
          .toBe(true);
      },
      dev.address,
    );
    await visit(
      THIRD,
      async (events, post) => {
        expect(JSON.stringify(await firstEvent(events, "snapshot"))).toContain("Before.");
        model.script(answer({ content: "After." }));
        expect(await post({ type: "send", content: "And now?" })).toBe(202);
        expect(await firstEvent(events, "done")).toMatchObject({ text: "After." });
      },
      dev.address,
    );
  });

  test("gives a browser without a cookie its own", async () => {
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    const { status, headers } = await fetch(`${server.address}/api/chat`, { signal: leave.signal });
    expect([status, headers.get("set-cookie")]).toEqual([200, expect.stringMatching(/^chat=[\da-f-]{36};/)]);
  });

  test.skipIf(CHROMIUM === undefined)("shows it in a browser (skipped without chromium)", async () => {
    scriptPlan("Still to rest.");
    // As root, in a container, Chromium cannot make its own sandbox; it opens only this page.
    const browser = await puppeteer.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(server.address);
    await page.type("input", "What is the plan?");
    await page.keyboard.press("Enter");
    await (await page.waitForSelector("button::-p-text(Allow)"))?.click();
    await page.waitForSelector("p::-p-text(Still to rest.)");
    expect(await page.$eval("main", ({ textContent }) => textContent)).toContain("[read_file: ok]");
  });
});

interface StreamedEvent {
  readonly type: string;
  readonly request: { readonly id: string };
}

async function* eventsOf(response: Response): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const records = text.split("\n\n");
    text = records.pop() ?? "";
    for (const record of records) {
      if (record.startsWith("data: ")) yield JSON.parse(record.slice("data: ".length));
    }
  }
}

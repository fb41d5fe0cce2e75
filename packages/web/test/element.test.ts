import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Agent, agentTool, Conversation, defineTool } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import axe from "axe-core";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ChatAction } from "../src/events.js";
import { type ChatHandlersOptions, createChatHandlers } from "../src/server/handlers.js";
import { toNodeListener } from "../src/server/node.js";
import { type ChatRuns, runChat } from "../src/server/runChat.js";
import { asking } from "./asking.js";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
if (CHROMIUM === undefined) process.stdout.write("Skipped: the element in a page. It needs chromium.\n");
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, SNIPPET] = /```html\n([^`]*)```/.exec(README) ?? [];
/** Where to keep pictures of the element, for people. */
const PICTURES = process.env.AGENT_TEST_PICTURES;

let browser: Browser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  // Chromium has no sandbox as root or in a container. It opens only pages of this test.
  browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});
afterAll(async () => await browser?.close());

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object", properties: { amount: { type: "number" } } },
  describe: () => ({
    targets: [{ type: "url", url: "https://shop.example/pay" }],
    always: [{ pattern: "shop.example", label: "the shop" }],
  }),
  execute: ({ amount }) => `Paid ${amount}.`,
});

const twice = defineTool({
  name: "pay_twice",
  description: "Pays twice.",
  input: { type: "object" },
  capabilities: ["read"],
  async execute(_input, { callTool }) {
    for (const amount of [1, 2]) await callTool?.("pay", { amount });
    return "Paid twice.";
  },
});
/** A tool that describes its calls with text that hides and reorders, and with HTML. */
const overwrite = defineTool({
  name: "overwrite",
  description: "Overwrites a file.",
  input: { type: "object", properties: { note: { type: "string" } } },
  capabilities: ["write"],
  describe: () => ({
    title: "<img src=x onerror=alert(1)>\u202etxt.exe",
    needs: [{ kind: "write", path: "/home/me/.bashrc", reason: "outside the project" }],
  }),
  preview: () => ({
    changes: [
      {
        path: "/home/me/\u202e.bashrc",
        change: "edited",
        added: 40_000,
        removed: 0,
        hunks: [{ oldStart: 1, newStart: 1, lines: Array.from({ length: 40_000 }, () => "+\u200b<b>") }],
      },
    ],
  }),
  execute: (_input, call) => {
    const files = [{ label: "stdout", path: "/tmp/out" }];
    call.report({ ok: false, view: { type: "output", text: "<b>out", exitCode: 3, files, more: 7 } });
    return "Done.";
  },
});
const clerk = agentTool({ name: "clerk", description: "Pays for others." });

/** A page without a build step: the element, loaded from the folder of the package, with a token for the server. */
const HTML = `<!doctype html><html lang="en"><head><title>Desk</title>
<meta name="viewport" content="width=device-width"><style>html, body { height: 100%; margin: 0 }</style>
</head><body><main style="height: 100%; display: flex; flex-direction: column"><h1 style="font: 1rem sans-serif">Desk</h1>${SNIPPET}</main>
<script>document.querySelector("agent-chat").headers = () => ({ authorization: "Bearer ann" });
document.querySelector("agent-chat").credentials = "include";</script></body></html>`;

interface OpenOptions {
  readonly chat?: ReturnType<ChatHandlersOptions["open"]>;
  readonly conversation?: Conversation;
  /** What the client may do. Default: everything. */
  readonly actions?: readonly ChatAction["type"][];
  /** Called with the method of each request of the chat. Returns whether it is refused. */
  readonly onRequest?: (method: string | undefined) => boolean;
}

async function open(answers: readonly ScriptedAnswer[], options: OpenOptions = {}): Promise<Page> {
  const { chat: given, conversation, actions, onRequest } = options;
  const handlers = createChatHandlers({
    identify: (request) => {
      const [, id] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return id === undefined ? id : { id, ...(actions && { actions }) };
    },
    open: (_id, { approve, ask }) =>
      given ??
      new Agent(scriptedProvider(answers), {
        tools: [pay, twice, overwrite, clerk, asking],
        approve: (request) => (request.name.startsWith("ask_") ? "allow" : approve(request)),
        host: { ask },
        ...(conversation && { conversation }),
      }),
  });
  const chat = toNodeListener(handlers);
  const server = createServer(async (request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    if (path === "/api/chat") {
      if (onRequest?.(request.method)) return void response.writeHead(503).end();
      return await chat(request, response);
    }
    const [, file] = /^\/dist\/([\w-]+\.js)$/.exec(path) ?? [];
    if (file === undefined) return void response.setHeader("content-type", "text/html").end(HTML);
    response.setHeader("content-type", "text/javascript").end(await readFile(`${DIST}${file}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  onTestFinished(async () => {
    await context.close();
    await handlers.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(problems).toEqual([]);
  });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return page;
}

async function send(page: Page, text: string): Promise<void> {
  await (await find(page, "textarea", "")).focus();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** Waits in the page itself: changes below a shadow root wake no one outside of it. */
async function find(page: Page, selector: string, text: string): Promise<ElementHandle<Element>> {
  const found = await page.waitForFunction(
    (wanted: string, part: string) => {
      const all = document.querySelector("agent-chat")?.shadowRoot?.querySelectorAll(wanted) ?? [];
      const isShown = (one: Element): boolean => one.checkVisibility() && one.textContent.includes(part);
      return [...all].find(isShown);
    },
    { polling: 50 },
    selector,
    text,
  );
  return found.asElement() as ElementHandle<Element>;
}

const shows = (page: Page, text: string) => find(page, "article, p, button", text);
const click = async (page: Page, label: string) => await (await find(page, "button", label)).click();
const texts = (page: Page, selector: string) =>
  page.$$eval(`agent-chat >>> ${selector}`, (found) => found.map(({ textContent }) => textContent));

async function fieldHolds(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    (wanted: string) =>
      document.querySelector("agent-chat")?.shadowRoot?.querySelector("textarea")?.value === wanted,
    { polling: 50 },
    text,
  );
}

function shownButtons(page: Page): Promise<string[]> {
  return page.$$eval("agent-chat >>> button", (all) =>
    all.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent),
  );
}

async function findViolations(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

const CALL = { calls: [{ name: "pay", args: { amount: 7 } }] };

describe.skipIf(CHROMIUM === undefined)("<agent-chat>", () => {
  test("sends, asks, edits and answers again, by keyboard and mouse", async () => {
    const page = await open([CALL, "Paid it:\n```\npaid 7\n```\nAll well.", "Hello.", "Salut."]);
    await send(page, "Pay <b>7</b>.");
    await shows(page, "Allow");
    expect(await texts(page, "article.user .bubble")).toEqual(["Pay <b>7</b>."]);
    await click(page, "Allow");
    await shows(page, "All well.");
    expect(await texts(page, "pre code")).toEqual(["paid 7\n"]);
    expect(await texts(page, ".call summary")).toEqual([expect.stringContaining("ok")]);
    await click(page, "Edit");
    expect(await page.$eval("agent-chat >>> textarea", (field) => (field as HTMLTextAreaElement).value)).toBe(
      "Pay <b>7</b>.",
    );
    await page.keyboard.press("Escape");
    await click(page, "Edit");
    await page.$eval("agent-chat >>> textarea", (field) => {
      (field as HTMLTextAreaElement).value = "Greet me.";
    });
    await click(page, "Send");
    await shows(page, "Hello.");
    expect(await texts(page, "article")).toEqual([
      expect.stringContaining("Greet me."),
      expect.stringContaining("Hello."),
    ]);
    await click(page, "Try again");
    await shows(page, "Salut.");
    expect(await texts(page, "article")).toHaveLength(2);
  });

  test("offers the rules that a tool suggests, and does not ask again after one is chosen", async () => {
    const page = await open([CALL, "Paid.", CALL, "Paid again."]);
    await send(page, "Pay.");
    await click(page, "Always allow pay(shop.example)");
    await shows(page, "Paid.");
    await send(page, "Pay again.");
    await shows(page, "Paid again.");
  });

  test("shows the access that a call needs, hidden characters, and how much of a diff and an output is left out", async () => {
    const page = await open([{ calls: [{ name: "overwrite", args: { note: "a\u202eb" } }] }, "All written."]);
    await send(page, "Write.");
    await find(page, ".question .error", "It writes /home/me/.bashrc: outside the project.");
    await find(page, ".question figcaption", "/home/me/\\u202e.bashrc edited, +40000");
    await find(page, ".question .added", "+\\u200b<b>");
    await find(page, ".question figure p", "more lines are not shown");
    await find(page, ".call pre", "a\\u202eb");
    await click(page, "Allow");
    await shows(page, "All written.");
    await find(page, ".call summary", "<img src=x onerror=alert(1)>\\u202etxt.exe");
    expect(await texts(page, "img")).toEqual([]);
    await find(page, ".call pre", "<b>out");
    await find(page, ".call .quiet", "and 7 more");
    await find(page, ".call .quiet", "exit code 3 · stdout: /tmp/out");
  });

  test("asks about the calls of a child agent, and says which agent it is", async () => {
    const task = { calls: [{ name: "clerk", args: { task: "Pay 7." } }] };
    const page = await open([task, CALL, "The clerk paid.", "All is paid."]);
    await send(page, "Let the clerk pay.");
    await click(page, "Allow");
    await find(page, ".call.waiting summary", "clerk: pay");
    expect(await texts(page, ".call.waiting pre")).toEqual([expect.stringContaining('"amount": 7')]);
    await click(page, "Allow");
    await shows(page, "All is paid.");
    expect(await texts(page, ".question")).toEqual([]);
    const [child = "", ...others] = await texts(page, ".child > summary");
    expect(child).toMatch(/^clerk done · \d+ s/);
    expect(others).toEqual([]);
    await (await find(page, ".child > summary", "clerk")).click();
    await find(page, ".child .call summary", "pay");
  });

  test("asks about every call that a tool makes, one by one", async () => {
    const page = await open([{ calls: [{ name: "pay_twice" }] }, "Both are paid."]);
    await send(page, "Pay twice.");
    await click(page, "Allow");
    await find(page, ".call.waiting pre", '"amount": 1');
    await click(page, "Allow");
    await find(page, ".call.waiting pre", '"amount": 2');
    await click(page, "Allow");
    await shows(page, "Both are paid.");
    expect(await texts(page, ".question")).toEqual([]);
    // They are inside the call that made them.
    expect(await texts(page, ".call .call summary strong")).toEqual(["pay", "pay"]);
    expect(await texts(page, ".assistant > .call > details strong")).toEqual(["pay_twice"]);
  });

  test("shows that a child agent which failed no longer works", async () => {
    const failing = () => {
      throw new Error("The server is down.");
    };
    const page = await open([
      { calls: [{ name: "clerk", args: { task: "Pay." } }] },
      CALL,
      failing,
      "It failed.",
    ]);
    await send(page, "Let the clerk pay.");
    await click(page, "Allow");
    await find(page, ".call.waiting summary", "clerk: pay");
    await click(page, "Allow");
    await shows(page, "It failed.");
    expect(await texts(page, ".child > summary")).toEqual([expect.stringMatching(/^clerk stopped · /)]);
  });

  test("shows questions of tools: choices as buttons, another answer as text, a form with its fields", async () => {
    const [size, form] = [{ calls: [{ name: "ask_size" }] }, { calls: [{ name: "ask_form" }] }];
    const page = await open([size, "Large.", size, "Huge.", form, "Sent."]);
    const results = () => texts(page, ".call pre:last-of-type");
    await send(page, "Order it.");
    await find(page, "form.asked", "The model asks:Which size?");
    await find(page, "#notice", "Waiting for your answer.");
    await click(page, "Large, of course");
    await shows(page, "Large.");
    expect((await results()).at(-1)).toContain('"size":"large"');
    await send(page, "Another one.");
    await (await find(page, "form.asked label", "Another answer")).click();
    await page.keyboard.type("huge");
    await page.keyboard.press("Enter");
    await shows(page, "Huge.");
    expect((await results()).at(-1)).toContain('"size":"huge"');
    await send(page, "Ship it.");
    await (await find(page, "form.asked label", "name")).click();
    await page.keyboard.type("Ann");
    await (await find(page, "form.asked label.check", "gift")).click();
    await page.$eval("agent-chat >>> form.asked select", (one) => {
      (one as HTMLSelectElement).value = "blue";
    });
    expect(await findViolations(page)).toEqual([]);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/questions.png` });
    await click(page, "Send answer");
    await shows(page, "Sent.");
    expect((await results()).at(-1)).toContain(
      '{"answer":"yes","values":{"name":"Ann","count":2,"gift":true,"colour":"blue"}}',
    );
    expect(await texts(page, "form.asked")).toEqual([]);
  });

  test("keeps a message that the server refused in the field, and says why", async () => {
    const page = await open(["Hello."]);
    await shows(page, "Send");
    await page.$eval("agent-chat", (chat) => {
      (chat as HTMLElement & { headers: unknown }).headers = undefined;
    });
    await shows(page, "not logged in");
    await send(page, "Anyone?");
    await fieldHolds(page, "Anyone?");
  });

  test("continues to edit a message if the server refused the change", async () => {
    let isRefused = false;
    const page = await open(["Hello.", "Salut."], { onRequest: () => isRefused });
    await send(page, "Greet me.");
    await shows(page, "Try again");
    isRefused = true;
    await click(page, "Edit");
    await page.keyboard.type(" In French.");
    await click(page, "Send");
    await fieldHolds(page, "Greet me. In French.");
    await shows(page, "Cancel edit");
    isRefused = false;
    await click(page, "Send");
    await shows(page, "Salut.");
    expect(await texts(page, "article.user .bubble")).toEqual(["Greet me. In French."]);
  });

  test("connects once with what was set before it was loaded", async () => {
    const methods: (string | undefined)[] = [];
    const page = await open(["Hello."], { onRequest: (method) => methods.push(method) === 0 });
    await send(page, "Hi.");
    await shows(page, "Hello.");
    expect(methods).toEqual(["GET", "POST"]);
  });

  test("offers no change of a message of a durable run", async () => {
    const run = { state: "done", input: "Hello.", messages: [], approvals: [] };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const done = { type: "done", text: "Hello, Ann.", turns: 1, finishReason: "stop", usage } as const;
    const refuse = async () => false;
    const runs: ChatRuns = {
      ...{ get: async () => run, send: refuse, decide: refuse, cancel: refuse, retry: refuse },
      async *events() {
        yield { cursor: "1", event: done };
      },
    };
    const page = await open([], { chat: runChat({ runs, id: "ann", start: refuse }) });
    await shows(page, "Hello, Ann.");
    expect(await shownButtons(page)).toEqual(["Send"]);
  });

  test("offers only what the client may do, and says that someone else decides", async () => {
    const page = await open([CALL], { actions: ["send"] });
    await send(page, "Pay.");
    await shows(page, "Another user decides about this call.");
    await shows(page, "Waiting for a decision.");
    expect(await shownButtons(page)).toEqual(["Send"]);

    const conversation = new Conversation({
      session: { systemPrompt: "", messages: [{ role: "user", content: "Pay." }] },
    });
    const watching = await open([], { conversation, actions: [] });
    await shows(watching, "Pay.");
    expect(await shownButtons(watching)).toEqual([]);
    expect(await watching.$eval("agent-chat >>> textarea", (one) => one.checkVisibility())).toBe(false);
  });

  test("offers no change of a message that the user did not write", async () => {
    const conversation = new Conversation({
      session: {
        systemPrompt: "",
        messages: [
          { role: "user", content: "A summary.", generated: true },
          { role: "assistant", content: "I see." },
          { role: "user", content: "It has ended.", from: "job-1" },
          { role: "assistant", content: "Good." },
        ],
      },
    });
    const page = await open([], { conversation });
    await shows(page, "Good.");
    expect(await texts(page, "article summary")).toEqual(["Note", "job-1"]);
    expect(await texts(page, "button.small")).toEqual([]);
  });

  test.each([
    ["light", 390],
    ["dark", 390],
    ["light", 1280],
    ["dark", 1280],
  ] as const)("has no problem that axe finds, %s at a width of %i", async (scheme, width) => {
    const page = await open(["It is **done**, with `code`:\n```\nnpm test\n```", CALL]);
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await send(page, "Do it, please: the whole list that I sent you yesterday evening.");
    await shows(page, "Try again");
    await send(page, "And pay.");
    await shows(page, "Always allow");
    expect(await findViolations(page)).toEqual([]);
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(overflow).toBe(0);
    const sides = await page.$$eval("agent-chat >>> .buttons", (all) =>
      all.map((one) => getComputedStyle(one).justifyContent),
    );
    expect(sides).toEqual(["normal", width < 480 ? "flex-end" : "normal"]);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/chat-${scheme}-${width}.png` });
  });
});

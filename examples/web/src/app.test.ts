import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createApp } from "./app.js";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
const inBrowser = test.skipIf(CHROMIUM === undefined);
if (CHROMIUM === undefined) console.log("The tests of the page are skipped: install chromium to run them.");

let browser: Browser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  // Chromium has no sandbox as root or in a container. It opens only pages of this test.
  browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
  });
});
afterAll(async () => await browser?.close());

/** Serves the app on an empty folder, with a model that gives the answers of `script`, and opens its page. */
async function open(
  script: (folder: string) => readonly ScriptedAnswer[],
): Promise<{ page: Page; folder: string; port: number }> {
  const folder = mkdtempSync(join(tmpdir(), "example-web-"));
  let token = "";
  const app = createApp({
    provider: scriptedProvider(script(folder)),
    workspace: folder,
    sessions: join(folder, ".sessions"),
    page: fileURLToPath(new URL("../dist/page", import.meta.url)),
    printToken: (next) => {
      token = next;
    },
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  onTestFinished(async () => {
    await context.close();
    app.closeAllConnections();
    await new Promise((resolve) => app.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });
  const { port } = app.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/?token=${token}`);
  return { page, folder, port };
}

async function send(page: Page, text: string): Promise<void> {
  await page.type("textarea", text);
  await page.keyboard.press("Enter");
}

async function shows(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted: string) => document.body.textContent.includes(wanted), {}, text);
}

async function click(page: Page, label: string): Promise<void> {
  await (await page.waitForSelector(`button::-p-text(${label})`))?.click();
}

inBrowser(
  "a command waits for a click, streams its output, and the page survives a reload meanwhile",
  async () => {
    const command = "echo first; until [ -e go ]; do sleep 0.05; done; echo last";
    const { page, folder } = await open((cwd) => [
      { calls: [{ name: "run_bash", args: { command, cwd } }] },
      "It ran.",
    ]);
    await send(page, "Run it.");
    await shows(page, command);
    await page.reload();
    await click(page, "Allow");
    await shows(page, "first");
    expect(await page.$eval(".call", (call) => call.getAttribute("data-state"))).toBe("running");
    writeFileSync(join(folder, "go"), "");
    await shows(page, "It ran.");
    expect(await page.$eval(".call .output", (output) => output.textContent)).toContain("first\nlast");
  },
);

inBrowser("an edit is shown as a diff once it was allowed, and not made when it was denied", async () => {
  const { page, folder } = await open((workspace) => {
    const args = { path: join(workspace, "a.txt"), old_text: "old", new_text: "new" };
    const edit = { calls: [{ name: "edit_file", args }] };
    return [edit, "Denied.", edit, "Edited."];
  });
  const file = join(folder, "a.txt");
  writeFileSync(file, "old\n");
  await send(page, "Change it.");
  await click(page, "Deny");
  await shows(page, "Denied.");
  expect(readFileSync(file, "utf8")).toBe("old\n");
  await send(page, "Do change it.");
  await click(page, "Allow");
  await shows(page, "Edited.");
  expect(readFileSync(file, "utf8")).toBe("new\n");
  expect(
    await page.$$eval(".removed, .added", (lines) => lines.map(({ textContent }) => textContent?.trim())),
  ).toEqual(expect.arrayContaining([expect.stringContaining("old"), expect.stringContaining("new")]));
});

inBrowser("stop ends the answer; the conversation is there again after a reload", async () => {
  const forever = ({ signal }: { signal: AbortSignal }): Promise<string> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { page } = await open(() => [forever, "Here I am."]);
  await send(page, "Think about it.");
  await click(page, "Stop");
  await shows(page, "Stopped.");
  await send(page, "Are you there?");
  await shows(page, "Here I am.");
  await page.reload();
  await shows(page, "Here I am.");
  await shows(page, "Think about it.");
});

inBrowser("shows why the server refused a message", async () => {
  const { page } = await open(() => []);
  await page.waitForSelector("textarea");
  await page.browserContext().deleteCookie(...(await page.browserContext().cookies()));
  await send(page, "Hello?");
  await shows(page, "This conversation is not yours, or you are not logged in.");
  expect(await page.$eval("[role=alert]", ({ textContent }) => textContent)).toContain("not yours");
});

inBrowser("refuses a site that resolves its name to this machine, and a page of another port", async () => {
  const { page, folder, port } = await open((cwd) => [
    { calls: [{ name: "run_bash", args: { command: "touch ran", cwd } }] },
    "It ran.",
  ]);
  const other = createServer((_, response) => response.end("<p>another site</p>"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const post = (url: string): Promise<number | string> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, credentials: "include" };
    const body = JSON.stringify({ type: "send", content: "Run it." });
    const script = `fetch(${JSON.stringify(url)}, ${JSON.stringify({ ...init, body })}).then((r) => r.status, String)`;
    return page.evaluate(script) as Promise<number | string>;
  };
  expect(new URL(page.url()).search).toBe("");
  expect((await page.goto(`http://evil.example:${port}/`))?.status()).toBe(401);
  // A self-made cookie, as a site with this name could set.
  await page.evaluate(`document.cookie = "chat=${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}"`);
  expect(await post("/chat")).toBe(403);
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  expect(await post(`http://127.0.0.1:${port}/chat`)).toBe("TypeError: Failed to fetch");
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForSelector("textarea");
  expect(await page.$$(".user, .call")).toEqual([]);
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

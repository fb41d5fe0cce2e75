import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { toNodeListener } from "@agent/web/node";
import { createChatHandlers } from "@agent/web/server";
import puppeteer from "puppeteer-core";
import { build } from "tsup";
import { expect, onTestFinished, test } from "vitest";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

/** A page whose token is state of React: it comes after the first render. */
const PAGE = `
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useChat } from "@agent/web/react";

function Desk() {
  const [token, setToken] = useState("");
  const headers = { authorization: "Bearer " + token };
  const { connection, error, messages, send } = useChat({ url: "/chat", headers });
  return (
    <main>
      <p>{connection}: {error}</p>
      <button onClick={() => setToken("ann")}>Sign in</button>
      <button onClick={() => void send("Hi.")}>Send</button>
      {messages.map((one) => <p key={one.id}>{one.role === "user" ? one.content : one.blocks.map(({ text }) => text)}</p>)}
    </main>
  );
}
createRoot(document.body).render(<StrictMode><Desk /></StrictMode>);
`;

test.skipIf(CHROMIUM === undefined)(
  "sends the token of a login that came after the first render, and connects again",
  async () => {
    const turbo = fileURLToPath(new URL("../.turbo", import.meta.url));
    mkdirSync(turbo, { recursive: true });
    const directory = mkdtempSync(join(turbo, "sign-in-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, "page.tsx"), PAGE);
    await build({
      config: false,
      silent: true,
      entry: { page: join(directory, "page.tsx") },
      outDir: directory,
      format: "esm",
      platform: "browser",
      noExternal: [/.*/],
      outExtension: () => ({ js: ".js" }),
      define: { "process.env.NODE_ENV": '"development"' },
      esbuildOptions: (options) => {
        options.jsx = "automatic";
      },
    });
    const handlers = createChatHandlers({
      identify: (request) => (request.headers.get("authorization") === "Bearer ann" ? "ann" : undefined),
      open: () => new Agent(scriptedProvider(["Hello, Ann."])),
    });
    const chat = toNodeListener(handlers);
    const server = createServer(async (request, response) => {
      if (request.url === "/chat") return await chat(request, response);
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(
        isScript
          ? await readFile(join(directory, "page.js"))
          : '<body></body><script type="module" src="/page.js"></script>',
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // Chromium has no sandbox as root or in a container. It opens only this page.
    const browser = await puppeteer.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
    onTestFinished(async () => {
      await browser.close();
      await handlers.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForSelector("p::-p-text(refused)");
    await page.click("button::-p-text(Sign in)");
    await page.click("button::-p-text(Send)");
    await page.waitForSelector("p::-p-text(Hello, Ann.)");
    expect(await page.$eval("p", ({ textContent }) => textContent)).toBe("open: ");
  },
);

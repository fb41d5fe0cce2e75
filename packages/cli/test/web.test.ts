import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

const paths: string[] = [];
const server = createServer((request, response) => {
  paths.push(request.url ?? "");
  const link = '<a href="/linked?page=2">next</a>';
  response.writeHead(200, { "content-type": "text/html" }).end(`<h1>Page</h1><p>${request.url} ${link}</p>`);
});
let host = "";
beforeAll(async () => {
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const written = (path: string): string => `call web_fetch {"url":"http://${host}${path}"}`;
/** The same call in a message that does not contain the URL: the model made it up. */
const madeUp = (path: string): string => written(path).replaceAll("/", "\\u002f");

describe("web_fetch in the built command", () => {
  const start = useBuiltChat();

  async function project(permissions = {}) {
    const built = await start();
    built.box.link("@agent/core", "@agent/tools-web");
    const packs = [["@agent/tools-web", { allow: [host] }]];
    const config = { packs, enable: ["web_fetch"], mode: "auto", permissions };
    built.box.write("agent.config.json", JSON.stringify(config));
    paths.length = 0;
    return built;
  }

  test("fetches in auto mode what the user wrote and what that page links to; denies the rest without a terminal", async () => {
    const { box, model } = await project();
    const task = [
      written("/start"),
      `then ${madeUp("/linked?page=2")}`,
      `then ${madeUp("/collect?key=sk-1")}`,
    ];
    await box.run(["--trust", task.join("\n")], { env: model.env });
    expect(paths).toEqual(["/start", "/linked?page=2"]);
    expect(model.lastRequest).toContain("it may carry data out");
  });

  test("follows a rule for the host", async () => {
    const { box, model } = await project({ allow: [`web_fetch(http://${host}/*)`] });
    await box.run(["--trust", madeUp("/anything?x=1")], { env: model.env });
    expect(paths).toEqual(["/anything?x=1"]);
  });

  test("follows a rule against the host", async () => {
    const { box, model } = await project({ deny: ["web_fetch(*127.0.0.1*)"] });
    await box.run(["--trust", written("/start")], { env: model.env });
    expect(paths).toEqual([]);
    expect(model.lastRequest).toContain("web_fetch(*127.0.0.1*)");
  });

  test.skipIf(!hasTmux)(
    "asks in the chat with the whole URL and the reason (skipped without tmux)",
    async () => {
      const { chat } = await project();
      const terminal = await chat(["--trust"]);
      terminal.send(madeUp("/collect?key=sk-1"));
      await terminal.until(/url: http:\/\/127\.0\.0\.1:\d+\/collect\?key=sk-1\s[\s\S]*may carry data out/);
      terminal.press("Escape");
      await terminal.until(/✗ \w+/);
      expect(paths).toEqual([]);
    },
  );
});

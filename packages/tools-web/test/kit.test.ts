import { describePack, type SampleCall } from "@agent/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { WebServer } from "./webServer.js";

const server = new WebServer();
beforeAll(async () => {
  await server.listen();
  server
    .page("/page", "text/html", `<main><h1>Title</h1>${"<p>text of a paragraph</p>".repeat(20_000)}</main>`)
    .page("/search", "application/json", '{"results":[{"url":"https://a.example/","title":"A"}]}')
    .on("/slow", () => undefined);
});
afterAll(() => server.close());

// The address is known only once the server listens, so samples and options are getters.
describePack(new URL("../dist/index.js", import.meta.url), {
  describe,
  test,
  options: {
    get allow(): string[] {
      return [server.host];
    },
    get search() {
      return { engine: "searxng", url: server.url("") };
    },
  },
  samples: {
    get web_fetch(): SampleCall[] {
      return [{ url: server.url("/page") }, { url: server.url("/page"), limit: 100_000 }];
    },
    web_search: { query: "anything" },
  },
  slowSamples: {
    get web_fetch(): SampleCall {
      return { url: server.url("/slow") };
    },
  },
});

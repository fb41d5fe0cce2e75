import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { warningsDuring } from "@agent/test-support";
import { expect, test } from "vitest";
import { runAttempts } from "../providers/http/attempts.js";
import { functionTool } from "../toolkit/jsonSchema/functionTool.js";
import { onAbort } from "../toolkit/onAbort.js";
import { ToolRegistry } from "../tools/registry.js";

const CALLS = 50;

/** Starts `CALLS` calls that share one signal. */
function atOnce<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T[]> {
  const { signal } = new AbortController();
  return Promise.all(Array.from({ length: CALLS }, () => call(signal)));
}

/** A server on loopback that answers once all the calls are there, so that all of them wait at one time. */
async function withServer(body: string, work: (url: string) => Promise<unknown>): Promise<void> {
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(() => response.writeHead(200, { "content-type": "application/json" }).end(body));
    if (waiting.length === CALLS) for (const answer of waiting) answer();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a listener of its own for each of fifty calls does warn, so that these tests can fail", async () => {
  const { signal } = new AbortController();
  const warnings = await warningsDuring(async () => {
    for (let call = 0; call < CALLS; call++) signal.addEventListener("abort", () => undefined);
  });
  expect(warnings).toEqual(["MaxListenersExceededWarning"]);
});

test("fifty tool calls with one signal: no warning, also where each tool hands its signal to fetch", async () => {
  await withServer("fetched", async (url) => {
    const registry = new ToolRegistry();
    registry.register({
      name: "get",
      getSchema: () => functionTool("get", "Gets a page.", {}),
      execute: async (_args, call) => await (await fetch(url, call ? { signal: call.signal } : {})).text(),
    });
    const warnings = await warningsDuring(async () => {
      const texts = await atOnce((signal) => registry.execute("get", {}, { signal }));
      expect(new Set(texts)).toEqual(new Set(["fetched"]));
    });
    expect(warnings).toEqual([]);
  });
});

test("fifty requests to a model with one signal: no warning", async () => {
  await withServer("hi", async (baseURL) => {
    const retries = { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0 };
    const options = { model: "m", timeoutMs: 60_000, retries, redact: (text: string) => text };
    const warnings = await warningsDuring(async () => {
      const answers = await atOnce((signal) =>
        runAttempts(options, { signal }, async (idle) =>
          (await fetch(baseURL, { signal: idle.signal })).text(),
        ),
      );
      expect(new Set(answers)).toEqual(new Set(["hi"]));
    });
    expect(warnings).toEqual([]);
  });
});

test("onAbort calls once, and not at all after its release", () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push("kept"));
  onAbort(controller.signal, () => called.push("released"))();
  onAbort(undefined, () => called.push("no signal"))();
  controller.abort();
  expect(called).toEqual(["kept"]);
});

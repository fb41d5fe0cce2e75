import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { warningsDuring } from "@agent/test-support";
import { expect, test } from "vitest";
import { Agent } from "../agent.js";
import type { AgentError } from "../errors.js";
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

test("warns with its own listener for each of fifty calls, so that these tests can fail", async () => {
  const { signal } = new AbortController();
  const warnings = await warningsDuring(async () => {
    for (let call = 0; call < CALLS; call++) signal.addEventListener("abort", () => undefined);
  });
  expect(warnings).toMatchObject([{ name: "MaxListenersExceededWarning" }]);
});

test("causes no warning for fifty tool calls with one signal, also if each tool passes its signal to fetch", async () => {
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

test("causes no warning for fifty requests to a model with one signal", async () => {
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

test("uses one listener of a signal for a thousand calls and a thousand chats, without a warning", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const registry = new ToolRegistry();
  registry.register({
    name: "wait",
    getSchema: () => functionTool("wait", "Waits.", {}),
    execute: (_args, call) => new Promise((resolve) => onAbort(call?.signal, () => resolve("stopped"))),
  });
  const silent = { respond: () => new Promise<never>(() => undefined) };
  const warnings = await warningsDuring(async () => {
    const calls = Array.from({ length: 1000 }, () => registry.run("wait", {}, { signal }));
    const chats = Array.from({ length: 1000 }, () => new Agent(silent).chat("Hi", { signal }));
    const ends = Promise.all([...calls, ...chats.map((chat) => chat.catch(({ code }: AgentError) => code))]);
    await new Promise(setImmediate);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    controller.abort();
    const seen = new Set((await ends).map((end) => (typeof end === "object" ? end.outcome : end)));
    expect(seen).toEqual(new Set(["aborted"]));
  });
  expect(warnings).toEqual([]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("calls that end leave no listener on their signal", async () => {
  const { signal } = new AbortController();
  const registry = new ToolRegistry();
  registry.register({
    name: "quick",
    getSchema: () => functionTool("quick", "Ends.", {}),
    execute: async () => "done",
  });
  for (let call = 0; call < 1000; call++) await registry.execute("quick", {}, { signal });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("calls the other listeners after one that throws", async () => {
  const controller = new AbortController();
  const called: string[] = [];
  const thrown = new Promise((resolve) => {
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.once("uncaughtException", (error) => {
      for (const listener of others) process.on("uncaughtException", listener);
      resolve(error);
    });
  });
  const error = new Error("mine");
  onAbort(controller.signal, () => {
    throw error;
  });
  onAbort(controller.signal, () => called.push("second"));
  controller.abort();
  expect(called).toEqual(["second"]);
  expect(await thrown).toBe(error);
});

test("calls back once with onAbort, and not at all after its release", () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push("kept"));
  onAbort(controller.signal, () => called.push("released"))();
  onAbort(undefined, () => called.push("no signal"))();
  controller.abort();
  expect(called).toEqual(["kept"]);
});

import { inspect } from "node:util";
import { json } from "@agent/test-support";
import { expect, test } from "vitest";
import { errorReply, KEY, useOpenAIServer } from "../test/openaiServer.js";
import { OpenAIProvider, provider } from "./index.js";

const { server, failure } = await useOpenAIServer();
const options = { apiKey: KEY, baseURL: server.baseURL, retryDelayMs: 1 };

test("exports the public API of @agent/provider-openai", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual(["OpenAIProvider", "provider"]);
});

test("provides what a host needs to offer the provider by name", () => {
  expect(provider).toMatchObject({
    name: "openai",
    keyVariables: ["OPENAI_API_KEY"],
    baseURLVariable: "OPENAI_BASE_URL",
    baseURL: "https://api.openai.com/v1",
    defaultModel: expect.stringMatching(/^gpt-/),
  });
  expect(provider.createProvider({ ...options, model: "m" })).toBeInstanceOf(OpenAIProvider);
});

test("lists models in the server's order, without entries that are not models", async () => {
  server.script(json({ object: "list", data: [{ id: "a" }, { id: "b", owned_by: "x" }, {}, null] }));
  expect(await provider.listModels(options)).toEqual([{ id: "a" }, { id: "b" }]);
  expect(server.requests.at(-1)).toMatchObject({
    url: "/v1/models",
    headers: { authorization: `Bearer ${KEY}` },
  });
});

test("reports a wrong key with a message, without the key", async () => {
  server.script(errorReply(401, `Incorrect API key: ${KEY}`));
  const error = await failure(provider.listModels(options));
  expect(error.message).toBe(
    "The server could not list its models: 401 Incorrect API key: [secret]. Check the API key (apiKey, or OPENAI_API_KEY).",
  );
  expect(inspect(error, { depth: 9 })).not.toContain(KEY);
});

test("reports a list of hundreds of thousands of models with an error message", async () => {
  server.script(json({ data: Array.from({ length: 300_000 }, () => ({ id: "m" })) }));
  expect(await failure(provider.listModels(options))).toMatchObject({
    code: "provider_failed",
    message: "The server could not list its models: a page of the list has 300000 models",
    requests: 1,
  });
});

test("stops the listing on an abort", async () => {
  const asking = provider.listModels(options, { signal: AbortSignal.abort("enough") });
  expect(await failure(asking)).toMatchObject({ code: "aborted" });
});

import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { requestHeaders } from "./provider.js";

/** Headers that describe the SDK and not the request. */
const OF_THE_SDK = /^(user-agent|x-stainless-.*|content-type)$/;

const CASES = [
  { name: "a key", apiKey: "sk-test", headers: {}, env: {} },
  { name: "no key", apiKey: "", headers: {}, env: {} },
  { name: "headers of the caller", apiKey: "k", headers: { "X-Team": "a", ACCEPT: "text/plain" }, env: {} },
  { name: "another authorization", apiKey: "k", headers: { Authorization: "Basic abc" }, env: {} },
  {
    name: "organization and project",
    apiKey: "k",
    headers: {},
    env: { OPENAI_ORG_ID: " org-1 ", OPENAI_PROJECT_ID: "proj-1" },
  },
  {
    name: "headers of the environment",
    apiKey: "k",
    headers: { "x-b": "mine" },
    env: { OPENAI_CUSTOM_HEADERS: "X-A: 1\nx-b: 2\nnot a header" },
  },
];

describe("the headers of a request are those of the SDK", () => {
  test.each(CASES)("with $name", async ({ apiKey, headers, env }) => {
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      const sdk = new OpenAI({
        apiKey: apiKey || "none",
        baseURL: "http://127.0.0.1:1/v1",
        defaultHeaders: { ...(apiKey === "" && { Authorization: null }), ...headers },
      });
      const { req } = await sdk.buildRequest({ method: "post", path: "/chat/completions", body: {} });
      const expected = Object.entries(Object.fromEntries(new Headers(req.headers))).filter(
        ([name]) => !OF_THE_SDK.test(name),
      );
      expect(requestHeaders({ apiKey, headers })).toEqual(Object.fromEntries(expected));
    } finally {
      process.env = before;
    }
  });
});

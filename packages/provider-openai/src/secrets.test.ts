import { inspect } from "node:util";
import { AgentError } from "@agent/core";
import { askProvider, json, MODES, type Reply, reset } from "@agent/test-support";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { errorReply, KEY, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, failure } = await useOpenAIServer();

describe.each(MODES)("no error message holds a secret, %s", (mode) => {
  const echoing =
    (status: number): Reply =>
    (request, response) => {
      const { authorization = "", "x-api-key": extra = "" } = request.headers;
      // Put the key also where the message is cut: if the message were shortened before redaction, half of the key would stay.
      const message = `${authorization} ${extra} ${"x".repeat(1900)}`.padEnd(1985, "x") + KEY;
      return errorReply(status, message)(request, response);
    };

  function told(value: unknown): string {
    const error = value as AgentError;
    return [
      error.message,
      error.stack,
      JSON.stringify(error),
      inspect(error, { depth: 9, showHidden: true }),
      inspect(error.cause),
    ].join();
  }

  test.each<[string, Reply]>([
    ["the server echoes it with 401", echoing(401)],
    ["the server echoes it with 500", echoing(500)],
    ["the connection is reset", reset],
    ["the error is in a body with status 200", json({ error: `bad key ${KEY}` })],
    ["the body is not JSON", json(`not json: ${KEY}`)],
  ])("%s", async (_name, reply) => {
    server.script(reply, reply, reply);
    const reasons: string[] = [];
    const asking = provider({ maxRetries: 1, headers: { "x-api-key": "gateway-secret" } });
    const error = await asking
      .respond({
        messages: [],
        tools: [],
        signal: new AbortController().signal,
        onRetry: ({ reason }) => reasons.push(reason),
        ...(mode === "streaming" && { onText: () => undefined }),
      })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentError);
    for (const text of [
      told(error),
      ...reasons,
      inspect(asking, { showHidden: true }),
      JSON.stringify(asking),
    ]) {
      expect(text).not.toContain("sk-secret");
      expect(text).not.toContain("gateway-secret");
    }
  });
});

describe("a secret that is not in the options is in no message either", () => {
  test("one in OPENAI_CUSTOM_HEADERS", async () => {
    vi.stubEnv("OPENAI_CUSTOM_HEADERS", "x-gateway-key: custom-secret-22\nx-team: payments");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    server.script(errorReply(400, "custom-secret-22 may not do this for payments"));
    const { message } = await failure(askProvider(provider(), "JSON"));
    expect(message).toContain("[secret] may not do this for payments");
  });

  test("one that a ready client fetches for each request, or has in its headers", async () => {
    const tokens = ["rotating-token-1", "rotating-token-2"];
    const client = new OpenAI({
      baseURL: server.baseURL,
      apiKey: async () => tokens.shift() ?? "",
      defaultHeaders: { "x-gateway-key": "client-secret-33" },
      logLevel: "off",
    });
    const asking = provider({ client, apiKey: undefined, baseURL: undefined } as object);
    for (const token of [...tokens]) {
      server.script(errorReply(400, `${token} with client-secret-33 is not allowed`));
      const { message } = await failure(askProvider(asking, "JSON"));
      expect(message).toContain("[secret] with [secret] is not allowed");
    }
  });
});

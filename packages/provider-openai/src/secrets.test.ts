import { inspect } from "node:util";
import { AgentError } from "@agent/core";
import { json, MODES, type Reply, reset } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { errorReply, KEY, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider } = await useOpenAIServer();

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

import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";
import { serve } from "./servers.js";

/** A small OpenAI-compatible server; resolves to its port and the requests it got. */
async function modelServer(
  models: unknown,
  content = "from the server",
): Promise<{ port: string; seen: { url: string; model: unknown; key: unknown }[] }> {
  const seen: { url: string; model: unknown; key: unknown }[] = [];
  const { port } = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.url === "/v1/models")
        return response.end(typeof models === "string" ? models : JSON.stringify(models));
      const { model } = JSON.parse(body);
      seen.push({ url: request.url ?? "", model, key: request.headers.authorization });
      const chunk = {
        id: "1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: "stop" }],
      };
      response.setHeader("content-type", "text/event-stream");
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
  });
  return { port, seen };
}

describe("who answers", () => {
  // In a terminal: elsewhere no one could be asked, and no port is looked at.
  test.runIf(hasTerminal()).each<[string, (response: ServerResponse) => void]>([
    ["a web page", (response) => response.end("<html>hello</html>")],
    ["an empty list", (response) => response.end(JSON.stringify({ data: [] }))],
    ["no list", (response) => response.end(JSON.stringify({ data: "x" }))],
    ["nothing, ever", () => undefined],
  ])(
    "does not take something that listens on a known port and answers with %s for a model server",
    async (_, answer) => {
      const asked: (string | undefined)[] = [];
      const { port } = await serve((request, response) => {
        asked.push(request.url);
        answer(response);
      });
      const { stdout } = await new Sandbox().runInTerminal(["what can you do?"], [], {
        AGENT_LOCAL_PORTS: port,
      });
      expect(stdout).toContain("not a language model");
      expect(asked).toEqual(["/v1/models"]);
    },
  );

  test("reports an empty answer of the model, and not a success", async () => {
    const { port } = await modelServer({ data: [{ id: "tiny" }] }, "");
    const url = `http://127.0.0.1:${port}/v1`;
    const result = await new Sandbox().run(["--base-url", url, "--model", "tiny", "hi"]);
    expect(result).toMatchObject({ stdout: "", code: 1 });
    expect(result.stderr).toContain("The model gave an empty answer. Ask again, or try another model");
  });

  test("prefers OPENAI_API_KEY and OPENAI_BASE_URL to a server on this machine, and flags to both", async () => {
    const local = await modelServer({ data: [{ id: "tiny" }] });
    const named = await modelServer({ data: [] });
    const flag = await modelServer({ data: [] });
    const env = {
      AGENT_LOCAL_PORTS: local.port,
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: `http://127.0.0.1:${named.port}/v1`,
    };
    const box = new Sandbox();
    await box.run(["hi"], { env });
    expect(named.seen).toMatchObject([{ model: "gpt-5-mini", key: "Bearer sk-test" }]);
    await box.run(["--model", "big", "--base-url", `http://127.0.0.1:${flag.port}/v1`, "hi"], { env });
    expect(flag.seen).toMatchObject([{ model: "big" }]);
    expect(local.seen).toEqual([]);
    expect((await box.run(["--provider", "offline", "help"], { env })).stdout).toContain(
      "not a language model",
    );
  });

  test("prefers the config to the environment's key, and uses the model of an agent in the config", async () => {
    const { port, seen } = await modelServer({ data: [] });
    const box = new Sandbox();
    box.write(
      "agent.config.ts",
      `export default { provider: { baseURL: "http://127.0.0.1:${port}/v1", model: "mine" }, agents: { other: { model: "theirs" } } };`,
    );
    const env = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
    await box.run(["--trust", "hi"], { env });
    await box.run(["--agent", "other", "hi"], { env });
    expect(seen.map(({ model }) => model)).toEqual(["mine", "theirs"]);
  });

  test("chooses between OpenAI's APIs by the config", async () => {
    const { port, seen } = await modelServer({ data: [] });
    const baseURL = `http://127.0.0.1:${port}/v1`;
    for (const api of [undefined, "chat", "responses"]) {
      const box = new Sandbox();
      box.write("agent.config.json", JSON.stringify({ provider: { baseURL, model: "mine", api } }));
      await box.run(["--trust", "hi"], { env: { OPENAI_API_KEY: "sk-test" } });
    }
    expect([...new Set(seen.map(({ url }) => url))]).toEqual(["/v1/chat/completions", "/v1/responses"]);
    expect(seen.filter(({ url }) => url === "/v1/chat/completions")).toHaveLength(2);
  });

  test("reports what to do for a model without a provider", async () => {
    const { code, stderr } = await new Sandbox().run(["--model", "gpt-5", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("no provider can serve it. Set OPENAI_API_KEY");
  });

  test.each([
    ["antropic/claude-x", 'there is no provider "antropic". Did you mean "anthropic"?'],
    ["Google/gemini-x", 'there is no provider "Google". Did you mean "google"?'],
    ["anthropic/", "it names a provider and no model."],
  ])("reports what is wrong with the model %s, and sends no request", async (model, words) => {
    for (const flag of ["--model", "--fallback"]) {
      const { code, stderr } = await new Sandbox().run([flag, model, "hi"], {
        env: { ANTHROPIC_API_KEY: "sk-test", OPENAI_API_KEY: "sk-test" },
      });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
    }
  });

  test("refuses provider openai without a key", async () => {
    const { code, stderr } = await new Sandbox().run(["--provider", "openai", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("There is no API key");
  });
});

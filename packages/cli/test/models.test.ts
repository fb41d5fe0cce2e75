import { json, startChatServer } from "@agent/test-support";
import { afterAll, describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";

const server = await startChatServer();
afterAll(() => server.close());
const there = ["--base-url", server.baseURL];
const usage = { prompt_tokens: 1000, completion_tokens: 100 };
const answer = json({ choices: [{ message: { content: "Hi." }, finish_reason: "stop" }], usage });
const LISTED = {
  id: "a/m",
  context_length: 65_536,
  pricing: { prompt: "0.000002", completion: "0.00001" },
};

describe("agent models --refresh", () => {
  test("keeps what the server reports, and later runs show its cost as exact", async () => {
    const box = new Sandbox();
    server.script(json({ data: [LISTED, { id: "plain" }] }));
    const refreshed = await box.run(["models", "--refresh", ...there]);
    expect(refreshed).toMatchObject({ code: 0 });
    expect(refreshed.stdout).toMatch(/openai\/a\/m +65536 tokens +\$2 \/ \$10/);
    expect(refreshed.stderr).toContain("saved what the server reports about 1 model.");
    server.script(answer);
    const { stdout } = await box.run([...there, "--model", "a/m", "--output", "json", "hi"]);
    const { cost, usage: counted } = JSON.parse(stdout);
    expect(cost).toBeCloseTo(0.003, 10);
    expect(counted).not.toHaveProperty("costIsEstimate");
  });

  test("says so if the server lists names only", async () => {
    server.script(json({ data: [{ id: "plain" }] }));
    const { stderr } = await new Sandbox().run(["models", "--refresh", ...there]);
    expect(stderr).toContain("the server lists names only. Nothing was saved.");
  });

  test("is not needed to list: without it nothing is kept", async () => {
    const box = new Sandbox();
    server.script(json({ data: [LISTED] }));
    await box.run(["models", ...there]);
    server.script(answer);
    const { stdout } = await box.run([...there, "--model", "a/m", "--output", "json", "hi"]);
    expect(JSON.parse(stdout)).not.toHaveProperty("cost");
  });
});

test("marks a cost that comes from list prices", async () => {
  const box = new Sandbox();
  box.write(
    "agent.config.mjs",
    `export default { provider: {
      model: "m",
      contextTokens: 4000,
      price: { input: 1, output: 10, isEstimate: true },
      async respond() {
        const usage = { inputTokens: 1000, outputTokens: 100 };
        return { content: "Hi.", toolCalls: [], finishReason: "stop", usage };
      },
    } };`,
  );
  const text = await box.run(["--trust", "hi"]);
  expect(text.stderr).toContain("1,000 tokens in, 100 out · 1 request · ≈ $0.0020");
  const { stdout } = await box.run(["--output", "json", "hi"]);
  expect(JSON.parse(stdout)).toMatchObject({ cost: 0.002, usage: { costIsEstimate: true } });
});

describe("the reasoning effort", () => {
  const sent = () => server.requests.at(-1)?.body.reasoning_effort;

  test("is taken from the flag, else from the variable, else from the config", async () => {
    const box = new Sandbox();
    box.write("agent.config.json", JSON.stringify({ effort: "low" }));
    const args = ["--trust", ...there, "--model", "m"];
    server.script(answer, answer, answer);
    await box.run([...args, "hi"]);
    expect(sent()).toBe("low");
    await box.run([...args, "hi"], { env: { AGENT_EFFORT: "medium" } });
    expect(sent()).toBe("medium");
    await box.run([...args, "--effort", "high", "hi"], { env: { AGENT_EFFORT: "medium" } });
    expect(sent()).toBe("high");
  });

  test("is refused with the list if it does not exist", async () => {
    const { code, stderr } = await new Sandbox().run([...there, "--effort", "huge", "hi"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      '--effort must be one of off, minimal, low, medium, high, xhigh, max, got string "huge".',
    );
  });
});

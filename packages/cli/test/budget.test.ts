import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { runsProject, startRun, workOff } from "./runsProject.js";
import { ScriptedModel } from "./scriptedModel.js";
import { hasTmux } from "./terminal.js";

// An answer of the scripted model takes 1290 tokens.
const TASK = 'call list_dir {"path":"."}\nthen say the end';

test("ends a task at its limit of tokens with exit code 7, before the next request", async () => {
  const box = new Sandbox();
  const model = await ScriptedModel.start();
  const limited = await box.run(["--max-tokens", "3000", TASK], { env: model.env });
  expect(limited.code).toBe(7);
  expect(limited.stderr).toContain("The limit of 3000 tokens for this conversation is reached: 1290 tokens");
  expect(model.requests).toHaveLength(1);
  expect((await box.run(["--max-tokens", "30000", TASK], { env: model.env })).code).toBe(0);
});

test("counts dollars by the prices of the config, and continues counting in a resumed session", async () => {
  const box = new Sandbox();
  const model = await ScriptedModel.start();
  box.write(
    "agent.config.mjs",
    "export default { maxCost: 0.2, prices: { scripted: { input: 50, output: 500, cachedInput: 5 } } };",
  );
  const first = await box.run(["--trust", "say one"], { env: model.env });
  expect(first.code).toBe(0);
  // 234 × $50 + 1000 × $5 + 56 × $500 per million tokens are $0.0447 a request.
  let last = first;
  for (let asked = 0; asked < 8 && last.code === 0; asked++)
    last = await box.run(["--resume", "--trust", "-p", "say more"], { env: model.env });
  expect(last.stderr).toContain("The limit of $0.20 for this conversation is reached: $0.2");
  expect(last.code).toBe(7);
});

test.each([
  [["--max-cost", "1"], 'the price of "scripted" is not known. Add it to "prices" in the config'],
  [["--max-cost", "0"], "--max-cost must be a number greater than 0"],
  [["--max-tokens", "many"], "--max-tokens must be a number greater than 0"],
  [["--wait", "soon"], "--wait must be a time such as"],
])("refuses %j before anything is sent", async (flags, message) => {
  const model = await ScriptedModel.start();
  const { code, stderr } = await new Sandbox().run([...flags, "say hello"], { env: model.env });
  expect(stderr).toContain(message);
  expect(code).toBe(2);
  expect(model.requests).toEqual([]);
});

test("refuses a limit of dollars if the price of the small model is not known", async () => {
  const box = new Sandbox();
  const model = await ScriptedModel.start();
  box.write(
    "agent.config.mjs",
    "export default { maxCost: 1, smallModel: 'tiny', prices: { scripted: { input: 50, output: 500 } } };",
  );
  const { code, stderr } = await box.run(["--trust", "say hello"], { env: model.env });
  expect(stderr).toContain('the price of "tiny" is not known. Add it to "prices" in the config');
  expect(code).toBe(2);
  expect(model.requests).toEqual([]);
});

test("waits for a usage limit to end if it is asked to, and fails otherwise", async () => {
  const box = new Sandbox();
  box.write(
    "agent.config.mjs",
    `let asked = 0;
const limit = () => Object.assign(new Error("429 usage limit reached"), {
  name: "AgentError", code: "provider_failed", status: 429, retryable: true, retryAfterMs: 200 });
export default { provider: { model: "m", async respond() {
  if (asked++ < 2) throw limit();
  return { content: "after the limit", toolCalls: [], finishReason: "stop" };
} } };`,
  );
  const waited = await box.run(["--trust", "--wait", "5h", "hello"]);
  expect(waited).toMatchObject({ code: 0, stdout: "after the limit\n" });
  expect(waited.stderr).toMatch(/↻ 429 usage limit reached \(waiting until \d\d:\d\d\)\. Retrying/);
  expect((await box.run(["--trust", "hello"])).code).toBe(1);
  expect((await box.run(["--trust", "--wait", "100ms", "hello"])).code).toBe(1);
});

test("refuses a small model whose provider has no key", async () => {
  const box = new Sandbox();
  const model = await ScriptedModel.start();
  const { code, stderr } = await box.run(["--small-model", "anthropic/claude-haiku", "say hello"], {
    env: { OPENAI_API_KEY: "none", AGENT_MODEL: "scripted" },
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining("anthropic")]);
  expect(model.requests).toEqual([]);
});

test("lets a run wait at its limit until it is approved, and then finish", async () => {
  const sandbox = runsProject();
  const started = await sandbox.run(["runs", "start", "--json", "--max-tokens", "2000", "look at a.txt"]);
  const { id } = JSON.parse(started.stdout);
  const free = await startRun(sandbox);
  await workOff(sandbox);
  const shown = await sandbox.run(["runs", "show", id]);
  expect(shown.stdout).toContain("waiting for a decision about continue_beyond_budget");
  expect(shown.stdout).toContain("The limit of 2000 tokens");
  expect(await sandbox.run(["runs", "approve", id])).toMatchObject({
    code: 0,
    stdout: "continue_beyond_budget: allowed\n",
  });
  await workOff(sandbox);
  expect(JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout)).toMatchObject({
    run: { state: "done" },
  });
  expect((await sandbox.run(["runs", "show", free])).stdout).toContain("done");
});

describe.skipIf(!hasTmux)("the chat (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("asks at the limit, continues with yes and stops with no", async () => {
    const { chat } = await start();
    const terminal = await chat(["--max-tokens", "3000"]);
    const send = (text: string): void => {
      terminal.paste(text);
      terminal.press("Enter");
    };
    send(TASK);
    await terminal.until(/the limit asks:\n│ The limit of 3000 tokens[\s\S]*Continue up to 6000 tokens\?/);
    terminal.press("Down");
    terminal.press("Enter");
    await terminal.until(/the end\n[\s\S]*2 requests/);
    send("say one");
    await terminal.until(/^one$[\s\S]*1 request\b/m);
    send("say two");
    await terminal.until(/Continue up to 9000 tokens\?/);
    terminal.press("Enter");
    await terminal.until(/The limit of 6000 tokens for this conversation is reached.*Raise maxTokens/s);
  });

  test("asks once if the next request needs more than the limit once again", async () => {
    const { chat } = await start();
    const terminal = await chat(["--max-tokens", "200"]);
    terminal.paste("say one");
    terminal.press("Enter");
    await terminal.until(/The limit of 200 tokens[\s\S]*Continue up to \d{4,} tokens\?/);
    terminal.press("Down");
    terminal.press("Enter");
    await terminal.until(/^one$[\s\S]*1 request\b/m);
  });
});

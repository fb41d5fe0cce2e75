import { expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { agentWith, call } from "../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../test/fixtures.js";
import type { ChatResult } from "./chatOptions.js";
import { Conversation } from "./conversation/conversation.js";

const usage = { inputTokens: 10, outputTokens: 2 };

test("chat resolves to more than the text when asked", async () => {
  const agent = agentWith(
    [call("look"), { content: "Blue.", toolCalls: [], finishReason: "length", usage }],
    [fakeTool("look")],
  );
  const result = await agent.chat("Look.", { details: true });
  expectTypeOf(result).toEqualTypeOf<ChatResult>();
  expect(result).toEqual({ text: "Blue.", finishReason: "length", turns: 2, usage });
});

test("chat resolves to the value and what it took", async () => {
  const agent = agentWith(['{"deep":true}']);
  const result = await agent.chat("?", { output: z.object({ deep: z.boolean() }), details: true });
  expectTypeOf(result.output).toEqualTypeOf<{ deep: boolean }>();
  expect(result).toMatchObject({ text: '{"deep":true}', output: { deep: true }, turns: 1 });
});

test("what is passed as context reaches the tool, the hooks and approve, with every call", async () => {
  const context = { user: "ann" };
  const approve = vi.fn(() => "allow" as const);
  const beforeCall = vi.fn(() => undefined);
  const look = vi.fn((_args: unknown, running?: { context?: unknown }) => JSON.stringify(running?.context));
  const agent = agentWith([call("look"), "Done."], [fakeTool("look", look)], {
    approve,
    hooks: [{ name: "audit", beforeCall }],
  });
  await agent.chat("Look.", { context });
  expect(await look.mock.results[0]?.value).toBe('{"user":"ann"}');
  expect(approve).toHaveBeenCalledWith(expect.objectContaining({ context }));
  expect(beforeCall).toHaveBeenCalledWith(expect.objectContaining({ context }));
});

test("saveContext rejects when asked, and saves also without the tool", async () => {
  const directory = temporaryDirectory();
  const conversation = new Conversation({ sessionContextFilePath: directory });
  const agent = agentWith(["Hi."], [], { conversation });
  expect(await agent.saveContext("now")).toMatch(/^Error executing save_session_context: /);
  await expect(agent.saveContext("now", { reject: true })).rejects.toThrow("not a regular file");
  const other = agentWith(["Hi."], [], {
    conversation: new Conversation({ sessionContextFilePath: `${directory}/session.jsonl` }),
    disable: ["save_session_context"],
  });
  expect(await other.saveContext("now")).toBe("Tool not available: save_session_context");
  expect(await other.saveContext("now", { reject: true })).toContain("Saved 0 messages to");
});

test("a session under a path that cannot be made fails at once", async () => {
  const directory = temporaryDirectory();
  for (const path of [
    `${directory}/a\0b/s.jsonl`,
    `/proc/nowhere/s.jsonl`,
    `/dev/null/s.jsonl`,
    `${"x/".repeat(3000)}s`,
  ]) {
    const agent = agentWith([], [], { conversation: new Conversation({ sessionContextFilePath: path }) });
    await expect(agent.saveContext("now", { reject: true }), path.slice(0, 40)).rejects.toThrow();
  }
});

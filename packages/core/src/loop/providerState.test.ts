import { expect, test } from "vitest";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { Conversation } from "../conversation/conversation.js";
import { recordSession } from "../conversation/recorder.js";
import { loadSession } from "../conversation/session.js";
import type { ChatMessage, ChatProvider, ChatResponse } from "../providers/interface.js";

const STATE = { reasoning_details: [{ type: "encrypted", data: "abc==" }], order: { b: 1, a: [null, 0.5] } };

const LOOK: ChatResponse = {
  content: null,
  toolCalls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
  finishReason: "tool_calls",
  state: STATE,
};
const DONE: ChatResponse = { content: "Done.", toolCalls: [], finishReason: "stop", state: STATE };

/** A provider of this id that calls a tool once and then answers; its requests are kept. */
function modelOf(id: string | undefined, answers: readonly ChatResponse[]) {
  const requests: (readonly ChatMessage[])[] = [];
  let next = 0;
  const provider: ChatProvider = {
    ...(id !== undefined && { id }),
    respond: async ({ messages }) => {
      requests.push(messages);
      const answer = answers[next++ % answers.length];
      if (!answer) throw new Error("no answer");
      return answer;
    },
  };
  return { provider, requests };
}

const statesOf = (messages: readonly ChatMessage[] | undefined): unknown[] =>
  (messages ?? []).flatMap((message) => (message.role === "assistant" ? [message.state] : []));

test("returns state to the provider it came from, unchanged, also after the conversation was saved", async () => {
  const path = `${temporaryDirectory()}/session.jsonl`;
  const conversation = new Conversation();
  const recorder = recordSession(conversation, path);
  const { provider, requests } = modelOf("acme", [LOOK, DONE]);
  const agent = new Agent(provider, { conversation });
  agent.addTool(fakeTool("look"));
  await agent.chat("Look.");
  expect(statesOf(requests[1])).toEqual([{ provider: "acme", value: STATE }]);
  await recorder.close();

  const later = modelOf("acme", [DONE]);
  await new Agent(later.provider, {
    conversation: new Conversation({ session: await loadSession(path) }),
  }).chat("?");
  expect(JSON.stringify(statesOf(later.requests[0]))).toBe(
    JSON.stringify([
      { provider: "acme", value: STATE },
      { provider: "acme", value: STATE },
    ]),
  );
});

test("leaves out state of another provider, and keeps text, calls and results", async () => {
  const conversation = new Conversation();
  const first = new Agent(modelOf("acme", [LOOK, DONE]).provider, { conversation });
  first.addTool(fakeTool("look"));
  await first.chat("Look.");

  const { provider, requests } = modelOf("other", [DONE]);
  await new Agent(provider, { conversation }).chat("And?");
  expect(statesOf(requests[0])).toEqual([undefined, undefined]);
  expect(requests[0]?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  // It is not lost: the first provider gets it again.
  const back = modelOf("acme", [DONE]);
  await new Agent(back.provider, { conversation }).chat("Back?");
  expect(statesOf(back.requests[0]).slice(0, 2)).toEqual([
    { provider: "acme", value: STATE },
    { provider: "acme", value: STATE },
  ]);
});

test("keeps no state for a provider without an id", async () => {
  const { provider, requests } = modelOf(undefined, [DONE]);
  const agent = new Agent(provider);
  await agent.chat("1");
  await agent.chat("2");
  expect(statesOf(requests[1])).toEqual([undefined]);
});

test("drops state of an answer whose calls were cut: its server would refuse it", async () => {
  const [one] = LOOK.toolCalls;
  if (!one) throw new Error("no call");
  const many = { ...LOOK, toolCalls: [one, { ...one, id: "c2" }] };
  const { provider, requests } = modelOf("acme", [many, DONE]);
  const agent = new Agent(provider, { maxCallsPerAnswer: 1 });
  agent.addTool(fakeTool("look"));
  await agent.chat("Look.");
  expect(statesOf(requests[1])).toEqual([undefined]);
});

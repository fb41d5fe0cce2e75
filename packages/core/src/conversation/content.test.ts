import { describe, expect, test } from "vitest";
import { agentWith, call, collect, expectValidHistory } from "../../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { estimateTokens } from "../loop/estimate.js";
import type { ChatProvider, ChatRequest } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { adaptContent, type ContentPart } from "./content.js";
import { Conversation } from "./conversation.js";
import { recordSession } from "./recorder.js";
import { loadSession } from "./session.js";

const IMAGE: ContentPart = { type: "image", mediaType: "image/png", data: "aGVsbG8=", name: "shot.png" };
const PDF: ContentPart = { type: "file", mediaType: "application/pdf", data: "aGVsbG8=", name: "plan.pdf" };
const MESSAGE: readonly ContentPart[] = [{ type: "text", text: "What is this?" }, IMAGE];

/** A model that answers "Ok." to everything and takes these media types; its requests are kept. */
function modelTaking(...mediaTypes: string[]) {
  const requests: ChatRequest[] = [];
  const answer = (request: ChatRequest) => {
    requests.push(request);
    return "Ok.";
  };
  const script = scriptedProvider(Array.from({ length: 5 }, () => answer));
  const provider: ChatProvider = { ...script, accepts: (type) => mediaTypes.includes(type) };
  return { provider, requests };
}

describe("a message of the user with parts", () => {
  test("reaches a model that takes them as it is", async () => {
    const { provider, requests } = modelTaking("image/png");
    await new Agent(provider).chat(MESSAGE);
    expect(requests[0]?.messages).toEqual([{ role: "user", content: MESSAGE }]);
  });

  test("is the same object in every request, so that a provider finds what it keeps for it", async () => {
    const { provider, requests } = modelTaking("image/png");
    const agent = new Agent(provider);
    await agent.chat(MESSAGE);
    await agent.chat("And now?");
    expect(requests[1]?.messages[0]).toBe(requests[0]?.messages[0]);
  });

  test("reaches any other model as text that says what it cannot see", async () => {
    const { provider, requests } = modelTaking();
    await new Agent(provider).chat([...MESSAGE, PDF]);
    expect(requests[0]?.messages[0]?.content).toBe(
      "What is this?\n[image shot.png, image/png, 5 bytes] (not shown: this model does not take image/png)\n" +
        "[file plan.pdf, application/pdf, 5 bytes] (not shown: this model does not take application/pdf)",
    );
  });

  test("is the same after the conversation was saved and loaded, for a model that takes more", async () => {
    const path = `${temporaryDirectory()}/session.jsonl`;
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    await new Agent(modelTaking().provider, { conversation }).chat(MESSAGE);
    await recorder.close();
    const { provider, requests } = modelTaking("image/png");
    const resumed = new Agent(provider, {
      conversation: new Conversation({ session: await loadSession(path) }),
    });
    await resumed.chat("And now?");
    expect(requests[0]?.messages[0]).toEqual({ role: "user", content: MESSAGE });
  });

  test.each([
    [[{ type: "video", data: "x" }], 'part 0 has the type string "video"; expected text, image or file'],
    [[{ type: "text" }], 'part 0 has no text: "text" is nothing'],
    [[{ type: "image", mediaType: "png", data: "aGk=" }], 'needs a "mediaType" such as image/png'],
    [[{ type: "image", mediaType: "text/html", data: "aGk=" }], 'use "file" for what is not an image'],
    [[{ type: "file", mediaType: "application/pdf", data: "not base64!" }], "not plain base64"],
    [[{ type: "file", mediaType: "application/pdf" }], 'needs its bytes as base64 in "data"'],
    [[null], "part 0 must be an object, got null"],
    [[], "a non-empty string or an array of parts"],
  ])("is refused if no model could take it, %j, and nothing is sent", async (parts, problem) => {
    const { provider, requests } = modelTaking("image/png");
    const agent = new Agent(provider);
    await expect(agent.chat(parts as never)).rejects.toThrow(problem);
    expect(requests).toEqual([]);
    expect(agent.context.sessionContext).toEqual([]);
  });

  test("is refused with its size and the next step if it has an image of 50 MB", async () => {
    const data = "A".repeat(Math.ceil((50 * 1024 * 1024 * 4) / 3 / 4) * 4);
    const agent = new Agent(modelTaking("image/png").provider);
    await expect(agent.chat([{ type: "image", mediaType: "image/png", data }])).rejects.toThrow(
      /part 0 is 524288\d\d bytes; at most 20971520 can be sent\. Scale it down/,
    );
    expect(agent.context.sessionContext).toEqual([]);
  });
});

describe("a tool's result with parts", () => {
  const look = fakeTool("look", (_args, running) => {
    running?.attach?.(IMAGE);
    return "A picture:";
  });

  test("is an event, part of the history, and valid for every model", async () => {
    const agent = agentWith([call("look"), "Nice."], [look]);
    const { events } = await collect(agent, "Look.");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool_end", text: "A picture:", parts: [IMAGE] }),
    );
    expect(agent.context.sessionContext[2]).toMatchObject({
      role: "tool",
      content: [{ type: "text", text: "A picture:" }, IMAGE],
    });
    expectValidHistory(agent);
  });

  test("holds 20 parts and 32 MiB a turn at most, and says what was left out", async () => {
    const big = { ...PDF, data: "A".repeat(4 * 1024 * 1024 * 4) };
    const agent = agentWith(
      [call("many"), call("heavy"), "Done."],
      [
        fakeTool("many", (_args, running) => {
          for (let count = 0; count < 30; count++) running?.attach?.(IMAGE);
          return "never";
        }),
        fakeTool("heavy", (_args, running) => {
          for (let count = 0; count < 4; count++) running?.attach?.(big as ContentPart);
          return "Pages:";
        }),
      ],
    );
    await agent.chat("Go.");
    const [, , many, , heavy] = agent.context.sessionContext;
    expect(many?.content).toBe("Error executing many: A result holds at most 20 parts.");
    expect(heavy?.content).toHaveLength(3);
    expect(JSON.stringify(heavy?.content?.slice(0, 1))).toContain(
      "left out: the results of one turn hold too much",
    );
  });

  test("is refused with a message if it is not a part, and the tool continues", async () => {
    const agent = agentWith(
      [call("wrong"), "Done."],
      [
        fakeTool("wrong", (_args, running) => {
          running?.attach?.({ type: "sound" } as never);
          return "never";
        }),
      ],
    );
    await agent.chat("Go.");
    expect(agent.context.sessionContext[2]?.content).toContain(
      'The attached part has the type string "sound"',
    );
  });

  test("counts against the budget, and gives way before the newest turns do", async () => {
    const tokens = (parts: readonly ContentPart[]) => estimateTokens([{ role: "user", content: parts }]);
    expect(tokens([IMAGE])).toBeGreaterThan(1000);
    expect(tokens([{ ...PDF, data: "A".repeat(1024 * 1024) }])).toBeGreaterThan(10_000);
    const agent = agentWith(
      [call("look"), "One.", call("look"), "Two.", call("look"), "Three.", call("look"), "Four."],
      [look],
      { contextTokens: 5000 },
    );
    for (const message of ["1", "2", "3", "4"]) await agent.chat(message);
    const results = agent.context.sessionContext.filter(({ role }) => role === "tool");
    expect(results[0]?.content).toBe("A picture:\n[image shot.png, image/png, 5 bytes]");
    expect(results.at(-1)?.content).toHaveLength(2);
  });
});

test("describes only the parts that a model does not take", () => {
  const image: ContentPart = { type: "image", mediaType: "image/png", data: "aGk=" };
  const file: ContentPart = { type: "file", mediaType: "application/pdf", data: "aGk=", name: "a.pdf" };
  expect(adaptContent([image, file], (mediaType) => mediaType === "image/png")).toEqual([
    image,
    {
      type: "text",
      text: expect.stringMatching(/a\.pdf.*\(not shown: this model does not take application\/pdf\)$/),
    },
  ]);
});

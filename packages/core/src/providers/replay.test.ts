import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askProvider, MODES, type Mode } from "@agent/test-support";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.js";
import type { AgentEvent } from "../events.js";
import { functionTool } from "../toolkit/jsonSchema/functionTool.js";
import type { ExecutableTool } from "../tools/tool.js";
import type { ChatProvider, ChatResponse, ChatToolCall } from "./interface.js";
import { recordProvider, replayProvider, type ScriptedAnswer, scriptedProvider } from "./replay.js";

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "agent-replay-"));
  file = join(directory, "chat.json");
});
afterEach(() => rm(directory, { recursive: true }));

/** A tool whose result differs with every call, as the real ones do. */
function clock(): ExecutableTool {
  let ticks = 0;
  return {
    name: "clock",
    getSchema: () => functionTool("clock", "Tells the time.", { zone: { type: "string" } }),
    execute: async () => `${process.hrtime.bigint()} ${ticks++}`,
  };
}

function agent(provider: ChatProvider): Agent {
  const created = new Agent(provider, { systemPrompt: "Be brief." });
  created.addTool(clock());
  return created;
}

/** Sends a message in one mode; returns the answer and the text as it was streamed. */
async function chat(to: Agent, message: string, mode: Mode): Promise<{ text: string; streamed: string[] }> {
  if (mode === "JSON") return { text: await to.chat(message), streamed: [] };
  const events: AgentEvent[] = [];
  for await (const one of to.streamChat(message)) events.push(one);
  const last = events.at(-1);
  const streamed = events.filter((one) => one.type === "text").map((one) => one.text);
  return { text: last?.type === "done" ? last.text : "", streamed };
}

/** A model on a wire: it streams its answers character by character where someone listens. */
function streamingProvider(...answers: (string | readonly ChatToolCall[])[]): ChatProvider {
  return {
    id: "wire",
    model: "m",
    accepts: (mediaType) => mediaType === "image/png",
    async respond({ onText }): Promise<ChatResponse> {
      const next = answers.shift() ?? expect.unreachable("the script is over");
      if (typeof next !== "string") return { content: null, toolCalls: next, finishReason: "tool_calls" };
      if (onText) for (const character of next) onText(character);
      return { content: next, toolCalls: [], finishReason: "stop" };
    },
  };
}

function clockCall(id: string, zone: string): ChatToolCall {
  return { id, type: "function", function: { name: "clock", arguments: JSON.stringify({ zone }) } };
}

async function record(mode: Mode): Promise<void> {
  const calls = [clockCall("a", "UTC"), clockCall("b", "CET")];
  const recorder = recordProvider(streamingProvider(calls, "Noon.", "Bye 😀"), file);
  expect(recorder.id).toBe("wire");
  expect(recorder.accepts?.("image/png")).toBe(true);
  expect(recorder.model).toBe("m");
  const recorded = agent(recorder);
  expect((await chat(recorded, "What time is it?", mode)).text).toBe("Noon.");
  expect((await chat(recorded, "Thanks.", mode)).text).toBe("Bye 😀");
}

describe.each(MODES)("a chat recorded in %s mode", (mode) => {
  test.each(MODES)("replays offline in %s mode, although tool results differ", async (replayMode) => {
    await record(mode);
    const replayed = agent(replayProvider(file));
    const first = await chat(replayed, "What time is it?", replayMode);
    const second = await chat(replayed, "Thanks.", replayMode);
    expect([first.text, second.text]).toEqual(["Noon.", "Bye 😀"]);
    if (replayMode === "streaming") {
      expect(second.streamed).toEqual(mode === "streaming" ? [..."Bye 😀"] : ["Bye 😀"]);
    }
    await expect(replayed.chat("More?")).rejects.toMatchObject({
      code: "replay_mismatch",
      message: "The recording has 3 answers and was asked for one more.",
    });
  });
});

describe("the error for a request that differs from the recording", () => {
  beforeEach(() => record("JSON"));

  test("names the message", async () => {
    await expect(agent(replayProvider(file)).chat("Which day is it?")).rejects.toMatchObject({
      code: "replay_mismatch",
      message:
        'Request 1 differs from the recording: message 1 is {"role":"user","content":"Which day is it?"}, recorded was {"role":"user","content":"What time is it?"}.',
    });
  });

  test("names an additional or a missing message", async () => {
    const other = new Agent(replayProvider(file));
    await expect(other.chat("Be brief.")).rejects.toThrow(/message 0 is .*"user".*recorded was .*"system"/);
    const { signal } = new AbortController();
    const system = { role: "system", content: "Be brief." } as const;
    const user = { role: "user", content: "What time is it?" } as const;
    const ask = (...messages: (typeof system | typeof user)[]) =>
      replayProvider(file).respond({ messages, tools: [], signal });
    await expect(ask(system)).rejects.toThrow(/message 1 is missing: .*What time is it\?/);
    await expect(ask(system, user, user)).rejects.toThrow(/message 2 is .* recorded was nothing/);
  });

  test("names the tools", async () => {
    const other = agent(replayProvider(file));
    other.removeTool("clock");
    await expect(other.chat("What time is it?")).rejects.toThrow(
      "the tools are [save_session_context], recorded were [save_session_context, clock]",
    );
  });

  test("can be followed by the recorded request", async () => {
    const replay = replayProvider(file);
    await expect(agent(replay).chat("Something else")).rejects.toThrow(/differs/);
    expect(await agent(replay).chat("What time is it?")).toBe("Noon.");
  });
});

describe("a recording", () => {
  test("is complete after each answer, and leaves no other file", async () => {
    await record("JSON");
    expect(await readdir(directory)).toEqual(["chat.json"]);
    expect(JSON.parse(await readFile(file, "utf8")).exchanges).toHaveLength(3);
  });

  test("records every answer of concurrent requests", async () => {
    const recorder = recordProvider(scriptedProvider(["a", "b", "c", "d"]), file);
    await Promise.all(
      ["JSON", "streaming", "JSON", "streaming"].map((mode) => askProvider(recorder, mode as Mode)),
    );
    expect(JSON.parse(await readFile(file, "utf8")).exchanges).toHaveLength(4);
  });

  test("holds only the text that counts when the stream was cut and asked again", async () => {
    const provider: ChatProvider = {
      async respond({ onText, onRetry }) {
        onText?.("half");
        onRetry?.({ attempt: 1, delayMs: 1, reason: "cut" });
        onText?.("ok");
        return { content: "ok", toolCalls: [], finishReason: "stop" };
      },
    };
    const { retries, text } = await askProvider(recordProvider(provider, file), "streaming");
    expect([retries.length, text]).toEqual([1, "ok"]);
    expect((await askProvider(replayProvider(file), "streaming")).text).toBe("ok");
  });

  test("fails the request and names the file if it cannot be written", async () => {
    await mkdir(file);
    const recorder = recordProvider(scriptedProvider(["a"]), file);
    await expect(askProvider(recorder, "JSON")).rejects.toMatchObject({
      code: "provider_failed",
      message: expect.stringMatching(/The recording ".*chat\.json" cannot be written: .* is a directory/),
    });
  });

  const intact = {
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    response: { content: "hi", toolCalls: [], finishReason: "stop" },
  };
  const exchange = (more: object) =>
    JSON.stringify({ format: "agent-recording", version: 1, exchanges: [intact, { ...intact, ...more }] });

  test.each([
    ["cut off", exchange({}).slice(0, 90), /JSON/],
    ["empty", "", /JSON/],
    ["something else", '{"name":"x"}', /no "format": "agent-recording" with version 1/],
    ["null", "null", /no "format"/],
    ["of a later version", '{"format":"agent-recording","version":2,"exchanges":[]}', /version 1/],
    ["without a response", exchange({ response: undefined }), /exchanges\[1\] "response.content" must be/],
    [
      "with a wrong content",
      exchange({ response: { content: 4, toolCalls: [] } }),
      /exchanges\[1\] "response.content"/,
    ],
    ["without calls", exchange({ response: { content: "x" } }), /exchanges\[1\] "response.toolCalls"/],
    [
      "with a malformed call",
      exchange({ response: { content: null, toolCalls: [{ id: "a" }] } }),
      /exchanges\[1\] "response.toolCalls"/,
    ],
    [
      "with wrong messages",
      exchange({ messages: {} }),
      /exchanges\[1\] "messages" must be an array, got object/,
    ],
    ["with wrong tools", exchange({ tools: [4] }), /exchanges\[1\] "tools" must be an array of strings/],
    ["with wrong chunks", exchange({ chunks: "x" }), /exchanges\[1\] "chunks" must be an array of strings/],
    [
      "with nothing in it",
      '{"format":"agent-recording","version":1,"exchanges":[null]}',
      /exchanges\[0\] must be an object/,
    ],
  ])("causes a clear error if it is %s", async (_name, text, message) => {
    await writeFile(file, text);
    const open = () => replayProvider(file);
    expect(open).toThrowError(
      expect.objectContaining({ code: "replay_mismatch", message: expect.stringMatching(message) }),
    );
    expect(open).toThrow(/chat\.json" is not an intact recording/);
  });

  test("causes a clear error if it is missing", () => {
    expect(() => replayProvider(file)).toThrow(/is not an intact recording: ENOENT/);
  });
});

describe("a scripted model", () => {
  test("gives texts, calls, whole responses and what functions decide", async () => {
    const whole: ChatResponse = { content: "cut o", toolCalls: [], finishReason: "length" };
    const provider = scriptedProvider([
      { calls: [{ name: "a", args: { x: 1 } }, { name: "b" }, { name: "c", args: "{broken" }] },
      whole,
      ({ messages }) => `I read: ${messages[0]?.content}`,
      async () => () => "later",
    ]);
    const first = (await askProvider(provider, "JSON")).response;
    expect(first.toolCalls.map(({ id, function: { name, arguments: text } }) => [id, name, text])).toEqual([
      ["call_1_0", "a", '{"x":1}'],
      ["call_1_1", "b", "{}"],
      ["call_1_2", "c", "{broken"],
    ]);
    expect((await askProvider(provider, "JSON")).response).toBe(whole);
    expect((await askProvider(provider, "streaming")).text).toBe("I read: hello");
    expect((await askProvider(provider, "streaming")).text).toBe("later");
    await expect(askProvider(provider, "JSON")).rejects.toThrow(
      "The script has 4 answers and was asked for one more.",
    );
  });

  test.each([[undefined], [null], [4], [[]], [{ calls: "x" }], [() => 4]])(
    "refuses the answer %j",
    async (wrong) => {
      const provider = scriptedProvider([wrong as unknown as ScriptedAnswer]);
      await expect(askProvider(provider, "JSON")).rejects.toThrow(/^Answer 1 of the script must be a string/);
    },
  );

  test("refuses answers that are not a list", () => {
    expect(() => scriptedProvider("hi" as unknown as string[])).toThrow(
      'answers must be an array, got string "hi".',
    );
  });

  test("stops on an abort, as a replay does", async () => {
    await record("JSON");
    const aborted = { signal: AbortSignal.abort() };
    await expect(askProvider(scriptedProvider(["a"]), "JSON", aborted)).rejects.toMatchObject({
      code: "aborted",
    });
    await expect(askProvider(replayProvider(file), "JSON", aborted)).rejects.toMatchObject({
      code: "aborted",
    });
  });
});

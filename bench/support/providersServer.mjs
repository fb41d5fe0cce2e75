// The four APIs on the loopback interface, in its own process so that its work is not counted. The first part of
// the path names the conversation: /turns calls a tool 50 times, /deltas answers in 2000 pieces.
import { createServer } from "node:http";

const TURNS = 50;
const WORDS = Array.from({ length: 2000 }, () => "word ");

const sse = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data) => `event: ${data.type}\n${sse(data)}`;

/** Each API: how many results a request holds, and its answers, whole and streamed. */
const WIRES = {
  "/chat/completions": {
    results: ({ messages }) => messages.filter(({ role }) => role === "tool").length,
    whole: (text, call) => ({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          finish_reason: call ? "tool_calls" : "stop",
          message: {
            role: "assistant",
            content: text,
            ...(call && {
              tool_calls: [
                { id: call.id, type: "function", function: { name: "lookup", arguments: call.text } },
              ],
            }),
          },
        },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    }),
    events(words, call) {
      const chunk = (delta, finish_reason = null) =>
        sse({
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [{ index: 0, delta, finish_reason }],
        });
      return [
        chunk({ role: "assistant", content: "" }),
        ...words.map((content) => chunk({ content })),
        ...(call
          ? [
              chunk({
                tool_calls: [
                  { index: 0, id: call.id, type: "function", function: { name: "lookup", arguments: "" } },
                ],
              }),
              ...call.pieces.map((piece) =>
                chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
              ),
            ]
          : []),
        chunk({}, call ? "tool_calls" : "stop"),
        sse({
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [],
          usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
        }),
        "data: [DONE]\n\n",
      ];
    },
  },
  "/responses": {
    results: ({ input }) => input.filter(({ type }) => type === "function_call_output").length,
    whole: (text, call) => responseOf(text, call),
    events(words, call) {
      const text = words.join("");
      const [item] = responseOf(text === "" ? null : text, call).output;
      return [
        named({
          type: "response.created",
          sequence_number: 0,
          response: { ...responseOf(null), output: [], status: "in_progress" },
        }),
        named({
          type: "response.output_item.added",
          output_index: 0,
          item: { ...item, ...(call ? { arguments: "" } : { content: [] }) },
        }),
        ...words.map((delta) =>
          named({
            type: "response.output_text.delta",
            item_id: "i",
            output_index: 0,
            content_index: 0,
            delta,
            logprobs: [],
          }),
        ),
        ...(call
          ? call.pieces.map((delta) =>
              named({ type: "response.function_call_arguments.delta", item_id: "i", output_index: 0, delta }),
            )
          : []),
        named({ type: "response.output_item.done", output_index: 0, item }),
        named({ type: "response.completed", response: responseOf(text === "" ? null : text, call) }),
      ];
    },
  },
  "/v1/messages": {
    results: ({ messages }) =>
      messages.filter(({ role, content }) => role === "user" && content[0].type === "tool_result").length,
    whole: (text, call) => ({
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        call
          ? { type: "tool_use", id: call.id, name: "lookup", input: JSON.parse(call.text) }
          : { type: "text", text },
      ],
      stop_reason: call ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20 },
    }),
    events(words, call) {
      const delta = (one) => named({ type: "content_block_delta", index: 0, delta: one });
      return [
        named({
          type: "message_start",
          message: {
            id: "m",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 100, output_tokens: 1 },
          },
        }),
        named({
          type: "content_block_start",
          index: 0,
          content_block: call
            ? { type: "tool_use", id: call.id, name: "lookup", input: {} }
            : { type: "text", text: "" },
        }),
        ...(call
          ? call.pieces.map((partial_json) => delta({ type: "input_json_delta", partial_json }))
          : words.map((text) => delta({ type: "text_delta", text }))),
        named({ type: "content_block_stop", index: 0 }),
        named({
          type: "message_delta",
          delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null },
          usage: { output_tokens: 20 },
        }),
        named({ type: "message_stop" }),
      ];
    },
  },
  generateContent: {
    results: ({ contents }) => contents.filter(({ parts }) => parts[0].functionResponse).length,
    whole: (text, call) =>
      contentOf(
        call ? { functionCall: { id: call.id, name: "lookup", args: JSON.parse(call.text) } } : { text },
        true,
      ),
    events: (words, call) =>
      call
        ? [
            sse(
              contentOf({ functionCall: { id: call.id, name: "lookup", args: JSON.parse(call.text) } }, true),
            ),
          ]
        : words.map((text, index) => sse(contentOf({ text }, index === words.length - 1))),
  },
};

function responseOf(text, call) {
  const message = {
    id: "i",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: text ?? "", annotations: [], logprobs: [] }],
  };
  const asked = call && {
    id: "i",
    type: "function_call",
    status: "completed",
    call_id: call.id,
    name: "lookup",
    arguments: call.text,
  };
  return {
    id: "r",
    object: "response",
    created_at: 1,
    model: "m",
    status: "completed",
    error: null,
    incomplete_details: null,
    output: [asked ?? message],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    },
  };
}

function contentOf(part, isLast) {
  return {
    candidates: [
      { index: 0, content: { role: "model", parts: [part] }, ...(isLast && { finishReason: "STOP" }) },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    modelVersion: "m",
  };
}

let calls = 0;

const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  const body = JSON.parse(text);
  const key = Object.keys(WIRES).find((name) => request.url.includes(name)) ?? "generateContent";
  const isStream = body.stream === true || request.url.includes(":streamGenerateContent");
  const wire = WIRES[key];
  const results = wire.results(body);
  const isTurns = request.url.startsWith("/turns");
  const args = JSON.stringify({ path: `src/file${results}.ts`, limit: 100 + results });
  const call =
    isTurns && results < TURNS
      ? { id: `call_${calls++}`, text: args, pieces: args.match(/.{1,6}/g) }
      : undefined;
  const words = call ? [] : isTurns ? ["All done."] : WORDS;
  response.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
  if (!isStream) return response.end(JSON.stringify(wire.whole(call ? null : words.join(""), call)));
  for (const event of wire.events(words, call)) response.write(event);
  response.end();
});
// An idle connection must outlive the pauses between two measurements.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

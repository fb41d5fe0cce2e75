// A chat completions endpoint on the loopback interface, in its own process so that its work is not
// counted. The first part of the path names the conversation: /turns/v1, /deltas/v1, /parallel/v1, /once/v1.
import { createServer } from "node:http";

const TURNS = 50;
const DELTAS = 2000;
const PARALLEL_CALLS = 8;
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

// Each answer has a new id, as from a real server: LangChain takes a known id for a new version of the old answer.
let answers = 0;

const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  const { messages, stream } = JSON.parse(text);
  const message = nextMessage(
    request.url.split("/")[1],
    messages.filter(({ role }) => role === "tool").length,
  );
  const id = `c${++answers}`;
  if (stream) sendStream(response, message, id);
  else sendWhole(response, message, id);
});
// An idle connection must outlive the pauses between two measurements.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

function nextMessage(conversation, results) {
  const message = { role: "assistant", content: null };
  if (conversation === "turns" && results < TURNS) return { ...message, tool_calls: [toolCall(results)] };
  if (conversation === "once" && results === 0) return { ...message, tool_calls: [toolCall(0)] };
  if (conversation === "parallel" && results === 0) {
    return { ...message, tool_calls: Array.from({ length: PARALLEL_CALLS }, (_, index) => toolCall(index)) };
  }
  return { ...message, content: conversation === "deltas" ? "word ".repeat(DELTAS) : "All done." };
}

function toolCall(index) {
  const args = JSON.stringify({ path: `src/file${index}.ts`, limit: 100 + index });
  return { id: `call_${index}`, type: "function", function: { name: "lookup", arguments: args } };
}

function sendWhole(response, message, id) {
  const finish_reason = message.tool_calls ? "tool_calls" : "stop";
  const body = { id, object: "chat.completion", created: 1, model: "m", usage: USAGE };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ ...body, choices: [{ index: 0, message, finish_reason }] }));
}

function sendStream(response, message, id) {
  response.setHeader("content-type", "text/event-stream");
  const base = { id, object: "chat.completion.chunk", created: 1, model: "m" };
  const send = (delta, finish_reason = null) => {
    response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  send({ role: "assistant", content: "" });
  for (const word of message.content?.match(/\S+ ?/g) ?? []) send({ content: word });
  for (const [index, { function: called, ...call }] of (message.tool_calls ?? []).entries()) {
    send({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: "" } }] });
    for (const part of called.arguments.match(/.{1,6}/g))
      send({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  send({}, message.tool_calls ? "tool_calls" : "stop");
  response.end(`data: ${JSON.stringify({ ...base, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`);
}

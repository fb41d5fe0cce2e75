import { ImageJudge } from "./images.js";
import {
  asList,
  asRecord,
  asText,
  type Fields,
  only,
  refuse,
  type Signed,
  type StrictRequest,
} from "./rules.js";
import { checkJsonSchemaFormat } from "./schemas.js";

const FIELDS = [
  "model",
  "messages",
  "tools",
  "stream",
  "stream_options",
  "response_format",
  "reasoning_effort",
  "temperature",
];
export const OPENAI_IMAGES = { types: ["image/png", "image/jpeg", "image/gif", "image/webp"], count: 500 };
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ECHOED = ["reasoning_content", "reasoning_details"];

/** Checks chat completions by the combined rules of OpenAI, DeepSeek and Gemini. */
export function checkChat({ body }: StrictRequest, signed: Signed): void {
  only("body", body, FIELDS);
  const tools = body.tools === undefined ? [] : asList("tools", body.tools);
  if (body.tools !== undefined && tools.length === 0) refuse("tools: [] is too short");
  if (tools.length > 0 && (body.reasoning_effort ?? "none") !== "none") {
    refuse(
      "Function tools with reasoning_effort are not supported in /v1/chat/completions. Use /v1/responses.",
    );
  }
  if (body.response_format !== undefined) {
    const { json_schema: format } = only("response_format", body.response_format, ["type", "json_schema"]);
    checkJsonSchemaFormat(asRecord("json_schema", format));
  }
  for (const tool of tools) checkTool(asRecord("tool", tool));
  const images = new ImageJudge(OPENAI_IMAGES);
  const open = new Set<string>();
  let last = "";
  for (const [index, one] of asList("messages", body.messages).entries()) {
    const where = `messages[${index}]`;
    const message = asRecord(where, one);
    const role = asText(`${where}.role`, message.role);
    if (role === "tool") {
      only(where, message, ["role", "tool_call_id", "content"]);
      asText(`${where}.content`, message.content);
      if (!open.delete(asText(where, message.tool_call_id))) {
        refuse(
          `${where}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`,
        );
      }
    } else if (open.size > 0) {
      refuse(`An assistant message with 'tool_calls' must be followed by tool messages: ${[...open]}`);
    }
    if (role === "user" && Array.isArray(message.content)) {
      for (const part of message.content.map((one) => asRecord(where, one))) {
        if (part.type === "image_url")
          images.judgeDataUrl(asText("url", asRecord(where, part.image_url).url));
      }
    }
    if (role === "user" && last === "user") refuse(`${where}: roles must alternate`);
    if (role === "system" && index > 0) refuse(`${where}: the system message must come first`);
    if (role === "assistant") checkAssistant(where, message, open, signed);
    last = role;
  }
  if (open.size > 0) refuse(`tool_call_ids did not have response messages: ${[...open]}`);
  if (last === "assistant") refuse("the last message must not be the assistant's");
}

function checkTool(tool: Fields): void {
  only("tool", tool, ["type", "function"]);
  const { name, parameters } = only("tool.function", tool.function, [
    "name",
    "description",
    "parameters",
    "strict",
  ]);
  if (!NAME.test(asText("name", name))) refuse(`Invalid 'tools[0].function.name'`);
  const refused = ["oneOf", "anyOf", "allOf", "enum", "not"].find(
    (keyword) => keyword in asRecord("parameters", parameters ?? {}),
  );
  if (refused !== undefined) refuse(`schema must not have '${refused}' at the top level`);
}

function checkAssistant(where: string, message: unknown, open: Set<string>, signed: Signed): void {
  const fields = asRecord(where, message);
  const { content, ...rest } = fields;
  only(where, rest, ["role", "tool_calls", ...ECHOED]);
  if (content !== null) asText(`${where}.content`, content);
  const calls = fields.tool_calls === undefined ? [] : asList(`${where}.tool_calls`, fields.tool_calls);
  if (content === null && calls.length === 0) refuse(`${where}: content or tool_calls must be set`);
  for (const call of calls) {
    const { id, function: called } = only(`${where}.tool_calls`, call, ["id", "type", "function"]);
    if (asText("id", id).length > 40) refuse(`Invalid 'messages.tool_calls.id': string too long`);
    const { name, arguments: args } = only("function", called, ["name", "arguments"]);
    if (!NAME.test(asText("name", name))) refuse(`Invalid '${where}.tool_calls[0].function.name'`);
    JSON.parse(asText("arguments", args));
    open.add(asText("id", id));
  }
  // A signature of this server must come back, and every signature that comes back must be one of this server.
  if (calls.length > 0 && fields.reasoning_details === undefined && signed.size > 0 && isOurs(calls)) {
    refuse("The reasoning_content in the thinking mode must be passed back to the API.");
  }
  for (const detail of fields.reasoning_details === undefined
    ? []
    : asList(where, fields.reasoning_details)) {
    const { data } = asRecord(where, detail);
    if (!signed.has(String(data))) refuse(`${where}: invalid signature ${String(data)}`);
  }
}

/** Whether this server made the calls. Calls of another server have no signature of this one. */
function isOurs(calls: readonly unknown[]): boolean {
  return calls.some((call) => asText("id", asRecord("call", call).id).startsWith("chat"));
}

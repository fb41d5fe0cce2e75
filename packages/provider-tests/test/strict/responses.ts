import { OPENAI_IMAGES } from "./chat.js";
import { ImageJudge } from "./images.js";
import { asList, asRecord, asText, only, refuse, type Signed, type StrictRequest } from "./rules.js";
import { checkJsonSchemaFormat } from "./schemas.js";

const FIELDS = ["model", "input", "instructions", "tools", "stream", "store", "include", "text", "reasoning"];
const ITEMS: Readonly<Record<string, readonly string[]>> = {
  message: ["type", "role", "content", "phase"],
  reasoning: ["type", "id", "summary", "encrypted_content", "content"],
  function_call: ["type", "call_id", "name", "arguments"],
  function_call_output: ["type", "call_id", "output"],
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Checks requests by the rules of the Responses API with `store: false`. */
export function checkResponses({ body }: StrictRequest, signed: Signed): void {
  only("body", body, FIELDS);
  if (body.store !== false) refuse("store must be false: this organisation keeps no data");
  const { format } = asRecord("text", body.text ?? {});
  if (format !== undefined) checkJsonSchemaFormat(asRecord("format", format));
  for (const tool of body.tools === undefined ? [] : asList("tools", body.tools)) {
    const { name, strict, parameters } = only("tool", tool, [
      "type",
      "name",
      "description",
      "parameters",
      "strict",
    ]);
    if (!NAME.test(asText("name", name))) refuse("Invalid 'tools[0].name'");
    if (strict !== false)
      refuse("Missing required parameter: 'tools[0].strict', or a schema that is not strict");
    asRecord("parameters", parameters);
  }
  const images = new ImageJudge(OPENAI_IMAGES);
  const open = new Set<string>();
  let previous: string | undefined;
  for (const [index, one] of asList("input", body.input).entries()) {
    const item = asRecord(`input[${index}]`, one);
    const type = item.type === undefined ? "message" : asText("type", item.type);
    only(`input[${index}]`, item, ITEMS[type] ?? refuse(`Invalid value: '${type}'`));
    const shown = Array.isArray(item.content) ? item.content : Array.isArray(item.output) ? item.output : [];
    for (const part of shown.map((content) => asRecord("content", content))) {
      if (part.type === "input_image") images.judgeDataUrl(asText("image_url", part.image_url));
    }
    if (type === "function_call") {
      if (!NAME.test(asText("name", item.name))) refuse(`Invalid 'input[${index}].name'`);
      const id = asText("call_id", item.call_id);
      if (id.length > 64) refuse(`Invalid 'input[${index}].call_id': string too long`);
      JSON.parse(asText("arguments", item.arguments));
      open.add(id);
    }
    if (type === "function_call_output" && !open.delete(asText("call_id", item.call_id))) {
      refuse("No tool call found for function call output");
    }
    if (type === "message" && item.role === "user" && open.size > 0)
      refuse(`No tool output found for function call ${[...open]}`);
    if (type === "reasoning" && !signed.has(String(item.encrypted_content))) {
      refuse("The encrypted content could not be verified.");
    }
    const isAnswer = type === "function_call" || (type === "message" && item.role === "assistant");
    if (previous === "reasoning" && type !== "reasoning" && !isAnswer) {
      refuse("Item of type 'reasoning' was provided without its required following item.");
    }
    previous = type;
  }
  if (open.size > 0) refuse(`No tool output found for function call ${[...open]}`);
  if (previous === "reasoning") refuse("reasoning without its required following item");
}

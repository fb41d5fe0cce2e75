import { ImageJudge } from "./images.js";
import {
  asList,
  asRecord,
  asText,
  type Fields,
  filled,
  only,
  refuse,
  type Signed,
  type StrictRequest,
} from "./rules.js";
import { checkAnthropicOutput } from "./schemas.js";

const FIELDS = ["model", "max_tokens", "messages", "system", "tools", "stream", "thinking", "output_config"];
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text", "cache_control"],
  image: ["type", "source", "cache_control"],
  document: ["type", "source", "title", "cache_control"],
  tool_use: ["type", "id", "name", "input"],
  tool_result: ["type", "tool_use_id", "content", "cache_control"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
};

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const IMAGES = {
  types: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  base64Bytes: 5 * 1024 * 1024,
  side: 8000,
  count: 100,
};

/** Checks requests by the rules of Anthropic's Messages API. */
export function checkMessages({ body, headers }: StrictRequest, signed: Signed): void {
  if (headers["anthropic-version"] === undefined) refuse("anthropic-version: header is required");
  only("body", body, FIELDS);
  if (!Number.isInteger(body.max_tokens)) refuse("max_tokens: Field required");
  checkMarks(body);
  const { format } = asRecord("output_config", body.output_config ?? {});
  if (format !== undefined) checkAnthropicOutput(asRecord("schema", asRecord("format", format).schema));
  for (const tool of body.tools === undefined ? [] : asList("tools", body.tools)) {
    const { name, input_schema: schema } = only("tool", tool, [
      "name",
      "description",
      "input_schema",
      "cache_control",
    ]);
    if (!NAME.test(asText("name", name))) refuse("tools.0.name: String should match pattern");
    if (asRecord("input_schema", schema).type !== "object")
      refuse("tools.0.input_schema.type: Field required");
    const refused = ["oneOf", "anyOf", "allOf"].find(
      (keyword) => keyword in asRecord("input_schema", schema),
    );
    if (refused !== undefined) refuse(`input_schema does not support ${refused} at the top level`);
  }
  for (const block of body.system === undefined ? [] : asList("system", body.system)) {
    filled("system", only("system", block, BLOCKS.text ?? []).text);
  }
  const images = new ImageJudge(IMAGES);
  const used = new Set<string>();
  let asked: string[] = [];
  let role = "assistant";
  for (const [index, one] of asList("messages", body.messages).entries()) {
    const message = only(`messages.${index}`, one, ["role", "content"]);
    if (message.role === role)
      refuse(`messages.${index}: roles must alternate between "user" and "assistant"`);
    role = asText("role", message.role);
    const blocks = asList("content", message.content).map((block) => asRecord("block", block));
    if (blocks.length === 0) refuse(`messages.${index}: content must not be empty`);
    for (const block of blocks) {
      checkBlock(`messages.${index}`, block, signed);
      for (const image of imagesIn(block))
        images.judge(asText("media_type", image.media_type), asText("data", image.data));
    }
    if (role === "user") checkResults(index, blocks, asked);
    asked = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [asText("id", id)] : []));
    for (const id of asked) {
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) refuse(`tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (used.has(id)) refuse("`tool_use` ids must be unique");
      used.add(id);
    }
    if (role === "assistant" && /thinking$/.test(String(blocks.at(-1)?.type))) {
      refuse(`messages.${index}: The final block in an assistant message cannot be \`thinking\`.`);
    }
    const first = blocks[0]?.type;
    const isOurs = asked.some((id) => id.startsWith("toolu"));
    if (isOurs && first !== "thinking" && first !== "redacted_thinking") {
      refuse(
        `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first)}\``,
      );
    }
  }
  if (role !== "user") refuse("This model does not support assistant message prefill.");
}

/** The sources of the images in a block, also in a tool's result. */
function imagesIn({ type, source, content }: Fields): Fields[] {
  if (type === "image") return [asRecord("source", source)];
  return type === "tool_result" && Array.isArray(content) ? content.flatMap(imagesIn) : [];
}

function checkBlock(where: string, block: Fields, signed: Signed): void {
  const type = asText("type", block.type);
  only(where, block, BLOCKS[type] ?? refuse(`${where}: Input tag '${type}' found`));
  if (type === "text") filled(where, block.text);
  if (type === "tool_use") {
    asRecord("input", block.input);
    if (!NAME.test(asText("name", block.name)))
      refuse(`${where}: tool_use.name: String should match pattern`);
  }
  if (type === "thinking" && !signed.has(String(block.signature))) {
    refuse(`${where}: Invalid \`signature\` in \`thinking\` block`);
  }
}

/** Results must come first: one for each call of the previous answer, and no others. */
function checkResults(index: number, blocks: readonly Fields[], asked: readonly string[]): void {
  const results = blocks.flatMap(({ type, tool_use_id: id }) => (type === "tool_result" ? [String(id)] : []));
  const missing = asked.find((id) => !results.includes(id));
  if (missing !== undefined)
    refuse(`\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`);
  const extra = results.find((id) => !asked.includes(id));
  if (extra !== undefined)
    refuse(`messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${extra}`);
  const firstOther = blocks.findIndex(({ type }) => type !== "tool_result");
  if (firstOther !== -1 && blocks.slice(firstOther).some(({ type }) => type === "tool_result")) {
    refuse(`messages.${index}: tool_result blocks must come first`);
  }
}

function checkMarks(body: Fields): void {
  const marks = JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0;
  if (marks > 4) refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

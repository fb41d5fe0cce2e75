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
import { checkGoogleSchema } from "./schemas.js";

const FIELDS = ["contents", "systemInstruction", "tools", "generationConfig"];
const PARTS = ["text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData"];
const IMAGES = {
  types: ["image/png", "image/jpeg", "image/webp"],
  base64Bytes: 20 * 1024 * 1024,
  count: 3600,
};
const SKIP = "skip_thought_signature_validator";

/** Checks generateContent by the rules of Gemini 3. */
export function checkGenerateContent({ body, url }: StrictRequest, signed: Signed): void {
  if (/[?&]key=/.test(url)) refuse("a key in an address ends in logs");
  only("body", body, FIELDS);
  for (const tool of body.tools === undefined ? [] : asList("tools", body.tools)) {
    const { functionDeclarations } = only("tool", tool, ["functionDeclarations"]);
    for (const one of asList("functionDeclarations", functionDeclarations)) {
      const declaration = only("declaration", one, ["name", "description", "parametersJsonSchema"]);
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(asText("name", declaration.name))) {
        refuse("Invalid function name. Must start with a letter or an underscore.");
      }
      checkGoogleSchema(asRecord("schema", declaration.parametersJsonSchema));
    }
  }
  const { responseJsonSchema } = asRecord("generationConfig", body.generationConfig ?? {});
  if (responseJsonSchema !== undefined) checkGoogleSchema(asRecord("schema", responseJsonSchema));
  const images = new ImageJudge(IMAGES);
  let open = 0;
  let role = "model";
  const contents = asList("contents", body.contents).map((one) => only("content", one, ["role", "parts"]));
  for (const content of contents) {
    if (content.role === role) refuse("Please ensure that turns alternate between user and model");
    role = asText("role", content.role);
    const parts = asList("parts", content.parts).map((part) => only("part", part, PARTS));
    if (parts.length === 0) refuse("contents.parts must not be empty");
    for (const { mimeType, data } of parts.flatMap(inlineData))
      images.judge(asText("mimeType", mimeType), asText("data", data));
    const calls = parts.filter(({ functionCall }) => functionCall !== undefined);
    const results = parts.filter(({ functionResponse }) => functionResponse !== undefined).length;
    if (results !== open) {
      refuse(
        "Please ensure that the number of function response parts is equal to the number of function call parts",
      );
    }
    open = calls.length;
    checkSignatures(calls);
    for (const { thoughtSignature } of parts) {
      if (
        thoughtSignature !== undefined &&
        thoughtSignature !== SKIP &&
        !signed.has(String(thoughtSignature))
      ) {
        refuse("Thought signature is not valid");
      }
    }
  }
  if (open > 0) refuse("a function call has no response");
  if (role !== "user") refuse("Please ensure that the last turn is the user's");
}

/** The inline data of a part, also inside a result. */
function inlineData({ inlineData: shown, functionResponse }: Fields): Fields[] {
  if (shown !== undefined) return [asRecord("inlineData", shown)];
  const { parts } =
    functionResponse === undefined ? { parts: undefined } : asRecord("response", functionResponse);
  return parts === undefined
    ? []
    : asList("parts", parts).flatMap((part) => inlineData(asRecord("part", part)));
}

/** The first call of each step must be signed. */
function checkSignatures([first]: readonly Fields[]): void {
  if (first && typeof first.thoughtSignature !== "string") {
    refuse("Function call is missing a thought_signature in functionCall parts.");
  }
}

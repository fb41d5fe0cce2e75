import { chat, generateContent, messages, responses } from "../dialects.js";
import { checkChat } from "./chat.js";
import { checkGenerateContent } from "./generateContent.js";
import { checkMessages } from "./messages.js";
import { checkResponses } from "./responses.js";
import type { Fields } from "./rules.js";
import type { PromptItem, StrictWire } from "./server.js";

export const STRICT_CHAT: StrictWire = {
  name: "chat",
  dialect: chat,
  check: checkChat,
  prompt: ({ tools, messages: list }) => items(tools, list),
  cachesMarked: false,
  idPrefix: "chat",
  keyHeader: ["authorization", "Bearer "],
  keyRefusal: 401,
  models: (id) => ({ data: [{ id }] }),
};

export const STRICT_RESPONSES: StrictWire = {
  name: "responses",
  dialect: responses,
  check: checkResponses,
  prompt: ({ tools, instructions, input }) => items(tools, instructions, input),
  cachesMarked: false,
  idPrefix: "call",
  keyHeader: ["authorization", "Bearer "],
  keyRefusal: 401,
  models: (id) => ({ data: [{ id }] }),
};

export const STRICT_MESSAGES: StrictWire = {
  name: "messages",
  dialect: messages,
  check: checkMessages,
  prompt: ({ tools, system, messages: list }) => [
    ...items(tools, system),
    ...(list as { role: string; content: Fields[] }[]).flatMap(({ role, content }) =>
      content.map((block) => item({ role, ...block })),
    ),
  ],
  cachesMarked: true,
  idPrefix: "toolu",
  keyHeader: ["x-api-key", ""],
  keyRefusal: 401,
  models: (id) => ({ data: [{ id, display_name: "M" }], has_more: false }),
};

export const STRICT_GENERATE_CONTENT: StrictWire = {
  name: "generateContent",
  dialect: generateContent,
  check: checkGenerateContent,
  prompt: ({ systemInstruction, tools, contents }) => items(systemInstruction, tools, contents),
  cachesMarked: false,
  idPrefix: "fn",
  keyHeader: ["x-goog-api-key", ""],
  keyRefusal: 400,
  models: () => ({
    models: [{ name: "models/gemini-3-pro", supportedGenerationMethods: ["generateContent"] }],
  }),
};

function items(...fields: readonly unknown[]): PromptItem[] {
  return fields
    .flatMap((field) => (Array.isArray(field) ? field : field === undefined ? [] : [field]))
    .map(item);
}

function item(value: Fields): PromptItem {
  if (typeof value !== "object") return { text: JSON.stringify(value), isMarked: false };
  const { cache_control: mark, ...rest } = value;
  return { text: JSON.stringify(rest), isMarked: mark !== undefined };
}

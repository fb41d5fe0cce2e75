import type { PersonAnswer, QuestionField } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import type { ElicitationPropertySchema, ElicitationSchema } from "@agentclientprotocol/sdk";

/** The fields of a question as a form of the protocol. */
export function toForm(fields: readonly QuestionField[]): ElicitationSchema {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, toProperty(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Reads the user's answer. An unclear answer counts as none. */
export function toAnswer(response: unknown): PersonAnswer {
  const { action, content } = isRecord(response) ? response : {};
  if (action === "accept") return { answer: "yes", values: isRecord(content) ? content : {} };
  return { answer: action === "decline" ? "no" : "dismissed" };
}

function toProperty(field: QuestionField): ElicitationPropertySchema {
  const { type, title, description, options = [], default: preset } = field;
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const choices = options.map(({ value, title: name }) => ({ const: value, title: name ?? value }));
  switch (type) {
    case "text":
      return { type: "string", ...about, ...(typeof preset === "string" && { default: preset }) };
    case "number":
    case "integer":
      return { type, ...about, ...(typeof preset === "number" && { default: preset }) };
    case "boolean":
      return { type, ...about, ...(typeof preset === "boolean" && { default: preset }) };
    case "choice":
      return {
        type: "string",
        ...about,
        oneOf: choices,
        ...(typeof preset === "string" && { default: preset }),
      };
    case "choices":
      return {
        type: "array",
        ...about,
        items: { anyOf: choices },
        ...(Array.isArray(preset) && { default: preset.filter((one) => typeof one === "string") }),
      };
  }
}

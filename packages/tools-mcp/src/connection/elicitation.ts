import type { PackHost, QuestionField } from "@agent/core";
import {
  describeValue,
  escapeInvisible,
  escapeToLine,
  isRecord,
  quote,
  truncateUtf8,
} from "@agent/core/toolkit";
import type { ElicitResult } from "./protocolClient.js";

const MAX_MESSAGE = 4000;
const MAX_LABEL = 200;
const MAX_FIELDS = 50;
const MAX_OPTIONS = 200;
const MAX_NAME = 1000;
const MAX_ADDRESS = 8000;

/**
 * Asks the user a server's question. If no one can be asked, it is refused. The server's text is shown without control
 * characters and with the server's name.
 */
export async function elicit(
  server: string,
  ask: PackHost["ask"],
  params: unknown,
  signal: AbortSignal,
): Promise<ElicitResult> {
  if (!ask) return { action: "decline" };
  const { mode, message, url, requestedSchema } = isRecord(params) ? params : {};
  if (typeof message !== "string") throw new Error(`the message of a question is ${describeValue(message)}`);
  const isUrl = mode === "url";
  const answer = await ask({
    source: `the MCP server ${quote(server)}`,
    message: escapeInvisible(truncateUtf8(message, MAX_MESSAGE)),
    fields: isUrl ? [] : toFields(requestedSchema),
    ...(isUrl && { url: webAddress(url) }),
    signal,
  });
  if (answer.answer === "yes") {
    return isUrl ? { action: "accept" } : { action: "accept", content: toContent(answer.values) };
  }
  return { action: answer.answer === "no" ? "decline" : "cancel" };
}

function toFields(schema: unknown): QuestionField[] {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, property]) => toField(name, isRecord(property) ? property : {}, required.includes(name)));
}

function toField(name: string, property: Record<string, unknown>, required: boolean): QuestionField {
  const { title, description, default: byDefault } = property;
  return {
    name: short(name),
    required,
    ...fieldType(property),
    ...titled(name, title),
    ...(typeof description === "string" && { description: label(description) }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
}

function fieldType(property: Record<string, unknown>): Pick<QuestionField, "type" | "options"> {
  if (property.type === "array") {
    return { type: "choices", options: toOptions(isRecord(property.items) ? property.items : {}) };
  }
  const options = toOptions(property);
  if (options.length > 0) return { type: "choice", options };
  if (property.type === "boolean" || property.type === "number" || property.type === "integer") {
    return { type: property.type };
  }
  return { type: "text" };
}

/** The choices, in any form of the protocol's revisions: `enum` with names, `oneOf`, `anyOf`. */
function toOptions(schema: Record<string, unknown>): { value: string; title?: string }[] {
  if (Array.isArray(schema.enum)) {
    const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum
      .slice(0, MAX_OPTIONS)
      .map((value: unknown, index) => toOption(String(value), names[index]));
  }
  const choices = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? [];
  return choices
    .filter(isRecord)
    .slice(0, MAX_OPTIONS)
    .map(({ const: value, title }) => toOption(String(value), title));
}

function toOption(value: string, title: unknown): { value: string; title?: string } {
  return { value: short(value), ...titled(value, title) };
}

/** A title to display. A name without one that cannot be displayed gets one. */
function titled(name: string, title: unknown): { title?: string } {
  const shown = label(typeof title === "string" ? title : name);
  return shown === name ? {} : { title: shown };
}

/** A name that is sent back unchanged. Throws for one that cannot be displayed. */
function short(name: string): string {
  if (name.length <= MAX_NAME) return name;
  throw new Error(`a question has a name or a choice of ${name.length} characters`);
}

/** Throws for a URL that an editor could treat as a command or a local file. */
function webAddress(given: unknown): string {
  const text = typeof given === "string" && given.length <= MAX_ADDRESS ? given : "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new Error("the address of a question is not an http or https address");
}

function label(text: string): string {
  return escapeToLine(truncateUtf8(text, MAX_LABEL));
}

/** Keeps only what the protocol allows: texts, numbers, booleans and lists of texts. */
function toContent(
  values: Readonly<Record<string, unknown>>,
): Record<string, string | number | boolean | string[]> {
  const content: Record<string, string | number | boolean | string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      content[name] = value;
    else if (Array.isArray(value)) content[name] = value.map(String);
  }
  return content;
}

import {
  type ApprovalDecision,
  type Content,
  type ContentPart,
  isAgentError,
  type QuestionField,
  type UserAnswer,
} from "@agent/core";
import { formatRule, parseRule } from "@agent/core/host";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import type { ChatAction } from "../events.js";

/** A request that cannot be served, with the HTTP status and the message for the client. */
export class ActionError extends Error {
  override readonly name = "ActionError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The text about an error for pages. Errors other than an `AgentError` may contain secrets of the server. */
export function messageForPage(error: unknown): string {
  return isAgentError(error) ? error.message : "The message could not be answered.";
}

/** Reads and checks the body of a POST. Throws an `ActionError` that describes the problem. */
export async function readAction(request: Request, maxBytes: number): Promise<ChatAction> {
  // CSRF: a form on another site can send other content types without a CORS preflight, but not JSON.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new ActionError(415, "Send JSON with the header content-type: application/json.");
  }
  const body = parse(
    await readBody(request, maxBytes).catch((error: unknown) => {
      // The client closed the connection, which is not an error of the server.
      throw error instanceof ActionError ? error : new ActionError(400, "The body ended too early.");
    }),
  );
  if (body.type === "stop") return { type: "stop" };
  if (body.type === "regenerate") {
    const id = readId("id", body.id);
    return { type: "regenerate", ...(id !== undefined && { id }) };
  }
  if (body.type === "send") {
    const replaces = readId("replaces", body.replaces);
    return { type: "send", content: readContent(body.content), ...(replaces !== undefined && { replaces }) };
  }
  if (body.type === "decide") {
    if (typeof body.id !== "string") {
      throw new ActionError(400, `"id" must be the id of a question, got ${describeValue(body.id)}.`);
    }
    return { type: "decide", id: body.id, decision: readDecision(body.decision) };
  }
  if (body.type === "answer") {
    if (typeof body.id !== "string") {
      throw new ActionError(400, `"id" must be the id of a question, got ${describeValue(body.id)}.`);
    }
    return { type: "answer", id: body.id, answer: readAnswer(body.answer) };
  }
  throw new ActionError(
    400,
    `"type" must be "send", "decide", "answer", "regenerate" or "stop", got ${describeValue(body.type)}.`,
  );
}

function readId(name: string, id: unknown): string | undefined {
  if (id === undefined || typeof id === "string") return id;
  throw new ActionError(400, `"${name}" must be the id of a message, got ${describeValue(id)}.`);
}

async function readBody(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ActionError(413, `The body is larger than ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ActionError(400, "The body is not JSON.");
  }
  if (!isRecord(value))
    throw new ActionError(400, `The body must be an object, got ${describeValue(value)}.`);
  return value;
}

function readContent(content: unknown): Content {
  if (typeof content === "string" && content.trim() !== "") return content;
  if (Array.isArray(content) && content.length > 0) return content.map(readPart);
  throw new ActionError(
    400,
    `"content" must be a non-empty string or an array of parts, got ${describeValue(content)}.`,
  );
}

/**
 * Copies only the known fields of a part, since a part is stored and sent to every page of the conversation. The agent
 * checks whether models accept a file of this type.
 */
function readPart(part: unknown, index: number): ContentPart {
  const { type, text, mediaType, data, name } = isRecord(part) ? part : {};
  if (type === "text" && typeof text === "string") return { type, text };
  const isNamed = name === undefined || typeof name === "string";
  if (
    (type === "image" || type === "file") &&
    typeof mediaType === "string" &&
    typeof data === "string" &&
    isNamed
  ) {
    return { type, mediaType, data, ...(name !== undefined && { name }) };
  }
  throw new ActionError(
    400,
    `content[${index}] must be { type: "text", text }, or an image or file with mediaType and data as strings.`,
  );
}

function readDecision(decision: unknown): ApprovalDecision {
  if (decision === "allow" || decision === "always") return decision;
  if (isRecord(decision) && typeof decision.deny === "string") return { deny: decision.deny };
  if (isRecord(decision) && typeof decision.always === "string") return { always: readRule(decision.always) };
  throw new ActionError(
    400,
    `"decision" must be "allow", "always", { "always": "a rule" } or { "deny": "the reason" }, got ${describeValue(decision)}.`,
  );
}

function readAnswer(given: unknown): UserAnswer {
  if (isRecord(given) && (given.answer === "no" || given.answer === "dismissed")) {
    return { answer: given.answer };
  }
  if (isRecord(given) && given.answer === "yes" && isRecord(given.values)) {
    return { answer: "yes", values: given.values };
  }
  throw new ActionError(
    400,
    `"answer" must be { "answer": "yes", "values": { … } }, { "answer": "no" } or { "answer": "dismissed" }, got ${describeValue(given)}.`,
  );
}

/**
 * The values of the fields of a question. Throws an `ActionError` for one that is missing or does not match its field.
 */
export function answerValues(
  fields: readonly QuestionField[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    const isEmpty = value === undefined || value === null || value === "";
    const expected = isEmpty ? (field.required ? "filled in" : undefined) : fieldProblem(field, value);
    if (expected !== undefined) {
      const name = field.title ?? field.name;
      throw new ActionError(400, `"${name}" must be ${expected}, got ${describeValue(value)}.`);
    }
    if (!isEmpty) values[field.name] = value;
  }
  return values;
}

/** The requirement that a field's value violates, if any. */
function fieldProblem({ type, options = [], other }: QuestionField, value: unknown): string | undefined {
  const isOption = (one: unknown): boolean => options.some((option) => option.value === one);
  switch (type) {
    case "text":
      return typeof value === "string" ? undefined : "a text";
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? undefined : "a number";
    case "integer":
      return Number.isInteger(value) ? undefined : "a whole number";
    case "choice":
      return isOption(value) || (other && typeof value === "string") ? undefined : "one of the choices";
    case "choices":
      return Array.isArray(value) && value.every(isOption) ? undefined : "a list of the choices";
  }
}

function readRule(text: string): string {
  try {
    return formatRule(parseRule(text));
  } catch (error) {
    throw new ActionError(400, errorMessage(error));
  }
}

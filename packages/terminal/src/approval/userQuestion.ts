import type { PermitRequest, QuestionField, UserAnswer, UserQuestion } from "@agent/core";
import type { GrantScope } from "@agent/core/host";
import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import type { ChatView } from "../chat/view.js";
import type { MenuItem } from "../input/menu.js";
import { MARKDOWN_START, renderMarkdownLine } from "../markdown/markdown.js";
import { wrapWords } from "../text/width.js";

/** How long a running call may do more than was approved: for this call only, or as a grant. */
export type PermitScope = "once" | GrantScope;

/** Asks the user. `undefined`: the question was closed without an answer. */
export type AskPermit = (request: PermitRequest) => Promise<PermitScope | "no" | undefined>;

/** The choices of a question, in display order. One careless Enter must not allow anything. */
export const PERMIT_CHOICES: readonly { readonly value: PermitScope | "no"; readonly label: string }[] = [
  { value: "no", label: "no, refuse" },
  { value: "once", label: "yes, for this call" },
  { value: "session", label: "yes, in this session" },
  { value: "project", label: "yes, in this project" },
];

const YES = "yes";
const NO = "no";
const MOST_TRIES = 3;

/** The part of the chat's view that questions need. */
type Desk = Pick<ChatView, "print" | "question" | "answered" | "pick" | "style" | "columns">;

/**
 * Asks the user a pack's question, field by field, with the name of the asker. If the user closes a field, the question
 * is dismissed; the values are sent only after a final confirmation. A URL is shown in full and never opened.
 */
export async function askUserQuestion(question: UserQuestion, desk: Desk): Promise<UserAnswer> {
  const { source, message, fields, url, immediate, signal } = question;
  const lines = [
    ...questionLines(source, message, desk),
    ...(url === undefined ? [] : [`│ It wants you to open: ${escapeToLine(url)}`]),
  ];
  // A question of the model replaces the row of its call. One of a server must not hide any.
  if (immediate) desk.question(message, lines);
  else desk.print(lines);
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value = await askField(field, desk, signal);
    if (value === undefined) {
      desk.answered("not answered");
      return { answer: "dismissed" };
    }
    if (value.given !== undefined) values[field.name] = value.given;
  }
  if (immediate && fields.length === 1) {
    const [value] = Object.values(values);
    desk.answered(escapeToLine(answerText(fields[0], value ?? "")));
    return { answer: "yes", values };
  }
  const shown = Object.entries(values).map(
    ([name, value]) => `│ ${escapeToLine(`${name}: ${String(value)}`)}`,
  );
  if (shown.length > 0) desk.print(shown);
  const send = fields.length > 0 ? "send this" : url === undefined ? "yes" : "I have opened it and am done";
  // Without fields the default is no: one careless Enter must not approve.
  const agree = { value: YES, label: send };
  const refuse = { value: NO, label: "no, refuse" };
  const title = `Answer ${source}`;
  const decision = await desk.pick(title, fields.length > 0 ? [agree, refuse] : [refuse, agree], { signal });
  if (decision === undefined) {
    desk.answered("not answered");
    return { answer: "dismissed" };
  }
  desk.answered(decision === YES ? "answered" : "refused");
  return decision === YES ? { answer: "yes", values } : { answer: "no" };
}

// Asks for a tool that is off. The title of the call that asks is the name of the tool.
const TOOL_PERMISSION = /^tool\.enable\((.+)\)$/;

/** Asks whether a running call may do more than was approved, and for how long. */
export async function askPermit(
  { source, permission, message, signal }: PermitRequest,
  desk: Desk,
): Promise<PermitScope | "no" | undefined> {
  const lines = questionLines(source, message, desk);
  const tool = TOOL_PERMISSION.exec(permission)?.[1];
  if (tool !== undefined) desk.question(tool, lines);
  else desk.print(lines);
  const chosen = await desk.pick("Allow it?", PERMIT_CHOICES, { signal });
  const choice = PERMIT_CHOICES.find(({ value }) => value === chosen);
  desk.answered(choice?.label ?? "not answered");
  return choice?.value;
}

/** The question with the name of the asker, so that no pack can impersonate the agent. Markdown marks stay visible. */
function questionLines(source: string, message: string, { style, columns }: Desk): string[] {
  let state = MARKDOWN_START;
  const rows = escapeInvisible(message)
    .split("\n")
    .flatMap((line) => {
      const rendered = renderMarkdownLine(line, state, style);
      state = rendered.state;
      return wrapWords(rendered.text, columns - 2, /^\s*(?:[-*+] |\d+[.)] )?/.exec(line)?.[0].length);
    });
  return [`${style.yellow("?")} ${style.bold(escapeToLine(source))} asks:`, ...rows.map((row) => `│ ${row}`)];
}

/** The user's choice as it was shown. */
function answerText(field: QuestionField | undefined, value: unknown): string {
  return field?.options?.find((option) => option.value === value)?.title ?? String(value);
}

/**
 * The field's value in `given`, which is `undefined` for an optional field left empty; `undefined` if the user closed
 * it.
 */
async function askField(
  field: QuestionField,
  desk: Desk,
  signal: AbortSignal,
): Promise<{ readonly given: unknown } | undefined> {
  const title = titleOf(field);
  if (field.description !== undefined) {
    const rows = wrapWords(escapeToLine(field.description), desk.columns - 2);
    desk.print(rows.map((row) => desk.style.dim(`│ ${row}`)));
  }
  if (field.type === "boolean" || field.type === "choice") return await choose(field, title, desk, signal);
  const fallback = defaultText(field);
  if (field.type === "choices") {
    desk.print(
      (field.options ?? []).map(
        ({ value, title: name }) => `│   ${escapeToLine(name ? `${value} (${name})` : value)}`,
      ),
    );
  }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const items =
      fallback === undefined ? [] : [{ value: fallback, label: fallback, detail: "as suggested" }];
    const text = await desk.pick(title, items, { signal, takesText: true });
    if (text === undefined) return undefined;
    const read = readText(field, text.trim());
    if (typeof read === "object") return read;
    desk.print([desk.style.yellow(`│ ${read}`)]);
  }
  return undefined;
}

async function choose(
  field: QuestionField,
  title: string,
  desk: Desk,
  signal: AbortSignal,
): Promise<{ readonly given: unknown } | undefined> {
  const isBoolean = field.type === "boolean";
  const items: MenuItem[] = isBoolean
    ? [
        { value: "true", label: "yes" },
        { value: "false", label: "no" },
      ]
    : (field.options ?? []).map(({ value, title: name }) => ({ value, label: name ?? value }));
  const suggested = items.filter(({ value }) => value === String(field.default));
  const others = items.filter(({ value }) => value !== String(field.default));
  const none = field.required ? [] : [{ value: "", label: "(leave empty)" }];
  const chosen = await desk.pick(title, [...suggested, ...others, ...none], {
    signal,
    takesText: field.other === true,
  });
  if (chosen === undefined) return undefined;
  if (chosen === "" && !field.required) return { given: undefined };
  return { given: isBoolean ? chosen === "true" : chosen };
}

/** Parses a text as the field's value, or returns an error message. */
function readText(field: QuestionField, text: string): { readonly given: unknown } | string {
  if (text === "") return field.required ? "This field is required." : { given: undefined };
  if (field.type === "choices") {
    const chosen = text.split(",").map((one) => one.trim());
    const unknown = chosen.filter((one) => !field.options?.some(({ value }) => value === one));
    return unknown.length === 0
      ? { given: chosen }
      : `${escapeToLine(unknown.join(", "))} is not one of the choices.`;
  }
  if (field.type !== "number" && field.type !== "integer") return { given: text };
  const number = Number(text);
  const fits = field.type === "integer" ? Number.isInteger(number) : Number.isFinite(number);
  return fits
    ? { given: number }
    : `It has to be ${field.type === "integer" ? "a whole number" : "a number"}.`;
}

function titleOf({ name, title, type, required }: QuestionField): string {
  const hint =
    type === "choices" ? "several, separated by commas" : type === "text" || type === "choice" ? "" : type;
  const notes = [hint, required ? "" : "optional"].filter(Boolean).join(", ");
  return escapeToLine(`${title ?? name}${notes === "" ? "" : ` (${notes})`}`);
}

function defaultText({ default: value }: QuestionField): string | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join(", ") : String(value);
}

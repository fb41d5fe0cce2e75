import { type ChatMessage, type Conversation, contentText } from "@agent/core";
import { countOf, escapeToLine, isRecord, shorten } from "@agent/internal";
import { safeProse } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { AnswerStream } from "./answerStream.js";
import { isRead, readText, verdictText } from "./resultBody.js";
import { splitMessage } from "./splitMessage.js";

const SHOWN_MESSAGES = 200;
const LONGEST_MESSAGE = 4000;
const LONGEST_RESULT = 160;
const LONGEST_TITLE = 200;
const WIDTH = Number.MAX_SAFE_INTEGER;

/** A conversation for display: its messages, and the display data of its results. */
export type ShownConversation = Pick<Conversation, "sessionContext" | "detailsOf">;
type Details = ReturnType<ShownConversation["detailsOf"]>;
type ToolMessage = Extract<ChatMessage, { role: "tool" }>;
type StoredCall = NonNullable<Extract<ChatMessage, { role: "assistant" }>["tool_calls"]>[number];

/** A resumed conversation in short: its messages, and each call with its result. */
export function transcriptLines(conversation: ShownConversation, style: Style): string[] {
  const messages = conversation.sessionContext;
  const hidden = Math.max(0, messages.length - SHOWN_MESSAGES);
  const lines = [
    ...(hidden > 0 ? [style.dim(`… ${countOf(hidden, "earlier message")}`)] : []),
    ...messages.slice(hidden).flatMap((message, at) =>
      messageLines(message, style, messages[hidden + at - 1]?.role === "tool", (call) => {
        const result = resultOf(messages, hidden + at, call.id);
        return callLines(call, result, conversation, style);
      }),
    ),
    "",
    style.dim(`resumed, ${countOf(messages.length, "message")}`),
  ];
  // The chat leaves a blank row above what it prints.
  return lines[0] === "" ? lines.slice(1) : lines;
}

/** The result of a call of the answer at `answer`. Some providers reuse ids, so only later results are considered. */
export function resultOf(
  messages: readonly ChatMessage[],
  answer: number,
  id: string,
): ToolMessage | undefined {
  for (let at = answer + 1; ; at++) {
    const message = messages[at];
    if (message?.role !== "tool") return undefined;
    if (message.tool_call_id === id) return message;
  }
}

/**
 * The title of a stored call, as its tool provided it; for an older one without a title, the first text among its
 * arguments.
 */
export function storedTitle({ function: { arguments: json } }: StoredCall, details: Details): string {
  return escapeToLine(shorten(details?.about?.title ?? firstText(json), LONGEST_TITLE));
}

function firstText(json: string): string {
  try {
    const args: unknown = JSON.parse(json);
    const first = isRecord(args) ? Object.values(args).find((value) => typeof value === "string") : undefined;
    return typeof first === "string" ? first : "";
  } catch {
    return "";
  }
}

/** A call and its outcome on one line, or the first line of its result below it if only that is known. */
function callLines(
  call: StoredCall,
  result: ToolMessage | undefined,
  conversation: ShownConversation,
  style: Style,
): string[] {
  const details = result && conversation.detailsOf(result);
  const mark = details && details.outcome !== "ok" ? style.red("●") : style.cyan("●");
  const name = style.bold(escapeToLine(call.function.name));
  const header = `${mark} ${name}  ${storedTitle(call, details)}`.trimEnd();
  if (!result) return [header];
  const text = contentText(result.content);
  const [line = "", ...more] = text.trim().split("\n");
  // The time of a question is the user's: its answer says more.
  const isAnswer = details?.outcome === "ok" && details.about?.kind === "other" && more.length === 0;
  if (details && !(isAnswer && line !== "")) {
    const shown = { ...details, text };
    if (isRead(shown)) return [`${header} ${readText(shown, style)}`];
    return [`${header}  ${verdictText(shown, details.durationMs, style)}`];
  }
  return [header, style.dim(`└ ${safeProse(shorten(line, LONGEST_RESULT)).replaceAll("\t", " ")}`)];
}

function messageLines(
  message: ChatMessage,
  style: Style,
  isAfterCalls: boolean,
  linesOf: (call: StoredCall) => string[],
): string[] {
  switch (message.role) {
    case "user": {
      const { text, added } = splitMessage(message.content);
      const summary = added.find(({ kind }) => kind === "summary");
      if (summary) {
        const has = summary.name.startsWith("Summary") ? "has a summary of" : "no longer has";
        return ["", style.dim(`… the model ${has} the messages above`)];
      }
      const [first = "", ...rest] = safeProse(shorten(text.trimEnd(), LONGEST_MESSAGE)).split("\n");
      const files = added.filter(({ kind }) => kind === "file" || kind === "image");
      const attached = files.map(({ name }) => escapeToLine(name)).join(", ");
      return [
        "",
        style.cyan(style.bold(`› ${first}`)),
        ...rest.map((line) => style.cyan(style.bold(`  ${line}`))),
        ...(attached === "" ? [] : [`  attached: ${attached}`]),
      ];
    }
    case "assistant": {
      const text = message.content ?? "";
      const calls = (message.tool_calls ?? []).flatMap(linesOf);
      // As while it ran: a blank row, but not between calls.
      const gap = calls.length > 0 && (text !== "" || !isAfterCalls) ? [""] : [];
      return [...(text === "" ? [] : ["", ...answerLines(text, style)]), ...gap, ...calls];
    }
    default:
      return [];
  }
}

function answerLines(text: string, style: Style): string[] {
  const answer = new AnswerStream(style);
  answer.add(text);
  return answer.finish(WIDTH);
}

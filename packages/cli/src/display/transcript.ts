import { type ChatMessage, contentText } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { countOf, escapeToLine } from "@agent/internal";
import { AnswerStream } from "./answerStream.js";
import { splitAttachments } from "./attachments.js";
import { callTitle, readArguments } from "./callTitle.js";
import { safeProse } from "./safeText.js";
import type { Style } from "./style.js";
import { resultText } from "./toolResult.js";

const SHOWN_MESSAGES = 200;
const LONGEST_MESSAGE = 4000;
const WIDTH = Number.MAX_SAFE_INTEGER;

/** A resumed conversation in short: what was said, and each call on one line. */
export function transcriptLines(messages: readonly ChatMessage[], style: Style): string[] {
  const hidden = Math.max(0, messages.length - SHOWN_MESSAGES);
  const lines = messages.slice(hidden).flatMap((message) => messageLines(message, style));
  return [
    ...(hidden > 0 ? [style.dim(`… ${countOf(hidden, "earlier message")}`)] : []),
    ...lines,
    "",
    style.dim(`resumed, ${countOf(messages.length, "message")}`),
  ];
}

function messageLines(message: ChatMessage, style: Style): string[] {
  switch (message.role) {
    case "user": {
      const { text, attachments } = splitAttachments(message.content);
      const [first = "", ...rest] = escapeInvisible(shorten(text)).split("\n");
      const attached = attachments.map(({ name }) => escapeToLine(name)).join(", ");
      return [
        "",
        style.bold(`› ${first}`),
        ...rest.map((line) => style.bold(`  ${line}`)),
        ...(attached === "" ? [] : [`  attached: ${attached}`]),
      ];
    }
    case "assistant": {
      const text = message.content ?? "";
      const calls = (message.tool_calls ?? []).map(
        ({ function: { name, arguments: json } }) =>
          `${style.cyan("●")} ${style.bold(escapeToLine(name))}  ${callTitle(readArguments(json)).slice(0, 200)}`,
      );
      return [...(text === "" ? [] : ["", ...answerLines(text, style)]), ...calls];
    }
    case "tool": {
      const [line = ""] = resultText(contentText(message.content)).split("\n");
      return [style.dim(`└ ${safeProse(line.slice(0, 100)).replaceAll("\t", " ")}`)];
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

function shorten(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : text;
}

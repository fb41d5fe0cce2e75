import { type ChatMessage, contentText } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { countOf, escapeToLine } from "@agent/internal";
import { AnswerStream } from "./answerStream.js";
import { callTitle, readArguments } from "./callTitle.js";
import { safeProse } from "./safeText.js";
import { splitMessage } from "./splitMessage.js";
import type { Style } from "./style.js";
import { resultText } from "./toolResult.js";

const SHOWN_MESSAGES = 200;
const LONGEST_MESSAGE = 4000;
const LONGEST_RESULT = 160;
const LONGEST_TITLE = 200;
const WIDTH = Number.MAX_SAFE_INTEGER;

/** A resumed conversation in short: what was said, and each call on one line. */
export function transcriptLines(messages: readonly ChatMessage[], style: Style): string[] {
  const hidden = Math.max(0, messages.length - SHOWN_MESSAGES);
  const lines = [
    ...(hidden > 0 ? [style.dim(`… ${countOf(hidden, "earlier message")}`)] : []),
    ...messages.slice(hidden).flatMap((message) => messageLines(message, style)),
    "",
    style.dim(`resumed, ${countOf(messages.length, "message")}`),
  ];
  // The chat leaves a blank row above what it prints.
  return lines[0] === "" ? lines.slice(1) : lines;
}

function messageLines(message: ChatMessage, style: Style): string[] {
  switch (message.role) {
    case "user": {
      const { text, added } = splitMessage(message.content);
      const summary = added.find(({ kind }) => kind === "summary");
      if (summary) return ["", style.dim(`… ${summary.name}`)];
      const [first = "", ...rest] = escapeInvisible(shorten(text, LONGEST_MESSAGE)).split("\n");
      const files = added.filter(({ kind }) => kind === "file" || kind === "image");
      const attached = files.map(({ name }) => escapeToLine(name)).join(", ");
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
          `${style.cyan("●")} ${style.bold(escapeToLine(name))}  ${shorten(callTitle(readArguments(json)), LONGEST_TITLE)}`,
      );
      return [...(text === "" ? [] : ["", ...answerLines(text, style)]), ...calls];
    }
    case "tool": {
      const [line = ""] = resultText(contentText(message.content)).split("\n");
      return [style.dim(`└ ${safeProse(shorten(line, LONGEST_RESULT)).replaceAll("\t", " ")}`)];
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

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

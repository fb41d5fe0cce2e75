import { quote } from "@agent/internal";
import { adaptContent, type Content, type ContentPart } from "../conversation/content.js";
import type { ChatMessage, ChatProvider } from "../providers/interface.js";
import { type OutputReader, outputInstruction } from "./output.js";

const STOPPED = "[The user stopped this answer here.]";
const STOPPED_BEFORE = "[The user stopped this before there was an answer.]";

/**
 * The messages of a request: the system prompt, then the history in a form this provider accepts. Messages that need
 * no change are passed on as they are, and the same history always gives the same request, so that caches hit.
 */
export function requestMessages(
  systemPrompt: string,
  history: readonly ChatMessage[],
  provider: ChatProvider,
  output: OutputReader | undefined,
): ChatMessage[] {
  const accepts = (mediaType: string): boolean => provider.accepts?.(mediaType) ?? false;
  const system = withInstruction(systemPrompt.toWellFormed(), provider, output);
  const messages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  for (const message of history) {
    const adapted = adaptMessage(message, provider.id, accepts);
    const last = messages.at(-1);
    // A failed request, or steering, leaves two messages of the user in a row: some servers refuse that.
    if (adapted.role === "user" && last?.role === "user") {
      messages[messages.length - 1] = { role: "user", content: join(last.content, adapted.content) };
    } else {
      messages.push(adapted);
    }
  }
  return messages;
}

function adaptMessage(
  message: ChatMessage,
  provider: string | undefined,
  accepts: (mediaType: string) => boolean,
): ChatMessage {
  switch (message.role) {
    case "assistant": {
      const isOwn = message.state !== undefined && message.state.provider === provider;
      if (message.stopped === undefined && (message.state === undefined || isOwn)) return message;
      const { state, stopped, ...rest } = message;
      return {
        ...rest,
        ...(stopped && { content: stoppedText(rest.content) }),
        ...(isOwn && { state }),
      };
    }
    case "user": {
      const { from, generated } = message;
      if (from === undefined && !generated) return adaptParts(message, accepts);
      const content = from === undefined ? message.content : noticeContent(from, message.content);
      return adaptParts({ role: "user", content }, accepts);
    }
    case "tool":
      return adaptParts(message, accepts);
    default:
      return message;
  }
}

/** A message that the user did not write, with a line that says so. */
function noticeContent(from: string, content: Content): Content {
  return join(`[A notice from ${quote(from)}, not written by the user]`, content);
}

function adaptParts<M extends Extract<ChatMessage, { role: "user" | "tool" }>>(
  message: M,
  accepts: (mediaType: string) => boolean,
): M {
  if (typeof message.content === "string") return message;
  const content = adaptContent(message.content, accepts);
  return content === message.content ? message : { ...message, content };
}

function stoppedText(content: string | null): string {
  return content ? `${content}\n\n${STOPPED}` : STOPPED_BEFORE;
}

function withInstruction(system: string, provider: ChatProvider, output: OutputReader | undefined): string {
  if (!output || provider.nativeOutput) return system;
  const instruction = outputInstruction(output.format);
  return system === "" ? instruction : `${system}\n\n${instruction}`;
}

function join(first: Content, second: Content): Content {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...toParts(first), ...toParts(second)];
}

function toParts(content: Content): readonly ContentPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

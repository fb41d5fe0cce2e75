import { contentText } from "../../conversation/content.js";
import { arrayOf } from "../../toolkit/hostOptions/checks.js";
import type { ChatMessage } from "../interface.js";

const checkMessages = arrayOf("messages");

/** The texts of the system messages, for servers that take them separately from the conversation. */
export function systemTexts(messages: readonly ChatMessage[]): string[] {
  checkMessages("messages", messages);
  return messages.filter(({ role }) => role === "system").map(({ content }) => contentText(content ?? ""));
}

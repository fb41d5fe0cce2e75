import { escapeInvisible } from "@agent/core/toolkit";

/**
 * Text from a tool, a model or a file as lines that cannot control the terminal. Windows line ends are
 * ordinary ones; any other carriage return is made visible like all control characters.
 */
export function safeLines(text: string): string[] {
  return escapeInvisible(text.includes("\r") ? text.replaceAll("\r\n", "\n") : text).split("\n");
}

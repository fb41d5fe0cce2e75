import { safeProse } from "../text/safeText.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for an HTML page, also for an attribute in quotes. What is invisible or reorders text is spelled out. */
export function escapeHtml(text: string): string {
  const visible = safeProse(text.replaceAll("\r\n", "\n"));
  return visible.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

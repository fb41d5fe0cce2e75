import { safeProse } from "../text/safeText.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for an HTML page, including quoted attributes. Invisible characters and those that reorder text are
 * shown as escapes.
 */
export function escapeHtml(text: string): string {
  const visible = safeProse(text.replaceAll("\r\n", "\n"));
  return visible.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

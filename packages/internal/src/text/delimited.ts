/**
 * Untrusted text for a model, between tags. It cannot close them itself: in a closing tag of this name, including one
 * with blanks or invisible characters, `<` becomes `&lt;`.
 */
export function delimited(
  tag: string,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const closing = new RegExp(`<(?=[\\s\\p{Cf}]*/[\\s\\p{Cf}]*${tag})`, "giu");
  const shown = Object.entries(attributes).map(([name, value]) => ` ${name}=${quoted(value)}`);
  return `<${tag}${shown.join("")}>\n${text.replace(closing, "&lt;")}\n</${tag}>`;
}

function quoted(value: string): string {
  return JSON.stringify(value).replace(/[<>]/g, (mark) => (mark === "<" ? "&lt;" : "&gt;"));
}

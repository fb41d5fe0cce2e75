/** A Markdown code block: its fence is longer than any in the text, so that nothing in it ends the block. */
export function fenced(text: string, language = ""): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

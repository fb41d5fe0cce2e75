/** The maximum length of a text in the state. Every page that connects gets the whole state. */
const MAX_CHARACTERS = 32_768;

/** The beginning of a text, with a line that states how much is omitted. */
export function head(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}\n[${text.length - MAX_CHARACTERS} more characters]`;
}

/** The end of a text. */
export function tail(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : text.slice(-MAX_CHARACTERS).toWellFormed();
}

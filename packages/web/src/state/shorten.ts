/** The most characters of a text that the state keeps. Every page that connects gets the whole state. */
const MAX_CHARACTERS = 32_768;

/** The beginning of a text, with a line that says how much is left out. */
export function head(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}\n[${text.length - MAX_CHARACTERS} more characters]`;
}

/** The end of a text. */
export function tail(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : text.slice(-MAX_CHARACTERS).toWellFormed();
}

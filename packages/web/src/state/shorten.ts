/** How much of a text the state keeps: every page that connects is sent all of it. */
const MAX_CHARACTERS = 32_768;

/** The beginning, with a line that says how much is left out. */
export function head(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}\n[${text.length - MAX_CHARACTERS} more characters]`;
}

/** The end. */
export function tail(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : text.slice(-MAX_CHARACTERS).toWellFormed();
}

// Words before a request that do not change its meaning.
const POLITENESS =
  /^(?:(?:please|now|ok|okay|hey|so|first|next|finally|also|just|agent|and|then)\b[,:]?\s+|(?:can|could|would|will) you(?: please)?\s+|(?:i want you to|i'd like you to|i would like you to|i need you to|go ahead and|let's|let us)\s+)+/i;
const THEN = /(?:\s*[,;.]?\s+(?:and\s+)?|\s*[,;.]\s*)(?:then|after that|afterwards)[,:]?\s+|\s*\n\s*/i;
// "1. write … 2. read …": the numbers of steps, where the text begins with the first.
const NUMBERED = /^1[.)]\s/;
const NUMBER = /(?:^|[\s,;.]+)\d{1,2}[.)]\s+/;
const AND = /\s*,\s*(?:and\s+)?|\s+and\s+/gi;

/** The request without its polite beginning and without white space around it. */
export function withoutPoliteness(text: string): string {
  return text.trim().replace(POLITENESS, "").trim();
}

/** The steps of a request: parts joined by "then", numbered, or on lines of their own. Quoted texts are hidden already. */
export function splitSteps(text: string): string[] {
  const parts = NUMBERED.test(text) ? text.split(NUMBER) : [text];
  return parts.flatMap((part) => part.split(THEN)).filter((part) => part.trim() !== "");
}

/** Each way to cut a text in two at an "and" or a comma. */
export function splitAtAnd(text: string): [left: string, right: string][] {
  return [...text.matchAll(AND)].map((match) => [
    text.slice(0, match.index),
    text.slice(match.index + match[0].length),
  ]);
}

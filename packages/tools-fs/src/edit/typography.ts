// Each character is replaced by exactly one, so that a position in the plain text is the same position in the file.
const PLAIN: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201a": "'",
  "\u201b": "'",
  "\u201c": '"',
  "\u201d": '"',
  "\u201e": '"',
  "\u201f": '"',
  "\u00ab": '"',
  "\u00bb": '"',
  "\u2010": "-",
  "\u2011": "-",
  "\u2012": "-",
  "\u2013": "-",
  "\u2014": "-",
  "\u2212": "-",
  "\u00a0": " ",
  "\u2002": " ",
  "\u2003": " ",
  "\u2009": " ",
  "\u202f": " ",
  "\u3000": " ",
};
const CLASS = `[${Object.keys(PLAIN).join("")}]`;
const TYPOGRAPHIC = new RegExp(CLASS, "g");
const ANY_TYPOGRAPHIC = new RegExp(CLASS);

/** The text with typographic quotes, dashes and spaces replaced by their ASCII forms. Keeps length and positions. */
export function plainTypography(text: string): string {
  return text.replace(TYPOGRAPHIC, (character) => PLAIN[character] ?? character);
}

/** Whether the text has typographic quotes, dashes or spaces. */
export function isTypographic(text: string): boolean {
  return ANY_TYPOGRAPHIC.test(text);
}

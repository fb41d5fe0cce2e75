import { concatBytes, toBase64, toUtf8 } from "./bytes.js";

// Shorter secrets are not replaced: they may be ordinary words.
const SHORTEST_SECRET = 8;
// A longer secret, such as a private key, is searched in pieces: one expression for all of it would be too large.
const LONGEST_PIECE = 128;
const REPLACEMENT = "[secret]";

// Separators inside base64 or hex: line breaks (also escaped as in JSON), spaces, colons.
const LINE_BREAKS = "(?:[\\r\\n]|\\\\[rn])*";
const HEX_SEPARATORS = "(?:[\\s:]|\\\\[rn])*";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/**
 * Returns a function that replaces every known secret of at least 8 characters with `[secret]`: verbatim, in any letter
 * case, URL-encoded, JSON-escaped, HTML-escaped, in base64 at any alignment (so also inside `user:key`), or in hex.
 * `secrets` is called for each text that may contain one, so the list may grow.
 */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  let known = "";
  let pattern: RegExp | undefined;
  return (text) => {
    // No form of a secret is shorter, and reading the environment costs more than the rest of a short call.
    if (text.length < SHORTEST_SECRET) return text;
    const current = secrets().filter((secret) => secret.length >= SHORTEST_SECRET);
    const key = current.join("\0");
    if (key !== known) {
      known = key;
      pattern = current.length === 0 ? undefined : compile(current);
    }
    return pattern === undefined ? text : text.replace(pattern, REPLACEMENT);
  };
}

/** One expression for all secrets, so that a long text is read once. No part of it backtracks over a long run. */
function compile(secrets: readonly string[]): RegExp {
  // Longest first: a secret may begin with another one.
  const longestFirst = [...new Set(secrets.flatMap(piecesOf))].sort((a, b) => b.length - a.length);
  const forms = longestFirst.flatMap((secret) => [
    escapedForm(secret),
    hexForm(secret),
    ...base64Forms(secret),
  ]);
  // Pieces that follow each other are replaced together.
  return new RegExp(`(?:${forms.join("|")})+`, "gi");
}

function piecesOf(secret: string): string[] {
  const count = Math.ceil(secret.length / LONGEST_PIECE);
  const length = Math.ceil(secret.length / count);
  return Array.from({ length: count }, (_, index) => secret.slice(index * length, (index + 1) * length));
}

/** Each character as itself, percent-encoded (also twice) or escaped as in JSON or HTML, in any mixture. */
function escapedForm(secret: string): string {
  return (secret.match(/\\+|[\s\S]/gu) ?? []).map(escapedCharacter).join("");
}

function escapedCharacter(character: string): string {
  const count = character.length;
  // Escaping doubles a backslash. A run is matched as one: single ones would overlap and backtrack.
  if (character.startsWith("\\")) {
    const encoded = [percentForm("\\"), unicodeForm("\\"), entityForm("\\")];
    return `(?:\\\\{${count},${count * 4}}|${encoded.map((form) => `(?:${form}){${count}}`).join("|")})`;
  }
  if (character === "%") return `(?:%(?:25)*|${unicodeForm("%")}|${entityForm("%")})`;
  const forms = [literal(character), percentForm(character), unicodeForm(character), entityForm(character)];
  const entity = ENTITIES[character];
  if (entity !== undefined) forms.unshift(`&${entity};`);
  const short = JSON.stringify(character).slice(1, -1);
  // JSON has short forms of some characters, and some encoders write a slash with a backslash before it.
  if (short.length === 2) forms.push(`\\\\{1,3}${literal(short.slice(1))}`);
  if (character === "/") forms.push("\\\\{1,3}/");
  if (character === " ") forms.push("\\+");
  return `(?:${forms.join("|")})`;
}

function literal(text: string): string {
  return unitsOf(text)
    .map((unit) => `\\u${hex(unit, 4)}`)
    .join("");
}

/** The bytes as in an address; encoding it once more turns "%" into "%25". */
function percentForm(character: string): string {
  return [...toUtf8(character)].map((byte) => `%(?:25)*${hex(byte, 2)}`).join("");
}

function unicodeForm(character: string): string {
  return unitsOf(character)
    .map((unit) => `\\\\{1,2}u${hex(unit, 4)}`)
    .join("");
}

/** As in HTML: by its number, decimal or in hex. */
function entityForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `&#(?:0{0,5}${code}|x0{0,5}${code.toString(16)});`;
}

function unitsOf(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}

function hexForm(secret: string): string {
  return [...toUtf8(secret)].map((byte) => hex(byte, 2)).join(HEX_SEPARATORS);
}

/** The base64 characters that depend only on the secret, for each alignment it can have. */
function base64Forms(secret: string): string[] {
  const bytes = toUtf8(secret);
  return [0, 1, 2].map((offset) => {
    const encoded = toBase64(concatBytes([new Uint8Array(offset), bytes]));
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    // URL-safe base64 has "-" and "_" instead of "+" and "/".
    const characters = [...encoded.slice(start, end)].map((one) =>
      one === "+" ? "[+-]" : one === "/" ? "[/_]" : one,
    );
    return characters.join(LINE_BREAKS);
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

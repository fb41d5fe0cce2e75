import { describe, expect, test } from "vitest";
import { createRedactor } from "./redact.js";

const KEY = 'sk-Proj/a+b="c%d\\e f_0123456789';
const redact = createRedactor(() => [KEY]);

const spelledOut = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const percentOf = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

const NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};
const entityOf = (one: string): string => `&#${one.charCodeAt(0)};`;

describe("a secret is replaced", () => {
  test.each<[string, string]>([
    ["as it is", KEY],
    ["in capitals", KEY.toUpperCase()],
    ["in small letters", KEY.toLowerCase()],
    ["URL-encoded", encodeURIComponent(KEY)],
    ["URL-encoded with small hex digits", encodeURIComponent(KEY).toLowerCase()],
    ["URL-encoded twice", encodeURIComponent(encodeURIComponent(KEY))],
    ["URL-encoded as a form", new URLSearchParams({ "": KEY }).toString().slice(1)],
    ["with every byte percent-encoded", percentOf(KEY)],
    ["as JSON text", JSON.stringify(KEY).slice(1, -1)],
    ["as JSON text inside JSON text", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ["as JSON text with escaped slashes", JSON.stringify(KEY).slice(1, -1).replaceAll("/", "\\/")],
    ["as JSON text with every character escaped", spelledOut(KEY)],
    ["as HTML", KEY.replace(/["+=/]/g, entityOf).replace("&#34;", "&quot;")],
    ["as HTML with every character escaped", [...KEY].map(entityOf).join("")],
    [
      "as HTML with hex digits and zeros",
      [...KEY].map((one) => `&#X00${one.charCodeAt(0).toString(16)};`).join(""),
    ],
    ["in hex", Buffer.from(KEY).toString("hex")],
    ["in hex capitals", Buffer.from(KEY).toString("hex").toUpperCase()],
    ["in hex with spaces", Buffer.from(KEY).toString("hex").replace(/..\B/g, "$& ")],
    ["in hex with colons", Buffer.from(KEY).toString("hex").replace(/..\B/g, "$&:")],
  ])("%s", (_name, written) => {
    expect(redact(`before ${written} after`)).toBe("before [secret] after");
  });

  test.each(["", "u", "us", "user:", "Bearer "])("in base64 after %j", (prefix) => {
    for (const encoding of ["base64", "base64url"] as const) {
      for (const suffix of ["", "x", "xy", "\n"]) {
        const written = Buffer.from(`${prefix}${KEY}${suffix}`).toString(encoding);
        const left = redact(`key ${written}.`);
        expect(left).toContain("[secret]");
        // What stays at the edges is shared with the neighbours and decodes to none of the secret's bytes.
        expect(left.replace("[secret]", "").length).toBeLessThan(
          "key .".length + ((prefix.length + suffix.length) * 4) / 3 + 8,
        );
      }
    }
  });

  test("in base64 with line breaks, also as JSON writes them", () => {
    const broken = Buffer.from(KEY).toString("base64").replace(/.{20}/g, "$&\n");
    expect(redact(broken)).toMatch(/^\[secret\].?=*$/);
    expect(redact(JSON.stringify(broken))).toMatch(/^"\[secret\].?=*"$/);
  });

  test("as HTML, if it contains the characters that HTML has names for", () => {
    const key = "a&b<c>d\"e'0123456789";
    const written = key.replace(/[&<>"']/g, (one) => `&${NAMES[one]};`);
    expect(createRedactor(() => [key])(`before ${written} after`)).toBe("before [secret] after");
  });

  test("as often as it occurs, and the longest of several that begin alike", () => {
    const both = createRedactor(() => ["sk-12345678", "sk-12345678-long"]);
    expect(both("sk-12345678-long sk-12345678, sk-12345678")).toBe("[secret] [secret], [secret]");
  });

  test("also one with letters beyond ASCII", () => {
    const word = "pässwörd-😀";
    const hide = createRedactor(() => [word]);
    for (const written of [word, encodeURIComponent(word), "p\\u00e4ssw\\u00F6rd-\\ud83d\\ude00"]) {
      expect(hide(`<${written}>`)).toBe("<[secret]>");
    }
  });

  test("as a whole although it is thousands of characters long", () => {
    const long = Array.from({ length: 400 }, (_, index) => `line ${index * 7919}`).join("\n");
    const hide = createRedactor(() => [long]);
    expect(hide(`<${long}>`)).toBe("<[secret]>");
    expect(hide(JSON.stringify(long))).toBe('"[secret]"');
  });
});

test("allows the list of secrets to change between two texts", () => {
  const secrets: string[] = [];
  const hide = createRedactor(() => secrets);
  expect(hide("abcdefgh")).toBe("abcdefgh");
  secrets.push("abcdefgh");
  expect(hide("abcdefgh")).toBe("[secret]");
  secrets.pop();
  expect(hide("abcdefgh")).toBe("abcdefgh");
});

test("changes no text for a secret of fewer than 8 characters, or none at all", () => {
  const hide = createRedactor(() => ["", "secret7"]);
  expect(hide("secret7")).toBe("secret7");
});

test.each(["\\".repeat(64), "%".repeat(64), "sk-0123456789", "\n".repeat(64)])(
  "reads a text of a megabyte made to look like the secret %j in one pass",
  (secret) => {
    const hide = createRedactor(() => [secret]);
    for (const text of ["\\", "%", "%25", "\\u005c", "%2525", "sk-012345678", "\n", "736b", "c", "c\n"]) {
      expect(hide(`${text.repeat(1_000_000 / text.length)}!`).endsWith("!")).toBe(true);
    }
  },
);

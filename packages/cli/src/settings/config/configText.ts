import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { readProjectFile } from "../trust/projectFiles.js";
import type { ConfigKind } from "./editPacks.js";
import { PACKAGE, PACKAGE_KEY } from "./places.js";
import { bracketParts, indentOf, maskLiterals, type Range } from "./sourceText.js";

/** The editable text of a config: a whole file, or the value of one key of package.json. */
export interface ConfigText {
  readonly text: string;
  readonly kind: ConfigKind;
  /** The text that trust is bound to. For package.json only the config, in the same form as when it is read. */
  readonly trusted: (text: string) => string;
  /** The whole file with a new text of the config. Everything around it stays byte for byte. */
  readonly withText: (text: string) => string;
}

/** Reads the config in a file; the config of a missing file is empty. */
export function readConfigText(file: string): ConfigText {
  const whole = existsSync(file) ? readProjectFile(file) : "{}\n";
  const part = basename(file) === PACKAGE ? packageConfig(whole) : undefined;
  if (!part) return { text: whole, kind: kindOf(file), trusted: (text) => text, withText: (text) => text };
  return {
    text: whole.slice(part.start, part.end),
    kind: "json",
    trusted: (text) => JSON.stringify(JSON.parse(text)),
    withText: (text) => whole.slice(0, part.start) + indented(text, whole, part) + whole.slice(part.end),
  };
}

/** Whether a package.json contains a config. One that cannot be parsed does not. */
export function hasPackageConfig(file: string): boolean {
  return packageConfig(readProjectFile(file)) !== undefined;
}

/** The position of the config in the text of a package.json. */
function packageConfig(text: string): Range | undefined {
  if (!isManifest(text)) return undefined;
  const mask = maskLiterals(text);
  // If a key appears twice, the last one counts, as in JSON.parse.
  const member = bracketParts(mask, mask.indexOf("{"))?.findLast(({ start, end }) => {
    const [key = ""] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(start, end)) ?? [];
    return key !== "" && JSON.parse(key) === PACKAGE_KEY;
  });
  if (!member) return undefined;
  const colon = mask.indexOf(":", member.start);
  const value = text.slice(colon + 1, member.end).trimStart();
  return { start: member.end - value.length, end: member.end };
}

function isManifest(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(value) && Object.hasOwn(value, PACKAGE_KEY);
  } catch {
    return false;
  }
}

/** JSON in the style of the surrounding lines: their indentation and line endings. */
function indented(text: string, whole: string, { start }: Range): string {
  const unit = indentOf(whole);
  const line = whole.slice(whole.lastIndexOf("\n", start) + 1, start);
  const depth = /^[^\S\n]*/.exec(line)?.[0] ?? "";
  const lines = JSON.stringify(JSON.parse(text), undefined, unit).split("\n");
  return lines.join(`${whole.includes("\r\n") ? "\r\n" : "\n"}${depth}`);
}

function kindOf(file: string): ConfigKind {
  const extension = extname(file);
  return extension === ".json" ? "json" : extension === ".yaml" ? "yaml" : "code";
}

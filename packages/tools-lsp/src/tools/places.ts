import { escapeInvisible, quote } from "@agent/core/toolkit";
import { shownPath } from "../edits/report.js";
import { indexOfWord } from "../edits/words.js";
import type { Location, Position } from "../protocol/messages.js";
import { readText } from "../server/documents.js";
import { pathOf } from "../server/languageServer.js";
import type { Servers } from "../server/servers.js";

const MAX_PLACES = 100;
const MAX_LINE = 160;
const MAX_HINTS = 5;

/** The position of a symbol in a line. Lines count from 1, as models and people count them. */
export function findSymbol(text: string, line: number, symbol: string): Position {
  const lines = text.split(/\r\n|\n|\r/);
  const columns = (content: string): number => indexOfWord(content, symbol);
  const content = lines[line - 1];
  if (content === undefined) throw new Error(`"line" is ${line}, and the file has ${lines.length} lines.`);
  const column = columns(content);
  if (column !== -1) {
    // For "module.name" the last part is used.
    const last = Math.max(symbol.lastIndexOf("."), symbol.lastIndexOf(":"), symbol.lastIndexOf(">"));
    return { line: line - 1, character: column + last + 1 };
  }
  const others = lines.flatMap((one, index) => (columns(one) === -1 ? [] : [index + 1]));
  others.sort((a, b) => Math.abs(a - line) - Math.abs(b - line));
  const where =
    others.length === 0
      ? "nor on any other line of the file"
      : `but on line ${others
          .slice(0, MAX_HINTS)
          .sort((a, b) => a - b)
          .join(", ")}${others.length > MAX_HINTS ? ", …" : ""}`;
  throw new Error(
    `${quote(symbol)} is not on line ${line}, ${where}. Line ${line} is: ${quote(content.trim().slice(0, MAX_LINE))}`,
  );
}

export interface ShownPlace {
  readonly text: string;
  readonly path: string;
  readonly line: number;
}

/**
 * Formats places as lines of text, each with its code. Only files inside the root are read; for others only the name is
 * shown, since a server may name any file of the machine.
 */
export async function showPlaces(
  servers: Servers,
  locations: readonly Location[],
): Promise<{ readonly places: readonly ShownPlace[]; readonly more: number }> {
  const texts = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  const places: ShownPlace[] = [];
  let more = 0;
  for (const { uri, range } of locations) {
    const path = pathOf(uri);
    const line = range.start.line + 1;
    const key = `${path ?? uri}:${line}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (places.length === MAX_PLACES) {
      more++;
      continue;
    }
    const code = path === undefined ? "" : (await linesOf(servers, path, texts))[line - 1]?.trim();
    const shown = path === undefined ? uri : shownPath(path, servers.guard.base);
    const text = `${escapeInvisible(shown.slice(0, 1000))}:${line}`;
    places.push({
      text: code ? `${text}: ${escapeInvisible(code.slice(0, MAX_LINE).toWellFormed())}` : text,
      path: path ?? uri,
      line,
    });
  }
  return { places, more };
}

async function linesOf(
  servers: Servers,
  path: string,
  texts: Map<string, readonly string[]>,
): Promise<readonly string[]> {
  const known = texts.get(path);
  if (known) return known;
  let lines: readonly string[] = [];
  try {
    const canonical = servers.guard.resolve(path);
    if (!servers.isSecret(canonical)) lines = (await readText(canonical))?.text.split(/\r\n|\n|\r/) ?? [];
  } catch {
    // Outside the root.
  }
  texts.set(path, lines);
  return lines;
}

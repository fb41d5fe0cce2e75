import { isRecord } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { searchPackages } from "../../assembly/packages/npm.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns } from "../../process/output.js";
import { PACK_KEYWORD } from "../../settings/packs/entry.js";

const MOST_RESULTS = 50;

interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

export interface PackSearchParameters {
  readonly words: readonly string[];
  readonly json: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack search WORD`: packs in the registry of the user's npm configuration, known by their keyword. */
export async function packSearch({ words, json, print }: PackSearchParameters): Promise<ExitCode> {
  if (words.some((word) => word.startsWith("-"))) {
    throw new CliError(`"${words.join(" ")}" is not a search word. Write: agent pack search weather`);
  }
  const byKeyword = await search([`keywords:${PACK_KEYWORD}`, ...words]);
  // Not every registry understands "keywords:"; the keyword itself is a word all of them find.
  const packs = byKeyword.length > 0 ? byKeyword : await search([PACK_KEYWORD, ...words]);
  if (json) {
    print(`${JSON.stringify({ v: 1, packs }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (packs.length === 0) {
    print(`No pack was found. Packs carry the keyword "${PACK_KEYWORD}" in their package.json.\n`);
    return EXIT.done;
  }
  print(
    columns(packs.map(({ name, version, description }) => [name, version, description].map(escapeToLine))),
  );
  print("\nUse one: agent pack add NAME\n");
  return EXIT.done;
}

async function search(words: readonly string[]): Promise<FoundPackage[]> {
  const found: unknown = parse(await searchPackages(words, MOST_RESULTS));
  if (!Array.isArray(found)) return [];
  return found.filter(isPack).map(({ name, version, description }) => ({
    name: String(name),
    version: String(version ?? ""),
    description: typeof description === "string" ? description : "",
  }));
}

function isPack(entry: unknown): entry is Record<string, unknown> {
  return isRecord(entry) && Array.isArray(entry.keywords) && entry.keywords.includes(PACK_KEYWORD);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError("The registry's answer to the search is not JSON. Does it offer a search?");
  }
}

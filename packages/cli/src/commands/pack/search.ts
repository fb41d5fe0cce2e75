import { escapeToLine } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns } from "../../process/output.js";
import { PACK_KEYWORD } from "../../settings/packs/entry.js";
import { type CatalogueEntry, EVIDENCE, findPacks, readCatalogue, withFacts } from "./catalogue.js";

const MOST_RESULTS = 20;

export interface PackSearchParameters {
  readonly words: readonly string[];
  /** A catalogue to search in, instead of the registry. */
  readonly index: string | undefined;
  readonly json: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack search WORD`: packs in the registry of the user's npm configuration or in a catalogue, with evidence for each. */
export async function packSearch({ words, index, json, print }: PackSearchParameters): Promise<ExitCode> {
  if (words.some((word) => word.startsWith("-"))) {
    throw new CliError(`"${words.join(" ")}" is not a search word. Write: agent pack search weather`);
  }
  const packs =
    index === undefined
      ? await withFacts(await findPacks(words, MOST_RESULTS))
      : readCatalogue(index)
          .packs.filter((pack) => matches(pack, words))
          .slice(0, MOST_RESULTS);
  if (json) {
    print(`${JSON.stringify({ v: 1, packs }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (packs.length === 0) {
    print(`No pack was found. Packs carry the keyword "${PACK_KEYWORD}" in their package.json.\n`);
    return EXIT.done;
  }
  const head = ["NAME", "VERSION", ...EVIDENCE.map(([title]) => title.toUpperCase()), "DESCRIPTION"];
  const rows = packs.map((pack) => [
    pack.name,
    pack.version,
    ...EVIDENCE.map(([, text]) => text(pack)),
    pack.deprecated === undefined ? pack.description : `Deprecated: ${pack.deprecated}`,
  ]);
  print(columns([head, ...rows.map((row) => row.map(escapeToLine))]));
  print("\nUse one: agent pack add NAME\n");
  return EXIT.done;
}

function matches({ name, description, tools = [] }: CatalogueEntry, words: readonly string[]): boolean {
  const text = [name, description, ...tools.map((tool) => tool.name)].join("\n").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}

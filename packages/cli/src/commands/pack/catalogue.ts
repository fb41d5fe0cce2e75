import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { countOf, quotePath, readRegularFile } from "@agent/internal";
import { sizeText } from "@agent/terminal/host";
import {
  packageFacts,
  searchPackages,
  stagePackage,
  withStagingDirectory,
} from "../../assembly/packages/npm.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note } from "../../process/output.js";
import { templatePath } from "../../process/templates.js";
import { entryOf, PACK_KEYWORD } from "../../settings/packs/entry.js";

const FORMAT = "agent-pack-catalogue";
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_PACKS = 250;
// Each query starts npm.
const AT_THE_SAME_TIME = 4;
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

/** The facts about a pack. Facts that were not examined are absent. */
export interface CatalogueEntry {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly publisher?: string;
  /** The date of the release. */
  readonly released?: string;
  readonly bytes?: number;
  readonly provenance?: boolean;
  readonly deprecated?: string;
  /** The checks of the conformance kit that failed. */
  readonly kitFailed?: readonly string[];
  /** Whether it runs in its own process with no more than it declares. */
  readonly isolated?: boolean;
  readonly tools?: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly capabilities: readonly string[];
  }[];
  readonly secrets?: readonly string[];
  /** Why the pack could not be examined. */
  readonly problem?: string;
}

interface Catalogue {
  readonly format: typeof FORMAT;
  readonly version: 1;
  readonly generated: string;
  readonly packs: readonly CatalogueEntry[];
}

/** The evidence shown by `agent pack search` and the page. */
export const EVIDENCE: readonly (readonly [title: string, text: (entry: CatalogueEntry) => string])[] = [
  ["Kit", ({ kitFailed, problem }) => (problem !== undefined ? "failed: load" : kitText(kitFailed))],
  ["Isolated", ({ isolated }) => yesOrNo(isolated)],
  ["Capabilities", ({ tools }) => listText(tools?.flatMap(({ capabilities }) => capabilities))],
  ["Secrets", ({ secrets }) => listText(secrets)],
  ["Size", ({ bytes }) => (bytes === undefined ? "not known" : sizeText(bytes))],
  ["Provenance", ({ provenance }) => yesOrNo(provenance)],
  ["Released", ({ released }) => released ?? "not known"],
];

function kitText(failed: readonly string[] | undefined): string {
  if (failed === undefined) return "not checked";
  return failed.length === 0 ? "passed" : `failed: ${failed.join(", ")}`;
}

function yesOrNo(value: boolean | undefined): string {
  return value === undefined ? "not known" : value ? "yes" : "no";
}

function listText(names: readonly string[] | undefined): string {
  return names === undefined ? "not known" : [...new Set(names)].sort().join(", ") || "none";
}

/** Packs in the registry of the user's npm configuration, found by their keyword. */
export async function findPacks(words: readonly string[], limit: number): Promise<CatalogueEntry[]> {
  const byKeyword = await search([`keywords:${PACK_KEYWORD}`, ...words], limit);
  // Not every registry supports "keywords:"; all of them find the keyword as a word.
  return byKeyword.length > 0 ? byKeyword : await search([PACK_KEYWORD, ...words], limit);
}

async function search(words: readonly string[], limit: number): Promise<CatalogueEntry[]> {
  const found = parseAnswer(await searchPackages(words, limit));
  if (!Array.isArray(found)) return [];
  return found.filter(isPack).map(({ name, version, description }) => ({
    name: String(name),
    version: String(version ?? ""),
    description: typeof description === "string" ? description : "",
  }));
}

function isPack(entry: unknown): entry is Record<string, unknown> {
  return (
    isRecord(entry) &&
    PACKAGE_NAME.test(String(entry.name)) &&
    Array.isArray(entry.keywords) &&
    entry.keywords.includes(PACK_KEYWORD)
  );
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError("The registry's answer to the search is not JSON. It may not support searching.");
  }
}

/** Adds the registry's data about each pack. A pack without data is unchanged. */
export async function withFacts(packs: readonly CatalogueEntry[]): Promise<CatalogueEntry[]> {
  const entries = [...packs];
  const work = packs.map((pack, index) => async () => {
    const facts = await packageFacts(`${pack.name}@${pack.version}`).catch(() => undefined);
    if (!facts) return;
    const { publisher, published, bytes, deprecated, hasProvenance } = facts;
    entries[index] = {
      ...pack,
      provenance: hasProvenance,
      ...(publisher !== undefined && { publisher }),
      ...(published !== undefined && { released: published }),
      ...(bytes !== undefined && { bytes }),
      ...(deprecated !== undefined && { deprecated }),
    };
  });
  const workers = Array.from({ length: AT_THE_SAME_TIME }, async () => {
    for (let next = work.shift(); next; next = work.shift()) await next();
  });
  await Promise.all(workers);
  return entries;
}

export interface PackCatalogueParameters {
  readonly words: readonly string[];
  /** The directory of the page. */
  readonly out: string;
  /** A catalogue.json to build the page from, instead of the registry. */
  readonly from: string | undefined;
  /** Downloads each pack and runs the conformance kit on it. */
  readonly check: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack catalogue`: writes a page and a JSON file about the packs in a registry, with evidence for each. */
export async function packCatalogue(parameters: PackCatalogueParameters): Promise<ExitCode> {
  const { out, from, print } = parameters;
  const catalogue = from === undefined ? await createCatalogue(parameters) : readCatalogue(from);
  try {
    mkdirSync(out, { recursive: true });
    await writeFileAtomic(join(out, "catalogue.json"), `${JSON.stringify(catalogue, undefined, 1)}\n`);
    await writeFileAtomic(join(out, "index.html"), renderPage(catalogue));
  } catch (error) {
    throw new CliError(
      `The catalogue cannot be written to ${quotePath(out)}: ${errorMessage(error)}`,
      EXIT.output,
    );
  }
  print(
    `Wrote ${join(out, "index.html")} and catalogue.json with ${countOf(catalogue.packs.length, "pack")}.\n`,
  );
  return EXIT.done;
}

async function createCatalogue({ words, check }: PackCatalogueParameters): Promise<Catalogue> {
  const packs = await withFacts(await findPacks(words, MOST_PACKS));
  const examined = check ? await withStagingDirectory((directory) => examineAll(packs, directory)) : packs;
  const sorted = examined.sort((a, b) => a.name.localeCompare(b.name, "en"));
  return { format: FORMAT, version: 1, generated: new Date().toISOString(), packs: sorted };
}

async function examineAll(packs: readonly CatalogueEntry[], directory: string): Promise<CatalogueEntry[]> {
  const entries: CatalogueEntry[] = [];
  for (const [index, pack] of packs.entries()) {
    note(`${index + 1}/${packs.length} ${pack.name}`);
    try {
      entries.push({ ...pack, ...(await examine(pack, join(directory, String(index)))) });
    } catch (error) {
      entries.push({ ...pack, problem: errorMessage(error) });
    }
  }
  return entries;
}

/** Runs the kit on a pack, which loads it in separate processes. */
async function examine(pack: CatalogueEntry, directory: string): Promise<Partial<CatalogueEntry>> {
  const { checkPack, inspectPack } = await import("@agent/testing");
  const { folder } = await stagePackage(`${pack.name}@${pack.version}`, directory);
  const { tools, secrets, problem } = await inspectPack(entryOf(folder));
  if (problem !== undefined) return { problem };
  const { checks } = await checkPack(entryOf(folder), { sandboxed: true });
  return {
    kitFailed: checks.filter(({ status }) => status === "failed").map(({ id }) => id),
    isolated: await runsIsolated(pack.name, entryOf(folder)),
    tools: tools.map(({ name, enabled, capabilities }) => ({ name, enabled, capabilities })),
    secrets,
  };
}

/** Whether the command would run the pack in its own process. Our packs run in the process of the command. */
async function runsIsolated(name: string, entry: string): Promise<boolean> {
  if (name.startsWith("@agent/")) return false;
  const { Isolation } = await import("@agent/core/isolation");
  try {
    await new Isolation().inspect(realpathSync(entry));
    return true;
  } catch {
    return false;
  }
}

/** Reads a catalogue. It may come from anywhere, so each part is checked. */
export function readCatalogue(file: string): Catalogue {
  const fail = (problem: string): never => {
    throw new CliError(`${quotePath(file)} is not a catalogue of packs: ${problem}`);
  };
  const bytes = readRegularFile(file, MOST_BYTES);
  if (bytes === undefined) return fail("it cannot be read, or is larger than 32 MiB.");
  let data: unknown;
  try {
    data = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    return fail(errorMessage(error));
  }
  if (!isRecord(data) || data.format !== FORMAT || data.version !== 1 || !Array.isArray(data.packs)) {
    return fail(`it has no "format": "${FORMAT}" with version 1.`);
  }
  const wrong = data.packs.findIndex((entry) => !isEntry(entry));
  if (wrong !== -1) return fail(`packs[${wrong}] is malformed.`);
  return data as unknown as Catalogue;
}

function isEntry(entry: unknown): entry is CatalogueEntry {
  if (!isRecord(entry) || !PACKAGE_NAME.test(String(entry.name))) return false;
  const isAbsentOr = (type: string, keys: readonly string[]): boolean =>
    keys.every((key) => entry[key] === undefined || typeof entry[key] === type);
  return (
    typeof entry.version === "string" &&
    typeof entry.description === "string" &&
    isAbsentOr("string", ["publisher", "released", "deprecated", "problem"]) &&
    isAbsentOr("number", ["bytes"]) &&
    isAbsentOr("boolean", ["provenance", "isolated"]) &&
    [entry.kitFailed, entry.secrets].every((list) => list === undefined || isTexts(list)) &&
    (entry.tools === undefined || (Array.isArray(entry.tools) && entry.tools.every(isTool)))
  );
}

function isTool(tool: unknown): boolean {
  return isRecord(tool) && typeof tool.name === "string" && isTexts(tool.capabilities);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** The page. It works without a server and without scripts; its one script filters the list. */
function renderPage({ packs, generated }: Catalogue): string {
  const template = readFileSync(templatePath("catalogue.html"), "utf8");
  const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(template) ?? [];
  const hash = createHash("sha256").update(script).digest("base64");
  const parts: Readonly<Record<string, string>> = {
    SCRIPT_HASH: `'sha256-${hash}'`,
    COUNT: countOf(packs.length, "pack"),
    GENERATED: escapeHtml(generated.slice(0, "2026-01-01".length)),
    PACKS: packs.map(renderPack).join("\n"),
  };
  return template.replaceAll(/__([A-Z_]+)__/g, (whole, key: string) => parts[key] ?? whole);
}

function renderPack(entry: CatalogueEntry): string {
  const { name, version, description, publisher, deprecated, problem, tools = [] } = entry;
  const facts = EVIDENCE.map(([title, text]) => {
    const value = text(entry);
    const tone = /^(?:passed|yes)$/.test(value) ? "good" : value.startsWith("failed") ? "bad" : "";
    return `<div><dt>${title}</dt><dd class="${tone}">${escapeHtml(value)}</dd></div>`;
  });
  const toolRows = tools.map(
    ({ name: tool, enabled, capabilities }) =>
      `<li><code>${escapeHtml(tool)}</code> ${enabled ? "on" : "off until enabled"}; ${escapeHtml(capabilities.join(", ") || "declares no capability")}</li>`,
  );
  return [
    `<li class="pack"><h2><a href="https://www.npmjs.com/package/${encodeURI(name)}">${escapeHtml(name)}</a> <span class="dim">${escapeHtml(version)}${publisher === undefined ? "" : ` by ${escapeHtml(publisher)}`}</span></h2>`,
    `<p>${escapeHtml(description) || "No description."}</p>`,
    deprecated === undefined ? "" : `<p class="bad">Deprecated: ${escapeHtml(deprecated)}</p>`,
    problem === undefined ? "" : `<p class="bad">Not examined: ${escapeHtml(problem)}</p>`,
    `<dl>${facts.join("")}</dl>`,
    toolRows.length === 0
      ? ""
      : `<details><summary>${countOf(tools.length, "tool")}</summary><ul>${toolRows.join("")}</ul></details>`,
    `<p class="add"><code>agent pack add ${escapeHtml(name)}</code></p></li>`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** Untrusted text for the page: no markup, and no characters that reorder or hide the text around it. */
function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

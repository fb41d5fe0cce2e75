import { isAbsolute, resolve } from "node:path";
import type { ContentPart, ToolCapability } from "@agent/core";
import { escapeToLine, fenced, misreadings, spellOut, truncateUtf8 } from "@agent/internal";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { argumentsBesideDiff, changedLine, predictDiffs } from "./diffs.js";
import type { TextReader } from "./textReader.js";

const MAX_TITLE_BYTES = 200;
/** The most lines with invisible characters that a warning shows escaped, and the most characters of each. */
const MOST_HIDING_LINES = 20;
const LONGEST_HIDING_LINE = 400;

type Args = Readonly<Record<string, unknown>>;

/** The parts of a call that an editor shows. */
export interface ShownCall {
  readonly name: string;
  readonly args: Args;
  readonly capabilities: readonly ToolCapability[];
}

/** The view of a call in an editor: everything that a person needs to decide. */
export interface CallView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

/** Describes a call before it runs: the whole command, its diff, or all its arguments. */
export async function describeCall(
  { name, args, capabilities }: ShownCall,
  cwd: string,
  read: TextReader,
): Promise<CallView> {
  const onlyReads = capabilities.length > 0 && capabilities.every((one) => one === "read");
  const diffs = onlyReads ? [] : await predictDiffs(args, cwd, read);
  const line = diffs[0] === undefined ? args.offset : changedLine(diffs[0]);
  const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0 && line < 2 ** 32;
  return {
    title: shownLine(truncateUtf8(titleOf(name, args), MAX_TITLE_BYTES)) || name || "(unnamed tool)",
    kind: kindOf(name, capabilities),
    content: [
      ...diffs,
      ...argumentContent(name, diffs.length > 0 ? argumentsBesideDiff(args) : args),
      ...warnings(args, diffs.length > 0),
    ],
    locations: pathsOf(args, cwd).map((path, at) => ({ path, ...(at === 0 && isLine && { line }) })),
  };
}

/** The result of a call as an editor shows it. */
export function resultContent(text: string, parts: readonly ContentPart[] = []): ToolCallContent[] {
  const blocks = parts.flatMap((part): ToolCallContent[] =>
    part.type === "image"
      ? [{ type: "content", content: { type: "image", data: part.data, mimeType: part.mediaType } }]
      : [],
  );
  return text === "" ? blocks : [textContent(text), ...blocks];
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** A text on one line, with invisible characters escaped. */
export function shownLine(text: string): string {
  return escapeToLine(spellOut(text));
}

/** The files a call names, as absolute paths. */
export function pathsOf(args: Args, cwd: string): string[] {
  const several: unknown[] = Array.isArray(args.paths) ? args.paths : [];
  const named = [args.path, args.source, args.destination, ...several].filter(
    (one): one is string => typeof one === "string" && one !== "",
  );
  return [...new Set(named.map((path) => (isAbsolute(path) ? path : resolve(cwd, path))))];
}

function titleOf(name: string, args: Args): string {
  if (typeof args.command === "string") return args.command;
  const subject = [args.path, args.source, args.pattern, args.query].find((one) => typeof one === "string");
  return subject === undefined ? name : `${name} ${String(subject)}`;
}

function kindOf(name: string, capabilities: readonly ToolCapability[]): ToolKind {
  if (capabilities.includes("execute")) return "execute";
  if (name === "move") return "move";
  if (capabilities.includes("destroy")) return "delete";
  if (capabilities.includes("write")) return capabilities.includes("network") ? "other" : "edit";
  if (name.startsWith("search_")) return "search";
  if (capabilities.includes("network")) return "fetch";
  return capabilities.includes("read") ? "read" : "other";
}

function argumentContent(name: string, args: Args): ToolCallContent[] {
  if (typeof args.command === "string") {
    const rest = Object.entries(args).filter(([key]) => key !== "command");
    const more = rest.length === 0 ? "" : `\n${fenced(shownJson(Object.fromEntries(rest)), "json")}`;
    return [textContent(`${fenced(spellOut(args.command), "sh")}${more}`)];
  }
  if (Object.keys(args).length === 0) return [];
  return [textContent(`${name}\n${fenced(shownJson(args), "json")}`)];
}

function shownJson(value: unknown): string {
  return spellOut(JSON.stringify(value, undefined, 2));
}

/** Warnings about invisible or misleading characters. A diff shows text unescaped, so a warning stands beside it. */
function warnings(args: Args, isDiff: boolean): ToolCallContent[] {
  const texts = Object.entries(args).map(
    ([name, value]) => [shownLine(name), typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  const lines = texts.flatMap(([name, text = ""]) => [
    ...(isDiff ? hidingLines(name, text) : []),
    ...misreadings(name, text),
  ]);
  return lines.length === 0 ? [] : [textContent(fenced(lines.join("\n")))];
}

function hidingLines(name: string, text: string): string[] {
  if (spellOut(text) === text) return [];
  const hiding = text.split("\n").filter((line) => spellOut(line) !== line);
  const shown = hiding
    .slice(0, MOST_HIDING_LINES)
    .map((line) => truncateUtf8(spellOut(line), LONGEST_HIDING_LINE));
  const left = hiding.length - shown.length;
  return [`${name} has invisible characters:`, ...shown, ...(left > 0 ? [`and ${left} more lines`] : [])];
}

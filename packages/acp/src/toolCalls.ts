import { resolve } from "node:path";
import type { CallAbout, CallPreview, ContentPart, DiffHunk, FileDiff, ToolKind } from "@agent/core";
import { escapeToLine, fenced, misreadings, spellOut, truncateUtf8 } from "@agent/internal";
import type { ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";

const MAX_TITLE_BYTES = 200;
/** The maximum number of lines with invisible characters that a warning shows escaped, and their maximum length. */
const MOST_HIDING_LINES = 20;
const LONGEST_HIDING_LINE = 400;

type Args = Readonly<Record<string, unknown>>;

/** A call with everything known about it so far. */
export interface ShownCall {
  readonly name: string;
  readonly args: Args;
  readonly about: Partial<CallAbout>;
  readonly preview?: CallPreview | undefined;
}

/** The view of a call in an editor: everything that a user needs to decide. */
interface CallView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

/** Renders a call before it runs: the whole command, its diff, or all its arguments. */
export function viewCall({ name, args, about, preview }: ShownCall, cwd: string): CallView {
  const { title = "", kind = "other", files = [] } = about;
  const diffs = diffContent(preview?.changes ?? [], cwd);
  const shown = diffs.length > 0 ? (preview?.shows ?? []) : [];
  const rest = Object.entries(args).filter(([key]) => !shown.includes(key));
  // The title of a command is the command. Other titles are arguments, which say little without the tool's name.
  const text = kind === "execute" && title !== "" ? title : `${name} ${title}`.trim();
  return {
    title: shownLine(truncateUtf8(text, MAX_TITLE_BYTES)) || "(unnamed tool)",
    kind,
    content: [
      ...diffs,
      ...argumentContent(name, Object.fromEntries(rest), title, kind, diffs.length > 0),
      ...warnings(args, diffs.length > 0),
    ],
    locations: locationsOf(files, preview, cwd),
  };
}

/** File changes in the form of the protocol: one diff per hunk, so that a large file is not sent whole. */
export function diffContent(files: readonly FileDiff[], cwd: string): ToolCallContent[] {
  return files.flatMap((file): ToolCallContent[] => {
    const path = resolve(cwd, file.path);
    const side = ({ lines, noFinalNewline: open }: DiffHunk, which: "old" | "new"): string => {
      const other = which === "old" ? "+" : "-";
      const own = lines.filter((line) => !line.startsWith(other)).map((line) => line.slice(1));
      const isOpen = open === which || open === "both";
      return own.map((line, at) => (isOpen && at === own.length - 1 ? line : `${line}\n`)).join("");
    };
    const diffs = file.hunks.map(
      (hunk): ToolCallContent => ({
        type: "diff",
        path,
        ...(file.change !== "created" && { oldText: side(hunk, "old") }),
        newText: side(hunk, "new"),
      }),
    );
    const { change, oldPath, more } = file;
    const notes = [
      ...(change === "moved" && oldPath !== undefined ? [`${oldPath} → ${file.path}`] : []),
      ...(change === "deleted" || (diffs.length === 0 && change !== "moved")
        ? [`${file.path}: ${change}`]
        : []),
      ...(more ? [`${more} more lines of ${file.path} are changed and not shown.`] : []),
    ];
    return [...diffs, ...notes.map((note) => textContent(shownLine(note)))];
  });
}

/** The text and the images of a result. */
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

/** The files of a call, each with its line. */
export function locationsOf(
  files: NonNullable<CallAbout["files"]>,
  preview: CallPreview | undefined,
  cwd: string,
): ToolCallLocation[] {
  const changed = new Map(
    (preview?.changes ?? []).map((file) => [resolve(cwd, file.path), changedLine(file)]),
  );
  // A call may read and write the same file.
  const lines = new Map<string, number | undefined>();
  for (const file of files) {
    const path = resolve(cwd, file.path);
    lines.set(path, lines.get(path) ?? file.line ?? changed.get(path));
  }
  return [...lines].map(([path, line]) => ({ path, ...(isLine(line) && { line }) }));
}

/** The first line that a diff changes, counted from 1: an editor that follows the agent scrolls there. */
function changedLine({ hunks }: FileDiff): number | undefined {
  const [hunk] = hunks;
  if (!hunk) return undefined;
  const at = hunk.lines.findIndex((line) => !line.startsWith(" "));
  return hunk.newStart + Math.max(0, at);
}

function isLine(line: number | undefined): line is number {
  return line !== undefined && Number.isInteger(line) && line >= 0 && line < 2 ** 32;
}

/** The full arguments. The argument that gave a command its title is shown as a script. */
function argumentContent(
  name: string,
  args: Args,
  title: string,
  kind: ToolKind,
  hasDiff: boolean,
): ToolCallContent[] {
  const entries = Object.entries(args);
  const script = kind === "execute" ? entries.find(([, value]) => isTitle(value, title)) : undefined;
  // The title and the path of a diff already contain these arguments.
  const rest = entries.filter(([key, value]) => key !== script?.[0] && !(hasDiff && value === title));
  const json = rest.length === 0 ? "" : fenced(shownJson(Object.fromEntries(rest)), "json");
  if (script) {
    const text = fenced(spellOut(String(script[1])), "sh");
    return [textContent(json === "" ? text : `${text}\n${json}`)];
  }
  return json === "" ? [] : [textContent(`${name}\n${json}`)];
}

function isTitle(value: unknown, title: string): boolean {
  if (typeof value !== "string" || title === "") return false;
  const start = title.endsWith("…") ? title.slice(0, -1) : title;
  const line = value
    .slice(0, 4 * (title.length + 1))
    .replace(/\s+/g, " ")
    .trim();
  return line === title || (start !== title && line.startsWith(start.trimEnd()));
}

function shownJson(value: unknown): string {
  return spellOut(JSON.stringify(value, undefined, 2));
}

/** Warnings about invisible or misleading characters. A diff shows text unescaped, so a warning is shown next to it. */
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

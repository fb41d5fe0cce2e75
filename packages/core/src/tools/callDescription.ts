import { describeValue, isRecord, spellOut } from "@agent/internal";
import { titleLine } from "../toolkit/text/title.js";
import type { AccessNeed, ToolCapability } from "./tool.js";

/** The kinds of work that a call can do: those of the Agent Client Protocol. For display only. */
export const TOOL_KINDS = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "other",
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** A file as the target of a call. */
export interface FileTarget {
  readonly type: "file";
  /** Absolute. The directory is canonical, the last component is as in the call. */
  readonly path: string;
  /** The target of a symlink at `path`, if it is one. */
  readonly realPath?: string;
  readonly access: "read" | "write" | "delete";
  /** Includes everything below the path. */
  readonly tree?: true;
  readonly line?: number;
}

/** One target of a call. `open`: the call may affect more than this target describes. */
export type CallTarget = { readonly open?: true } & (
  | FileTarget
  /** One simple command. A script has one target for each, including those inside wrappers and `sh -c`. */
  | {
      readonly type: "command";
      readonly text: string;
      /** The working directory, if it is not the agent's own. */
      readonly cwd?: string;
      /** It only reads, so no rule is needed. */
      readonly reads?: true;
    }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "text"; readonly text: string }
);

/** A rule that is worth offering to a user who allows the call: `{ pattern: "npm test *", label: "npm test …" }`. */
export interface AlwaysOffer {
  readonly pattern: string;
  readonly label: string;
}

/** A tool's description of one of its calls, created before the call is decided about. Everything is optional. */
export interface CallDescription {
  /** Default: the arguments in `titleFrom`, else the first required string of the schema. For display only. */
  readonly title?: string;
  /** Default: the tool's `kind`, else derived from its capabilities. For display only. */
  readonly kind?: ToolKind;
  /** All targets of the call. Absent means unknown; `[]` means none. */
  readonly targets?: readonly CallTarget[];
  /** The accesses beyond the host's access rules that the call needs. */
  readonly needs?: readonly AccessNeed[];
  /** Set if the tool would refuse the call: the call fails with this message, and the user is not asked. */
  readonly refusal?: string;
  /**
   * Why a user should decide about this call even in a mode without questions: `the address may carry data out`. A rule
   * that allows the call or the whole tool is enough to run it.
   */
  readonly caution?: string;
  /** Whether the call runs inside a working sandbox, or not at all. */
  readonly contained?: boolean;
  /** Rules to offer to the user, narrowest first. */
  readonly always?: readonly AlwaysOffer[];
}

/** A call as hosts see it: the tool's description with defaults filled in. JSON. */
export interface DescribedCall extends CallDescription {
  readonly title: string;
  readonly kind: ToolKind;
  readonly needs: readonly AccessNeed[];
  /** Why the tool's own description could not be used. The targets are unknown in that case. */
  readonly problem?: string;
}

/** One file in a diff. */
export interface FileDiff {
  readonly path: string;
  readonly oldPath?: string;
  readonly change: "created" | "edited" | "deleted" | "moved";
  /** The number of lines added and removed in the whole file, including those that are not shown. */
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
  /** The number of lines omitted from the hunks. */
  readonly more?: number;
}

export interface DiffHunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** Each line begins with " ", "+" or "-". */
  readonly lines: readonly string[];
  /** The sides whose last line ends the file without a newline. Absent: none, or the hunk does not reach the end. */
  readonly noFinalNewline?: "old" | "new" | "both";
}

/** A preview of a call's changes, for a user who is asked about it. */
export interface CallPreview {
  readonly changes: readonly FileDiff[];
  /** The arguments that the diff makes redundant. A question shows all other arguments in full. */
  readonly shows?: readonly string[];
  /**
   * The tool's own token for the state it saw. It is passed back as `call.basis`; the tool refuses if the state has
   * changed.
   */
  readonly basis?: string;
  /** Set if the tool would refuse the call: it fails with this message, and the user is not asked. */
  readonly refusal?: string;
}

/** The parts of a description that are stored with a result, for displays that have only the result. At most 4 KB. */
export interface CallAbout {
  readonly title: string;
  readonly kind: ToolKind;
  readonly files?: readonly { readonly path: string; readonly line?: number }[];
}

/**
 * How a pattern relates to a target. `covers`: the pattern names exactly this target, which is enough to allow; never
 * returned for an open target. `touches`: the target includes what the pattern names, which is enough to deny or ask.
 * `maybe`: undecidable.
 */
export type Match = "covers" | "touches" | "maybe" | "none";

/**
 * Matches rule patterns for a tool whose targets are not files, addresses or plain text, such as a shell. Takes and
 * returns JSON.
 */
export interface PermissionLanguage {
  /** Resolves to the problem with a pattern, if any. Called when the configuration is loaded. */
  check(pattern: string): string | undefined | Promise<string | undefined>;
  /** Resolves to one row per pattern, with one match per target. A failure counts as `maybe`. */
  match(
    patterns: readonly string[],
    targets: readonly CallTarget[],
  ): readonly (readonly Match[])[] | Promise<readonly (readonly Match[])[]>;
}

const MAX_DESCRIPTION_BYTES = 256 * 1024;
const MAX_ABOUT_BYTES = 4 * 1024;
const MAX_ABOUT_FILES = 20;
const MAX_PREVIEW_BYTES = 64 * 1024;
const MAX_REFUSAL = 8 * 1024;
// A question lists them next to other rules, each under a digit.
const MAX_OFFERS = 5;

/** The kind of a tool that does not declare one. */
export function kindOf(capabilities: readonly ToolCapability[]): ToolKind {
  if (capabilities.includes("destroy")) return "delete";
  if (capabilities.includes("execute")) return "execute";
  if (capabilities.includes("write")) return "edit";
  if (capabilities.includes("network")) return "fetch";
  return capabilities.includes("read") ? "read" : "other";
}

/**
 * Reads the result of `describeCall`. Throws an `Error` that names the problem: permissions depend on descriptions, so
 * an invalid one is not used partially.
 */
export function readDescription(value: unknown): CallDescription {
  const given = copyJson(value, MAX_DESCRIPTION_BYTES, "the description");
  const { title, kind, targets, needs, refusal, caution, contained, always } = given;
  check(title === undefined || typeof title === "string", "title must be a string", title);
  check(kind === undefined || isKind(kind), `kind must be one of ${TOOL_KINDS.join(", ")}`, kind);
  check(targets === undefined || isListOf(targets, isTarget), "targets must be a list of targets", targets);
  check(needs === undefined || isListOf(needs, isNeed), "needs must be a list of access needs", needs);
  check(refusal === undefined || typeof refusal === "string", "refusal must be a string", refusal);
  check(caution === undefined || typeof caution === "string", "caution must be a string", caution);
  check(contained === undefined || typeof contained === "boolean", "contained must be a boolean", contained);
  check(
    always === undefined || isListOf(always, isOffer),
    "always must be a list of { pattern, label }",
    always,
  );
  return given as CallDescription;
}

/** Reads the result of `previewCall` and shortens long diffs. Throws an `Error` that names the problem. */
export function readPreview(value: unknown): CallPreview | undefined {
  if (value === undefined || value === null) return undefined;
  const given = copyJson(value, 64 * 1024 * 1024, "the preview");
  const { changes, shows, basis, refusal } = given;
  check(isListOf(changes, isFileDiff), "changes must be a list of file diffs", changes);
  check(shows === undefined || isListOf(shows, isText), "shows must be a list of names of arguments", shows);
  check(basis === undefined || typeof basis === "string", "basis must be a string", basis);
  check(refusal === undefined || typeof refusal === "string", "refusal must be a string", refusal);
  const preview = { ...given, changes: boundDiffs(changes as FileDiff[], MAX_PREVIEW_BYTES) };
  return copyJson(preview, 4 * MAX_PREVIEW_BYTES, "the preview without its lines") as unknown as CallPreview;
}

/** Fills in the defaults. `problem` explains why the tool's own description is missing. */
export function completeDescription(
  given: CallDescription,
  defaults: { readonly title: string; readonly kind: ToolKind },
  redact: (text: string) => string,
  problem?: string,
): DescribedCall {
  const { title, kind, targets, needs, refusal, caution, contained, always } = given;
  return {
    title: titleLine(redact(title ?? defaults.title)),
    kind: kind ?? defaults.kind,
    ...(targets && { targets }),
    needs: (needs ?? []).map((need) => ({ ...need, reason: titleLine(redact(need.reason)) })),
    ...(refusal !== undefined && { refusal: redact(refusal).slice(0, MAX_REFUSAL) }),
    ...(caution !== undefined && { caution: redact(caution).slice(0, MAX_REFUSAL) }),
    ...(contained && { contained }),
    ...(always && { always: readableOffers(always, redact) }),
    ...(problem !== undefined && { problem }),
  };
}

/** A user must be able to read the whole rule that an offer adds. */
function readableOffers(offers: readonly AlwaysOffer[], redact: (text: string) => string): AlwaysOffer[] {
  return offers
    .filter(({ pattern }) => spellOut(pattern) === pattern && !/[\n\t]/.test(pattern))
    .slice(0, MAX_OFFERS)
    .map(({ pattern, label }) => ({ pattern, label: titleLine(redact(label)) }));
}

export function aboutOf({ title, kind, targets = [] }: DescribedCall): CallAbout {
  const files = [];
  let bytes = title.length;
  for (const target of targets) {
    if (target.type !== "file" || files.length === MAX_ABOUT_FILES) continue;
    bytes += target.path.length;
    if (bytes > MAX_ABOUT_BYTES) break;
    files.push({ path: target.path, ...(target.line !== undefined && { line: target.line }) });
  }
  return { title, kind, ...(files.length > 0 && { files }) };
}

/**
 * Whether a call still does no more than what the user was shown: every need and target is among those shown, and it
 * still runs in a sandbox if it did. An earlier decision is valid only then, also in another process.
 */
export function isWithinShown(now: DescribedCall, shown: DescribedCall | undefined): boolean {
  if (shown === undefined || (shown.contained && !now.contained)) return false;
  const needs = new Set(shown.needs.map(({ kind, path }) => JSON.stringify([kind, path])));
  if (!now.needs.every(({ kind, path }) => needs.has(JSON.stringify([kind, path])))) return false;
  if (now.targets === undefined || shown.targets === undefined) return now.targets === shown.targets;
  const targets = new Set(shown.targets.map(targetKey));
  return now.targets.every((target) => targets.has(targetKey(target)));
}

/** The line number is for display only: an edit further up moves it. */
function targetKey(target: CallTarget): string {
  const { line: _, ...rest } = target as CallTarget & { line?: number };
  return stableJson(rest);
}

/** JSON that does not depend on the order of keys. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** Shortens diffs to a number of bytes and counts the omitted lines. */
export function boundDiffs(files: readonly FileDiff[], maxBytes: number): FileDiff[] {
  let left = maxBytes;
  return files.map((file) => {
    let more = file.more ?? 0;
    const hunks: DiffHunk[] = [];
    for (const hunk of file.hunks) {
      const lines: string[] = [];
      for (const line of hunk.lines) {
        left -= line.length + 1;
        if (left >= 0) lines.push(line);
        else more++;
      }
      const { noFinalNewline: _, ...rest } = hunk;
      if (lines.length > 0) hunks.push(lines.length === hunk.lines.length ? hunk : { ...rest, lines });
    }
    return { ...file, hunks, ...(more > 0 && { more }) };
  });
}

/** A copy as JSON of what a tool returned: no getters, no cycles, no prototypes, at most `maxBytes`. */
export function copyJson(value: unknown, maxBytes: number, what: string): Record<string, unknown> {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Error(`${what} is not JSON: ${(error as Error).message}`);
  }
  if (text === undefined) throw new Error(`${what} is ${describeValue(value)}`);
  if (text.length > maxBytes) throw new Error(`${what} has ${text.length} bytes, more than ${maxBytes}`);
  const copy: unknown = JSON.parse(text);
  if (!isRecord(copy)) throw new Error(`${what} must be an object, got ${describeValue(copy)}`);
  return copy;
}

function check(valid: boolean, expected: string, value: unknown): void {
  if (!valid) throw new Error(`${expected}, got ${describeValue(value)}`);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

export function isKind(value: unknown): value is ToolKind {
  return TOOL_KINDS.includes(value as ToolKind);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isOptional(value: unknown, type: "string" | "number"): boolean {
  return value === undefined || typeof value === type;
}

function isTarget(value: unknown): boolean {
  if (!isRecord(value) || (value.open !== undefined && value.open !== true)) return false;
  switch (value.type) {
    case "file":
      return (
        isText(value.path) &&
        isOptional(value.realPath, "string") &&
        ["read", "write", "delete"].includes(value.access as string) &&
        (value.tree === undefined || value.tree === true) &&
        isOptional(value.line, "number")
      );
    case "command":
      return (
        isText(value.text) &&
        isOptional(value.cwd, "string") &&
        (value.reads === undefined || value.reads === true)
      );
    case "url":
      return isText(value.url);
    case "text":
      return isText(value.text);
    default:
      return false;
  }
}

function isNeed(value: unknown): boolean {
  return (
    isRecord(value) &&
    (value.kind === "read" || value.kind === "write") &&
    isText(value.path) &&
    isText(value.reason)
  );
}

function isOffer(value: unknown): boolean {
  return isRecord(value) && isText(value.pattern) && value.pattern !== "" && isText(value.label);
}

/** A newline in a line would be drawn as a line without a sign. */
function isDiffLine(value: unknown): boolean {
  return isText(value) && /^[ +-][^\n]*$/.test(value);
}

export function isFileDiff(value: unknown): boolean {
  return (
    isRecord(value) &&
    isText(value.path) &&
    isOptional(value.oldPath, "string") &&
    ["created", "edited", "deleted", "moved"].includes(value.change as string) &&
    typeof value.added === "number" &&
    typeof value.removed === "number" &&
    isOptional(value.more, "number") &&
    isListOf(
      value.hunks,
      (hunk) =>
        isRecord(hunk) &&
        typeof hunk.oldStart === "number" &&
        typeof hunk.newStart === "number" &&
        (hunk.noFinalNewline === undefined ||
          ["old", "new", "both"].includes(hunk.noFinalNewline as string)) &&
        isListOf(hunk.lines, isDiffLine),
    )
  );
}

import { relative } from "node:path";
import { countOf, escapeToLine } from "@agent/internal";
import { cutToWidth } from "@agent/terminal/host";
import type { UndoLog, UndoResult } from "./undoLog.js";

const MOST_SHOWN = 20;
// In columns.
const LONGEST_MESSAGE = 60;

/** The result, as lines for the user, and a note for the model that is sent with the next message. */
export interface MovedChanges {
  readonly lines: readonly string[];
  readonly told?: string;
}

/** Undoes the file changes of the last message, or redoes them. */
export async function moveChanges(
  log: UndoLog,
  direction: "undo" | "redo",
  cwd: string,
): Promise<MovedChanges> {
  const result = await log[direction]();
  const { restored, kept, message, untracked } = result;
  const notTracked =
    direction === "undo" ? untracked.map((what) => `Not tracked: ${escapeToLine(what)}.`) : [];
  if (message === undefined) {
    const none =
      untracked.length === 0 ? "Nothing to undo." : "Nothing to undo: no tracked file was changed.";
    return { lines: [direction === "undo" ? none : "Nothing to redo.", ...notTracked] };
  }
  const did = direction === "undo" ? "Undid" : "Redid";
  const first = cutToWidth(escapeToLine(message.replace(/\s+/g, " ")), LONGEST_MESSAGE);
  const canRedo = direction === "undo" && restored.length > 0 && kept.length === 0;
  const lines = [
    restored.length === 0
      ? `Nothing could be reverted from “${first}”.`
      : `${did} ${countOf(restored.length, "change")} from “${first}”:`,
    ...shownPaths(restored, cwd),
    ...keptLines(result, cwd),
    ...notTracked,
    ...(canRedo ? ["/redo applies them again."] : []),
    ...(direction === "undo" && restored.length === 0 ? ["/undo continues with the message before it."] : []),
  ];
  return { lines, ...(restored.length > 0 && { told: tell(direction, restored, cwd) }) };
}

function tell(direction: "undo" | "redo", restored: readonly string[], cwd: string): string {
  const names = restored.map((path) => relative(cwd, path)).join(", ");
  const done = direction === "undo" ? "reverted your changes to" : "reapplied these changes:";
  const when = direction === "undo" ? "before" : "after";
  return `[The user ${done} ${names}. The files are as they were ${when} them.]`;
}

export function shownPaths(paths: readonly string[], cwd: string): string[] {
  const lines = paths.slice(0, MOST_SHOWN).map((path) => `  ${name(path, cwd)}`);
  return paths.length > MOST_SHOWN ? [...lines, `  … and ${paths.length - MOST_SHOWN} more`] : lines;
}

export function keptLines({ kept }: Pick<UndoResult, "kept">, cwd: string): string[] {
  if (kept.length === 0) return [];
  return ["Left alone:", ...kept.map(({ path, reason }) => `  ${name(path, cwd)}: ${escapeToLine(reason)}`)];
}

function name(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return escapeToLine(short.startsWith("..") ? path : short);
}

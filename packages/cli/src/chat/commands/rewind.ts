import { relative } from "node:path";
import type { ChatMessage, Conversation } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { BUSY, type CommandContext, cutToWidth, formatAge, splitMessage } from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import type { SessionNames } from "../../sessions/sessionNames.js";
import type { SessionRecording } from "../../sessions/sessionRecording.js";
import { idOf, undoDirectory } from "../../sessions/sessions.js";
import { keptLines, shownPaths } from "../../undo/moveChanges.js";
import type { UndoLog, UndoResult } from "../../undo/undoLog.js";

// In columns. A list cuts its items to the window.
const LONGEST_ITEM = 160;
const LONGEST_LABEL = 60;
const SHOWN_NAMES = 2;

/** A saved session, and the file changes of its messages. */
export interface KeptSession {
  readonly recording: SessionRecording;
  readonly names: SessionNames;
  readonly undo: AssembledAgent["undo"];
}

/** Continues in a copy of the session, which can undo what the original could. `move` starts the copy. */
export async function forkSession(
  { recording, names, undo }: KeptSession,
  move: () => Promise<void> = () => recording.fork(),
): Promise<void> {
  const log = undo();
  const { file } = recording;
  await move();
  await names.copy(file, recording.file);
  await log?.copyTo(undoDirectory(recording.file));
}

/** A user message that the conversation can be rewound to. */
interface Point {
  readonly id: string;
  /** Its position in the whole conversation. */
  readonly index: number;
  readonly text: string;
  readonly at: string | undefined;
}

/**
 * Lets the user choose an earlier message, and continues in a copy of the session that ends before it. The original
 * session is unchanged; the message returns to the input line.
 */
export async function rewind(
  session: KeptSession,
  { agent, busy, view, usage, tellModel }: CommandContext,
): Promise<readonly string[]> {
  const { recording, undo } = session;
  const cwd = process.cwd();
  const { conversation } = agent;
  // Includes the messages that compaction has replaced.
  const whole = await conversation.whole();
  const points = rewindPoints(whole);
  if (points.length === 0) return ["There is no earlier message to go back to."];
  const log = undo();
  /** Changes of a turn that was not started by the user, such as by a notice, belong to the message before it. */
  const changedIn = (start: number, end?: number): string[] => {
    const ids = new Set<string | undefined>(
      whole.sessionContext.slice(start, end).map((message) => whole.infoOf(message).id),
    );
    return [...new Set((log?.turns ?? []).filter((turn) => ids.has(turn.id)).flatMap(({ paths }) => paths))];
  };
  const items = points.toReversed().map(({ id, index, text, at }, place, all) => ({
    value: id,
    label: shortLabel(text, LONGEST_ITEM),
    detail: [
      changed(changedIn(index, all[place - 1]?.index), cwd),
      ...(at === undefined ? [] : [formatAge(Date.now() - Date.parse(at))]),
    ].join(" · "),
  }));
  const id = await view.pick("Go back to before which message", items);
  const point = points.find((one) => one.id === id);
  if (!point) return [];
  const later = new Set(whole.sessionContext.slice(point.index).map((message) => whole.infoOf(message).id));
  const first = (log?.turns ?? []).findIndex((turn) => turn.id !== undefined && later.has(turn.id));
  const turns = log && first !== -1 ? log.turns.slice(first) : [];
  const paths = [...new Set(turns.flatMap((turn) => turn.paths))];
  const files = paths.length === 0 ? "none" : await askAboutFiles(point, paths, view, cwd);
  if (files === undefined) return [];
  // A notice may have started an answer while the list was open.
  if (busy()) return [BUSY];
  // Before any file changes: it fails if the disk is full.
  const copy = await recording.copyBefore(point.id);
  const reverted = log && files === "revert" ? await undoTurns(log, turns.length) : undefined;
  const original = idOf(recording.file);
  const { spending } = conversation;
  await forkSession(session, () => recording.switchTo(copy.file, copy.session));
  const { tokens, cost } = conversation.spending;
  conversation.addSpending({
    tokens: Math.max(0, spending.tokens - tokens),
    cost: Math.max(0, spending.cost - cost),
  });
  usage.forgetSize();
  view.giveBack(point.text);
  const left = files === "keep" ? paths : (reverted?.kept.map(({ path }) => path) ?? []);
  if (left.length > 0) tellModel(tell(left, cwd));
  return [
    `Went back to before “${shortLabel(point.text)}”.`,
    ...(reverted && reverted.restored.length > 0
      ? [`Reverted ${countOf(reverted.restored.length, "file")}:`, ...shownPaths(reverted.restored, cwd)]
      : []),
    ...(reverted ? keptLines(reverted, cwd) : []),
    ...(files === "keep" ? ["The files stay as they are."] : []),
    `Later messages stay in the old session: /resume ${original}${reverted ? ", and /redo there for its files" : ""}`,
  ];
}

/** The messages written by the user. */
function rewindPoints(conversation: Conversation): Point[] {
  return conversation.sessionContext.flatMap((message: ChatMessage, index) => {
    if (message.role !== "user" || message.from !== undefined || message.generated) return [];
    const { text } = splitMessage(message.content);
    const { id, at } = conversation.infoOf(message);
    return text.trim() === "" ? [] : [{ id, index, text, at }];
  });
}

async function askAboutFiles(
  { text }: Point,
  paths: readonly string[],
  view: CommandContext["view"],
  cwd: string,
): Promise<"revert" | "keep" | undefined> {
  const choice = await view.pick(`Go back to before “${shortLabel(text)}”`, [
    { value: "revert", label: "conversation and files", detail: `reverts ${fileNames(paths, cwd)}` },
    { value: "keep", label: "conversation only", detail: "the files stay as they are" },
  ]);
  return choice === "revert" || choice === "keep" ? choice : undefined;
}

/** Undoes the changes of the newest messages, the last one first. */
async function undoTurns(log: UndoLog, count: number): Promise<Pick<UndoResult, "restored" | "kept">> {
  const restored = new Set<string>();
  const kept = new Map<string, string>();
  for (let turn = 0; turn < count; turn++) {
    const result = await log.undo();
    for (const path of result.restored) restored.add(path);
    for (const { path, reason } of result.kept) kept.set(path, reason);
  }
  return {
    restored: [...restored].filter((path) => !kept.has(path)).sort(),
    kept: [...kept].map(([path, reason]) => ({ path, reason })),
  };
}

function tell(paths: readonly string[], cwd: string): string {
  const list = paths.map((path) => relative(cwd, path)).join(", ");
  return `[The user went back to this point of the conversation. What you did after it is not part of it any more, but its changes to these files remain: ${list}]`;
}

function changed(paths: readonly string[], cwd: string): string {
  return paths.length === 0 ? "no file changed" : `changed ${fileNames(paths, cwd)}`;
}

function fileNames(paths: readonly string[], cwd: string): string {
  const shown = paths.slice(0, SHOWN_NAMES).map((path) => escapeToLine(relative(cwd, path)));
  return paths.length > SHOWN_NAMES
    ? `${shown.join(", ")} and ${paths.length - SHOWN_NAMES} more`
    : shown.join(", ");
}

function shortLabel(text: string, longest = LONGEST_LABEL): string {
  return cutToWidth(escapeToLine(text.replace(/\s+/g, " ").trim()), longest);
}

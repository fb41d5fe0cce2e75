import { isUtf8 } from "node:buffer";
import { relative } from "node:path";
import { countOf, escapeToLine } from "@agent/internal";
import { diffLines, type Style, textDiff } from "@agent/terminal/host";
import type { ChangedFile } from "./undoLog.js";

const LARGEST_TEXT = 1024 * 1024;
const MOST_LINES = 2000;

/** The changes of a session as lines for the user, bounded. */
export function sessionDiff(files: readonly ChangedFile[], cwd: string, style: Style): string[] {
  const shown = files.map((file) => ({ ...file, path: relative(cwd, file.path) || "." }));
  const texts = shown.filter(isText);
  const others = shown.filter((file) => !isText(file));
  if (shown.length === 0) return ["This session has changed no tracked file."];
  const diffs = texts.map(({ path, before, after }) => textDiff(path, before?.toString(), after?.toString()));
  const [only] = diffs;
  const heading = diffs.length === 1 && only ? [`${style.bold(escapeToLine(only.path))}`] : [];
  const lines = diffLines(diffs, style).lines;
  const cut = lines.length - MOST_LINES;
  return [
    ...heading,
    ...lines.slice(0, MOST_LINES),
    ...(cut > 0 ? [`… ${countOf(cut, "more line")}. git diff, or your editor, shows all of it.`] : []),
    ...others.map((file) => `${escapeToLine(file.path)}  ${describe(file)}`),
  ];
}

interface TextFile {
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
}

function isText(file: ChangedFile): file is TextFile {
  return [file.before, file.after].every(
    (side) =>
      side === undefined ||
      (Buffer.isBuffer(side) && side.length <= LARGEST_TEXT && isUtf8(side) && !side.includes(0)),
  );
}

/** The change of something that is not text. */
function describe({ before, after }: ChangedFile): string {
  const name = (side: ChangedFile["before"]): string =>
    side === undefined ? "nothing" : Buffer.isBuffer(side) ? `${side.length} bytes` : side.other;
  return escapeToLine(`${name(before)} → ${name(after)}`);
}

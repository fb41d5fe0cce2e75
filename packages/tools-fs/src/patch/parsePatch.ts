/** One block of changed lines in a file. Each line begins with " ", "-" or "+". */
export interface Chunk {
  /** The context lines that the block follows, in order: the text after `@@`. */
  readonly contexts: readonly string[];
  readonly lines: readonly string[];
  /** Whether the block is at the end of the file. */
  readonly atEnd: boolean;
}

/** The change of a patch to one file. */
export type FilePatch =
  | { readonly type: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly type: "delete"; readonly path: string }
  | {
      readonly type: "update";
      readonly path: string;
      readonly moveTo: string | undefined;
      readonly chunks: readonly Chunk[];
    };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const HEADER = /^\*\*\* (Add|Delete|Update) File: ?(.+)$/;
const MOVE = /^\*\*\* Move to: ?(.+)$/;

const SHAPE = `Expected: ${BEGIN}, then "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH" with their lines, then ${END}.`;

/** The grammar of a patch, in Lark syntax, for servers that constrain a model to a grammar. */
export const PATCH_GRAMMAR = `start: "${BEGIN}" LF file+ "${END}" LF?
file: added | deleted | updated
added: "*** Add File: " PATH LF ("+" TEXT? LF)+
deleted: "*** Delete File: " PATH LF
updated: "*** Update File: " PATH LF ("*** Move to: " PATH LF)? block*
block: context | changed | end
context: "@@" (" " TEXT)? LF
changed: ("+" | "-" | " ") TEXT? LF
end: "${END_OF_FILE}" LF
PATH: /[^\\n]+/
TEXT: /[^\\n]+/
%import common.LF
`;

/** Parses a patch. Throws an `Error` that names the invalid line. Does not access the disk. */
export function parsePatch(text: string): FilePatch[] {
  const lines = withoutWrapper(text.split(/\r?\n/));
  if (lines[0]?.trim() !== BEGIN) throw malformed(`the first line must be "${BEGIN}"`);
  if (lines.at(-1)?.trim() !== END) throw malformed(`the last line must be "${END}"`);
  const files: FilePatch[] = [];
  let at = 1;
  const end = lines.length - 1;
  while (at < end) {
    const line = (lines[at] ?? "").trim();
    if (line === "") {
      at++;
      continue;
    }
    const [, kind, named = ""] = HEADER.exec(line) ?? [];
    const path = named.trim();
    if (kind === undefined || path === "") throw malformed(`line ${at + 1} is not a header: ${shown(line)}`);
    at++;
    if (kind === "Delete") files.push({ type: "delete", path });
    else if (kind === "Add") {
      const added: string[] = [];
      for (; at < end && lines[at]?.startsWith("+"); at++) added.push((lines[at] ?? "").slice(1));
      files.push({ type: "add", path, lines: added });
    } else {
      const update = parseUpdate(lines, at, end, path);
      files.push(update.file);
      at = update.next;
    }
  }
  if (files.length === 0) throw malformed("it changes no file");
  return files;
}

function parseUpdate(lines: readonly string[], from: number, end: number, path: string) {
  let at = from;
  const moveTo = MOVE.exec((lines[at] ?? "").trim())?.[1]?.trim();
  if (moveTo !== undefined) at++;
  const chunks: Chunk[] = [];
  let [contexts, changed]: [string[], string[]] = [[], []];
  const close = (atEnd: boolean): void => {
    if (changed.length > 0) chunks.push({ contexts, lines: changed, atEnd });
    else if (contexts.length > 0 || atEnd) throw malformed(`a block of ${shown(path)} has no lines`);
    [contexts, changed] = [[], []];
  };
  for (; at < end; at++) {
    const line = lines[at] ?? "";
    const trimmed = line.trimEnd();
    if (HEADER.test(line.trim())) break;
    if (trimmed === END_OF_FILE) close(true);
    else if (trimmed === "@@" || trimmed.startsWith("@@ ")) {
      if (changed.length > 0) close(false);
      const context = trimmed.slice(3).replace(/\s*@@$/, "");
      // The line numbers of a unified diff are ignored.
      if (context !== "" && !/^-\d+(,\d+)? \+\d+(,\d+)?/.test(context)) contexts.push(context);
    } else if (line === "") changed.push(" ");
    else if (/^[ +-]/.test(line)) changed.push(line);
    else throw malformed(`line ${at + 1} begins with none of " ", "+", "-" and "@@": ${shown(line)}`);
  }
  // Blank lines before the next header separate the files.
  while (changed.at(-1) === " " && lines[at - 1] === "") {
    changed.pop();
    if (changed.length === 0 || changed.at(-1) !== " ") break;
  }
  close(false);
  if (chunks.length === 0 && moveTo === undefined) throw malformed(`the update of ${shown(path)} is empty`);
  return { file: { type: "update", path, moveTo, chunks } as const, next: at };
}

/** The patch without blank lines, a Markdown fence or a shell's here-document around it. */
function withoutWrapper(lines: readonly string[]): readonly string[] {
  let [start, end] = [0, lines.length];
  const skipBlank = (): void => {
    while (start < end && lines[start]?.trim() === "") start++;
    while (end > start && lines[end - 1]?.trim() === "") end--;
  };
  skipBlank();
  const first = lines[start]?.trim() ?? "";
  const last = lines[end - 1]?.trim() ?? "";
  const heredoc = /^(?:apply_patch\s*)?<<\s*['"]?(\w+)['"]?$/.exec(first)?.[1];
  if ((heredoc !== undefined && last === heredoc) || (/^```\w*$/.test(first) && last === "```")) {
    start++;
    end--;
    skipBlank();
  }
  return lines.slice(start, end);
}

function malformed(problem: string): Error {
  return new Error(`The patch cannot be read: ${problem}. Nothing was changed. ${SHAPE}`);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

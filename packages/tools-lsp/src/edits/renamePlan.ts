import { createHash } from "node:crypto";
import { accessSync, constants, lstatSync, readFileSync } from "node:fs";
import { basename, sep } from "node:path";
import type { FileDiff, PackHost } from "@agent/core";
import {
  applyEdits,
  errorMessage,
  fileDiff,
  quote,
  type TextEdit,
  writeFileAtomic,
} from "@agent/core/toolkit";
import type { DocumentEdits } from "../protocol/messages.js";
import { type LanguageServer, pathOf } from "../server/languageServer.js";
import { isBelow, type Servers, type Slot } from "../server/servers.js";
import { shownPath } from "./report.js";
import { editsOf } from "./textEdits.js";
import { indexOfWord, wholeWords } from "./words.js";

const MAX_FILES = 500;
const BOM = "\uFEFF";
/** How many characters an edit may have besides both names: `alpha as beta`, `beta: &mut Self`. */
const MAX_ADDED = 16;

export type RenameHost = Pick<PackHost, "access" | "protectedPaths" | "protectedNames">;

/** One file of a rename, with its whole content before and after. */
interface PlannedFile {
  readonly path: string;
  readonly before: Buffer;
  readonly after: Buffer;
  readonly places: number;
  readonly diff: FileDiff;
}

export interface RenamedSymbol {
  readonly oldName: string;
  readonly newName: string;
}

/** Everything that a rename changes. */
export interface RenamePlan {
  readonly files: readonly PlannedFile[];
  /** A token for the content that the plan is based on. */
  readonly basis: string;
}

/** The server's text of a file differs from the one on disk. */
export class StaleText extends Error {
  readonly paths: readonly string[];

  constructor(paths: readonly string[], base: string) {
    const names = paths.map((path) => quote(shownPath(path, base))).join(", ");
    super(`the server does not know the current text of ${names}`);
    this.paths = paths;
  }
}

/**
 * Converts the edits of a server to the new contents of files. Throws, before anything is written, for edits of files
 * that a rename must not change, and for edits that do not replace the symbol.
 */
export function planRename(
  servers: Servers,
  { slot, server }: { readonly slot: Slot; readonly server: LanguageServer },
  host: RenameHost,
  edits: readonly DocumentEdits[],
  names: RenamedSymbol,
): RenamePlan {
  const byPath = new Map<string, DocumentEdits["edits"][number][]>();
  const stale: string[] = [];
  for (const { uri, version, edits: changes } of edits) {
    const path = checkedPath(servers, slot, host, uri);
    const known = server.versionOf(uri);
    if (version !== undefined && known !== undefined && version !== known) stale.push(path);
    byPath.set(path, [...(byPath.get(path) ?? []), ...changes]);
  }
  if (byPath.size > MAX_FILES)
    throw new Error(
      `The rename would change ${byPath.size} files, more than ${MAX_FILES}. Nothing was changed.`,
    );
  const files: PlannedFile[] = [];
  for (const [path, changes] of byPath) {
    if (changes.length === 0) continue;
    const before = readFileSync(path);
    const whole = decode(before, shownPath(path, servers.guard.base));
    const text = whole.startsWith(BOM) ? whole.slice(1) : whole;
    let found: readonly TextEdit[];
    try {
      found = editsOf(text, changes);
    } catch {
      stale.push(path);
      continue;
    }
    if (!found.every((one) => isRename(text, one, names))) {
      stale.push(path);
      continue;
    }
    const renamed = applyEdits(text, found);
    files.push({
      path,
      before,
      after: Buffer.from(whole.startsWith(BOM) ? BOM + renamed : renamed, "utf8"),
      places: found.length,
      diff: fileDiff(path, text, found),
    });
  }
  if (stale.length > 0) throw new StaleText(stale, servers.guard.base);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const hash = createHash("sha256");
  for (const { path, before, after } of files) {
    hash.update(`${path}\0${before.length}\0${after.length}\0`).update(before).update(after);
  }
  return { files, basis: hash.digest("hex") };
}

/**
 * Whether an edit changes only the name: with the rest of the identifiers it begins and ends in, it turns the old name
 * into the new one. Some edits add to a name: `{ alpha }` becomes `{ alpha: beta }`.
 */
function isRename(
  text: string,
  { start, end, replacement }: TextEdit,
  { oldName, newName }: RenamedSymbol,
): boolean {
  const [from, to] = wholeWords(text, start, end);
  const before = text.slice(from, to);
  const after = text.slice(from, start) + replacement + text.slice(end, to);
  const most = oldName.length + newName.length + MAX_ADDED;
  return (
    Math.max(before.length, after.length) <= most &&
    before.includes(oldName) &&
    indexOfWord(after, newName) !== -1
  );
}

/** Writes all files, or none: if one cannot be written, the earlier ones are restored. */
export async function applyRename({ files }: RenamePlan, base: string): Promise<void> {
  for (const { path } of files) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      throw new Error(
        `${quote(shownPath(path, base))} cannot be written: ${errorMessage(error)}. Nothing was changed.`,
      );
    }
  }
  const written: PlannedFile[] = [];
  try {
    for (const file of files) {
      await replace(file.path, file.before, file.after, base);
      written.push(file);
    }
  } catch (error) {
    const lost: string[] = [];
    for (const { path, before, after } of written.reverse()) {
      await replace(path, after, before, base).catch(() => lost.push(quote(shownPath(path, base))));
    }
    const state =
      lost.length === 0
        ? "Nothing was changed."
        : `These files could not be restored and are renamed: ${lost.join(", ")}.`;
    throw new Error(`${errorMessage(error)} ${state}`);
  }
}

async function replace(path: string, before: Buffer, after: Buffer, base: string): Promise<void> {
  await writeFileAtomic(path, after, {
    follow: false,
    beforeRename: () => {
      if (lstatSync(path).isFile() && readFileSync(path).equals(before)) return;
      throw new Error(`${quote(shownPath(path, base))} was changed by another program.`);
    },
  });
}

/** The canonical path of a file that a server wants to change. Throws if it must not be changed. */
function checkedPath(servers: Servers, slot: Slot, host: RenameHost, uri: string): string {
  const named = pathOf(uri);
  if (named === undefined) throw refusal(uri, "is not a file");
  let path: string;
  try {
    path = servers.guard.resolve(named);
  } catch (error) {
    throw new Error(`The server wants to change a file outside: ${errorMessage(error)} Nothing was changed.`);
  }
  const shown = shownPath(path, servers.guard.base);
  const { protectedPaths = [], protectedNames = [], access } = host;
  if (servers.languageOf(path)?.name !== slot.language.name)
    throw refusal(shown, `is not a ${slot.language.name} file`);
  if (path.split(sep).some((name) => name === ".git" || name === "node_modules"))
    throw refusal(shown, "belongs to git or to an installed package");
  const isProtected =
    protectedPaths.some((one) => isBelow(one, path)) ||
    protectedNames.some((one) => one.toLowerCase() === basename(path).toLowerCase());
  if (isProtected) throw refusal(shown, "is protected");
  if (servers.isSecret(path)) throw refusal(shown, "is in a place of secrets");
  if (access?.writable && !access.writable.some((one) => isBelow(one, path)))
    throw refusal(shown, "is outside the project");
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) throw refusal(shown, "is not a regular file");
  return path;
}

function refusal(path: string, reason: string): Error {
  return new Error(`The server wants to change ${quote(path)}, which ${reason}. Nothing was changed.`);
}

function decode(bytes: Buffer, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${quote(shown)} is not UTF-8 text. Nothing was changed.`);
  }
}

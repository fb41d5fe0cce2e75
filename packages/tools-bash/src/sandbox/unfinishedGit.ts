import { statSync } from "node:fs";
import { join } from "node:path";
import { escapeToLine, findRepository, readRegularFile, truncateMiddle } from "@agent/core/toolkit";

const MOST_BYTES = 64 * 1024;
const MOST_SHOWN = 300;
const EXEC_LINE = /^[ \t]*(?:x|exec)[ \t]+(.*)$/gm;

/** The files git keeps for an interrupted operation, and the list of its remaining steps, if there is one. */
const OPERATIONS = [
  { name: "rebase", state: "rebase-merge", todo: "rebase-merge/git-rebase-todo" },
  { name: "am or rebase", state: "rebase-apply", todo: "rebase-apply/next" },
  { name: "cherry-pick or revert", state: "sequencer", todo: "sequencer/todo" },
  { name: "bisect", state: "BISECT_START", todo: "BISECT_LOG" },
] as const;

/** The unfinished operations of repositories: their state as comparable text, by the name a user knows. */
export type UnfinishedGit = ReadonlyMap<string, string>;

/** Finds operations in the repositories of these directories. */
export function unfinishedGit(directories: readonly string[]): UnfinishedGit {
  const found = new Map<string, string>();
  for (const directory of new Set(directories)) {
    const { worktree = "", gitDirectories: [own] = [] } = findRepository(join(directory, "file")) ?? {};
    if (own === undefined) continue;
    for (const { name, state, todo } of OPERATIONS) {
      if (!exists(join(own, state))) continue;
      found.set(
        `${name} in ${worktree}`,
        readRegularFile(join(own, todo), MOST_BYTES)?.toString("utf8") ?? "",
      );
    }
  }
  return found;
}

/**
 * A sentence about operations that a sandboxed command began or changed and did not finish: the user's next
 * `--continue` runs the remaining steps outside the sandbox.
 */
export function unfinishedNotice(before: UnfinishedGit, after: UnfinishedGit): string | undefined {
  const added = [...after].filter(([name, todo]) => before.get(name) !== todo);
  if (added.length === 0) return undefined;
  const commands = added.flatMap(([, todo]) =>
    [...todo.matchAll(EXEC_LINE)].map(([, command = ""]) => command),
  );
  const names = added.map(([name]) => escapeToLine(name)).join(", ");
  const runs =
    commands.length === 0
      ? ""
      : ` To continue it would run, outside the sandbox: ${truncateMiddle(escapeToLine(commands.join("; ")), MOST_SHOWN)}.`;
  return `[the command left an unfinished ${names}.${runs} Tell the user to look at it, and to abort it if they did not start it.]`;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

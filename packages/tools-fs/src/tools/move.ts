import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { defineTool, type ToolCall } from "@agent/core";
import {
  assertNotProcessSecret,
  foldPath,
  isInside,
  readRegularFile,
  requireString,
} from "@agent/core/toolkit";
import { fsError } from "../errors/fsError.js";
import { missingError } from "../errors/missing.js";
import { namesDirectory, showPath } from "../paths/pathText.js";
import { readWhole } from "../read/readWhole.js";
import { kindOf } from "../read/regularFile.js";
import { type Move, performMove } from "../tree/move.js";
import { assertNotRootOrHome } from "../tree/rootOrHome.js";
import { checkWorkspace, Workspace, type WorkspaceStep } from "../workspace.js";
import { WRITES } from "./capabilities.js";
import { describeSteps } from "./describeSteps.js";

const LARGEST_CHECKED = 4 * 1024 * 1024;

/** The arguments of a call, as the caller wrote them. */
interface Asked {
  readonly source: string;
  readonly destination: string;
  readonly overwrite: boolean;
}

const PATHS = ["source", "destination"] as const;
const INPUT = {
  type: "object",
  properties: {
    source: { type: "string", description: "What to move" },
    destination: { type: "string", description: "New path, or an existing directory to move it into" },
    overwrite: { type: "boolean", description: "Replace an existing file (default: false)" },
  },
  required: ["source", "destination"],
  additionalProperties: false,
} as const;

/** Moves or renames a file, a symlink or a directory, also to another device. Replaces nothing without `overwrite`. */
export function moveTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  return defineTool({
    name: "move",
    description:
      "Move or rename a file or directory, also to another device. If the destination is an existing directory, the source is moved into it. Missing parent directories are created. Nothing is replaced unless overwrite is true.",
    input: INPUT,
    capabilities: WRITES,
    kind: "move",
    titleFrom: PATHS,
    pathArguments: PATHS,
    describe: (input) =>
      describeSteps(workspace, () => {
        const path = workspace.locateEntry(requireString(input, "source"));
        const info = lstatSync(path);
        const target = findTarget(workspace, path, info, requireString(input, "destination"));
        // The target is a file that gets the content of the source.
        const newContent = () => readRegularFile(path, LARGEST_CHECKED)?.toString("utf8");
        return stepsOf(path, target, info).map((step) =>
          step.path === target ? { ...step, newContent } : step,
        );
      }),
    async execute(input, call) {
      const source = requireString(input, "source");
      const destination = requireString(input, "destination");
      const asked = { source, destination, overwrite: input.overwrite ?? false };
      const from = await findSource(workspace, source, call);
      try {
        const target = findTarget(workspace, from.path, from.info, destination);
        const work = (): Promise<string> => moveEntry(workspace, from.path, target, asked, call);
        return await workspace.change([from.path, target], work, call);
      } catch (error) {
        throw fsError(error, `move ${showPath(source)} to`, destination);
      }
    },
  });
}

async function moveEntry(
  workspace: Workspace,
  source: string,
  target: string,
  asked: Asked,
  call: ToolCall | undefined,
): Promise<string> {
  const move = checkMove(workspace, source, target, asked, call);
  await checkContent(workspace, move, call);
  await performMove(workspace, move, call?.signal);
  workspace.seen.forget(source);
  workspace.seen.forget(target);
  const diff = { path: target, oldPath: source, change: "moved" as const, added: 0, removed: 0, hunks: [] };
  if (call?.wantsView) call.report?.({ ok: true, view: { type: "diff", files: [diff] } });
  return `Moved ${showPath(asked.source)} to ${showPath(asWritten(asked.destination, target))}`;
}

function stepsOf(source: string, target: string, info: Stats): WorkspaceStep[] {
  const tree = info.isDirectory();
  return [
    { action: "move", path: source, tree },
    // A moved directory includes its contents and a moved symlink points elsewhere: both are `place`.
    { action: info.isFile() ? "write" : "place", path: target, tree },
  ];
}

async function findSource(
  workspace: Workspace,
  source: string,
  call: ToolCall | undefined,
): Promise<{ path: string; info: Stats }> {
  let path = source;
  try {
    path = workspace.locateEntry(source);
    assertNotProcessSecret(path, source);
    // Check before `lstat`: the error for a missing file suggests names from its directory, which may be secret.
    workspace.assertAllowed({ action: "read", path }, call);
    return { path, info: lstatSync(path) };
  } catch (error) {
    throw await missingError(error, "move", source, path);
  }
}

/** Makes all checks before anything is changed. Throws if the move is not possible or not allowed. */
function checkMove(
  workspace: Workspace,
  source: string,
  target: string,
  asked: Asked,
  call: ToolCall | undefined,
): Move {
  const { guard } = workspace;
  const info = lstatSync(source);
  if (info.isDirectory()) {
    assertNotRootOrHome(source, asked.source, "moved", guard);
    if (isInside(source, target)) {
      throw new Error(
        `${showPath(asked.source)} cannot be moved into itself (${showPath(asked.destination)}).`,
      );
    }
  }
  if (source === target) {
    throw new Error(`${showPath(asked.source)} and ${showPath(asked.destination)} are the same.`);
  }
  for (const step of stepsOf(source, target, info)) workspace.assertAllowed(step, call);
  const existing = lstatSync(target, { throwIfNoEntry: false });
  const same = existing !== undefined && existing.dev === info.dev && existing.ino === info.ino;
  // On a disk that ignores case, "A" is "a" itself: a rename, not a replacement.
  const respelled = same && isRespelling(source, target);
  if (existing && !respelled) {
    refuseReplacing(asked, target, asWritten(asked.destination, target), info, existing);
  }
  return {
    source,
    target,
    info,
    replace: existing !== undefined,
    sameFile: same && !respelled,
    shown: asked.source,
  };
}

async function checkContent(
  workspace: Workspace,
  { source, target, info, shown }: Move,
  call: ToolCall | undefined,
): Promise<void> {
  const { protection } = workspace;
  if (info.isSymbolicLink()) protection.checkLink(target);
  if (!info.isFile() || !protection.hasContentRule(target)) return;
  const [before, after] = [
    await readWhole(workspace, target, target, call),
    await readWhole(workspace, source, shown, call),
  ];
  protection.checkContent(
    target,
    before?.bytes.toString("utf8"),
    after?.bytes.toString("utf8") ?? "",
    call?.granted,
  );
}

/** The target of the move, like `mv`: inside `destination` if it is an existing directory, else that exact name. */
function findTarget(workspace: Workspace, source: string, info: Stats, destination: string): string {
  const followed = workspace.locate(destination);
  const entry = workspace.locateEntry(destination);
  const existing = statSync(followed, { throwIfNoEntry: false });
  if (existing?.isDirectory()) {
    const itself = existing.dev === info.dev && existing.ino === info.ino;
    if (itself && isRespelling(source, entry)) return entry;
    return join(followed, basename(source));
  }
  if (namesDirectory(destination) && !info.isDirectory()) {
    throw new Error(`${showPath(destination)} is not an existing directory. Create it with mkdir first.`);
  }
  return entry;
}

/**
 * Whether two paths of one file are two spellings of one directory entry (another case, another Unicode composition).
 * False for two hard links with similar names: the directory then lists both, and removing one leaves the other.
 */
function isRespelling(a: string, b: string): boolean {
  if (a === b || dirname(a) !== dirname(b) || foldPath(a) !== foldPath(b)) return false;
  const names = readdirSync(dirname(a));
  return !names.includes(basename(a)) || !names.includes(basename(b));
}

function refuseReplacing(
  asked: { overwrite: boolean },
  target: string,
  shown: string,
  info: Stats,
  existing: Stats,
): void {
  if (!asked.overwrite) {
    throw new Error(
      `${showPath(shown)} exists already; nothing was moved. Pass "overwrite": true to replace it.`,
    );
  }
  if (!existing.isFile() && !existing.isDirectory() && !existing.isSymbolicLink()) {
    throw new Error(
      `${showPath(shown)} is a ${kindOf(existing)}, which is never replaced; nothing was moved.`,
    );
  }
  if (existing.isDirectory() !== info.isDirectory()) {
    const kinds = existing.isDirectory()
      ? "a directory cannot be replaced by a file"
      : "a file cannot be replaced by a directory";
    throw new Error(`${showPath(shown)} exists already, and ${kinds}; nothing was moved.`);
  }
  if (existing.isDirectory() && readdirSync(target).length > 0) {
    throw new Error(
      `${showPath(shown)} exists already, and a directory that holds something is never replaced; nothing was moved. Move or remove what is in it first.`,
    );
  }
}

/** The target as the caller would write it: with the file name if only a directory was given. */
function asWritten(destination: string, target: string): string {
  return basename(resolve(destination)) === basename(target)
    ? destination
    : join(destination, basename(target));
}

import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { defineTool, type FileDiff, type ToolCall } from "@agent/core";
import { fileDiff, requireString } from "@agent/core/toolkit";
import { asTextFile } from "../edit/textFile.js";
import { fsError, isMissing } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import { type Removal, removeTree } from "../tree/remove.js";
import { assertNotRootOrHome } from "../tree/rootOrHome.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import { type FileVersion, readToShow } from "../write/fileVersion.js";
import { DESTROYS } from "./capabilities.js";
import { describeSteps } from "./describeSteps.js";

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: { path: { type: "string", description: "File, link or directory to remove" } },
  required: ["path"],
  additionalProperties: false,
} as const;

/** Removes a file, a symlink (never its target) or a directory with everything in it. */
export function removeTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  return defineTool({
    name: "remove",
    description:
      "Remove a file or a directory, recursively and permanently: directories go with everything in them. A symbolic link is removed, never what it points to. Fine if nothing is there.",
    input: INPUT,
    capabilities: DESTROYS,
    titleFrom: "path",
    pathArguments: PATHS,
    describe: (input) =>
      describeSteps(workspace, () => {
        const path = workspace.locateEntry(requireString(input, "path"));
        const tree = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
        return [{ action: "takeAway", path, tree }];
      }),
    async execute(input, call) {
      const path = requireString(input, "path");
      try {
        const target = workspace.locateEntry(path);
        return await workspace.change([target], () => removeEntry(workspace, path, target, call), call);
      } catch (error) {
        if (isMissing(error)) return `Nothing to remove: ${showPath(path)} does not exist`;
        throw fsError(error, "remove", path);
      }
    },
  });
}

async function removeEntry(
  workspace: Workspace,
  path: string,
  target: string,
  call: ToolCall | undefined,
): Promise<string> {
  const info = lstatSync(target);
  if (info.isDirectory()) assertNotRootOrHome(target, path, "removed", workspace.guard);
  workspace.assertAllowed({ action: "takeAway", path: target }, call);
  const removed = call?.wantsView ? await readToShow(workspace, target, path, call) : undefined;
  const pinned = workspace.pin(dirname(target));
  try {
    const removal = await removeTree(pinned.path, basename(target), path, call?.signal);
    if (removal.left > 0) {
      call?.signal?.throwIfAborted();
      throw incomplete(path, removal);
    }
    workspace.seen.forget(target);
    if (call?.wantsView)
      call.report?.({ ok: true, view: { type: "diff", files: [deletion(target, removed)] } });
    if (!info.isDirectory()) return `Removed ${showPath(path)} (${kindOf(info)})`;
    const inside = removal.removed - 1;
    return `Removed ${showPath(path)} (directory with ${inside === 1 ? "1 entry" : `${inside} entries`})`;
  } finally {
    pinned.close();
  }
}

/** The diff of a removed file with its text, as far as it can be shown. */
function deletion(path: string, version: FileVersion | undefined): FileDiff {
  const file = version?.whole && asTextFile(version.whole.bytes);
  const text = file?.isDecoded ? file.text : "";
  return fileDiff(path, text, "", { change: "deleted" });
}

function incomplete(path: string, { removed, left, causes }: Removal): Error {
  const entries = `${removed} of ${removed + left} entries removed, ${left} left`;
  return new Error(`Cannot remove all of ${showPath(path)}: ${entries}.\n${causes.map(showPath).join("\n")}`);
}

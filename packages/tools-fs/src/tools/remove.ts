import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { ChatTool, FileDiff, ToolCall } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";
import { fileDiff } from "../edit/fileDiff.js";
import { asTextFile } from "../edit/textFile.js";
import { fsError, isMissing } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import { type Removal, removeTree } from "../tree/remove.js";
import { assertNotRootOrHome } from "../tree/rootOrHome.js";
import type { Step } from "../workspace.js";
import { type FileVersion, readToShow } from "../write/fileVersion.js";
import { DESTROYS } from "./capabilities.js";
import { FileTool } from "./fileTool.js";

/** Removes a file, a link (never its target) or a directory with everything in it. */
export class RemoveTool extends FileTool {
  readonly name = "remove";
  readonly capabilities = DESTROYS;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Remove a file or a directory, recursively and permanently: directories go with everything in them. A symbolic link is removed, never what it points to. Fine if nothing is there.",
      { path: { type: "string", description: "File, link or directory to remove" } },
    );
  }

  protected findSteps(args: Readonly<Record<string, unknown>>): Step[] {
    const path = this.workspace.locateEntry(requireString(args, "path"));
    const tree = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return [{ action: "takeAway", path, tree }];
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    try {
      const target = this.workspace.locateEntry(path);
      return await this.workspace.change([target], () => this.#remove(path, target, call), call);
    } catch (error) {
      if (isMissing(error)) return `Nothing to remove: ${showPath(path)} does not exist`;
      throw fsError(error, "remove", path);
    }
  }

  async #remove(path: string, target: string, call: ToolCall | undefined): Promise<string> {
    const info = lstatSync(target);
    if (info.isDirectory()) assertNotRootOrHome(target, path, "removed", this.workspace.guard.root);
    this.workspace.assertAllowed({ action: "takeAway", path: target }, call);
    const removed = call?.wantsView ? await readToShow(this.workspace, target, path, call) : undefined;
    const pinned = this.workspace.pin(dirname(target));
    try {
      const removal = await removeTree(pinned.path, basename(target), path, call?.signal);
      if (removal.left > 0) {
        call?.signal?.throwIfAborted();
        throw incomplete(path, removal);
      }
      this.workspace.seen.forget(target);
      if (call?.wantsView)
        call.report?.({ ok: true, view: { type: "diff", files: [deletion(target, removed)] } });
      if (!info.isDirectory()) return `Removed ${showPath(path)} (${kindOf(info)})`;
      const inside = removal.removed - 1;
      return `Removed ${showPath(path)} (directory with ${inside === 1 ? "1 entry" : `${inside} entries`})`;
    } finally {
      pinned.close();
    }
  }
}

/** The diff of a removed file with its text, as far as that can be shown. */
function deletion(path: string, version: FileVersion | undefined): FileDiff {
  const file = version?.whole && asTextFile(version.whole.bytes);
  const text = file?.isDecoded ? file.text : "";
  const regions = text === "" ? [] : [{ start: 0, end: text.length, replacement: "" }];
  return fileDiff(path, "deleted", text, regions);
}

function incomplete(path: string, { removed, left, causes }: Removal): Error {
  const entries = `${removed} of ${removed + left} entries removed, ${left} left`;
  return new Error(`Cannot remove all of ${showPath(path)}: ${entries}.\n${causes.map(showPath).join("\n")}`);
}

import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";
import { fsError, isMissing } from "../fsError.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import { type Removal, removeTree } from "../tree/remove.js";
import { refuseVital } from "../tree/vital.js";
import { checkedWorkspace, Workspace } from "../workspace.js";

/** Removes a file, a link (never its target) or a directory with everything in it. */
export class RemoveTool implements ExecutableTool {
  readonly name = "remove";
  readonly capabilities = ["destroy"] as const;
  readonly #workspace: Workspace;

  constructor(workspace = new Workspace()) {
    this.#workspace = checkedWorkspace(workspace);
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Remove a file or a directory, recursively and for good: directories go with everything in them. A symbolic link is removed, never what it points to. Fine if nothing is there.",
      { path: { type: "string", description: "File, link or directory to remove" } },
    );
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    try {
      const target = this.#workspace.locateEntry(path);
      return await this.#workspace.locks.run([target], () => this.#remove(path, target, call?.signal), call);
    } catch (error) {
      if (isMissing(error)) return `Nothing to remove: ${showPath(path)} does not exist`;
      throw fsError(error, "remove", path);
    }
  }

  async #remove(path: string, target: string, signal: AbortSignal | undefined): Promise<string> {
    const workspace = this.#workspace;
    const info = lstatSync(target);
    if (info.isDirectory()) refuseVital(target, path, "removed", workspace.guard.root);
    workspace.protection.checkTakeAway(target);
    const held = workspace.hold(dirname(target));
    try {
      const removal = await removeTree(held.path, basename(target), path, signal);
      if (removal.left > 0) {
        signal?.throwIfAborted();
        throw incomplete(path, removal);
      }
      workspace.seen.forget(target);
      if (!info.isDirectory()) return `Removed ${showPath(path)} (${kindOf(info)})`;
      const inside = removal.removed - 1;
      return `Removed ${showPath(path)} (directory with ${inside === 1 ? "1 entry" : `${inside} entries`})`;
    } finally {
      held.close();
    }
  }
}

function incomplete(path: string, { removed, left, causes }: Removal): Error {
  const entries = `${removed} of ${removed + left} entries removed, ${left} left`;
  return new Error(`Cannot remove all of ${showPath(path)}: ${entries}.\n${causes.map(showPath).join("\n")}`);
}

import { lstatSync, statSync } from "node:fs";
import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";
import { fsError } from "../fsError.js";
import { makeDirectories } from "../parents.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import { checkedWorkspace, Workspace } from "../workspace.js";

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export class MkdirTool implements ExecutableTool {
  readonly name = "mkdir";
  readonly capabilities = ["write"] as const;
  readonly #workspace: Workspace;

  constructor(workspace = new Workspace()) {
    this.#workspace = checkedWorkspace(workspace);
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Create a directory, including missing parents. Fine if it exists already.",
      {
        path: { type: "string", description: "Directory to create" },
      },
    );
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    try {
      const target = this.#workspace.locate(path);
      return await this.#workspace.locks.run([target], () => this.#make(path, target), call);
    } catch (error) {
      throw fsError(error, "create the directory", path);
    }
  }

  async #make(path: string, target: string): Promise<string> {
    const workspace = this.#workspace;
    const existing = statSync(target, { throwIfNoEntry: false });
    if (existing?.isDirectory()) return `Already exists: ${showPath(path)}`;
    if (existing) throw new Error(`${showPath(path)} exists already and is a ${kindOf(existing)}.`);
    if (lstatSync(workspace.locateEntry(path), { throwIfNoEntry: false })) {
      throw new Error(`${showPath(path)} is a symbolic link to something that does not exist.`);
    }
    workspace.protection.checkMakeDirectory(target);
    const made = await makeDirectories(workspace, target);
    return made.length === 0 ? `Already exists: ${showPath(path)}` : `Created ${showPath(path)}`;
  }
}

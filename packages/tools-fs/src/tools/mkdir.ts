import { lstatSync, statSync } from "node:fs";
import type { ChatTool, ToolCall } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";
import { fsError } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import type { Step } from "../workspace.js";
import { makeDirectories } from "../write/makeDirectories.js";
import { WRITES } from "./capabilities.js";
import { FileTool } from "./fileTool.js";

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export class MkdirTool extends FileTool {
  readonly name = "mkdir";
  readonly capabilities = WRITES;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Create a directory, including missing parents. Fine if it exists already.",
      {
        path: { type: "string", description: "Directory to create" },
      },
    );
  }

  protected findSteps(args: Readonly<Record<string, unknown>>): Step[] {
    return [{ action: "makeDirectory", ...this.workspace.locateBoth(requireString(args, "path")) }];
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const path = requireString(args, "path");
    try {
      const target = this.workspace.locate(path);
      return await this.workspace.change([target], () => this.#make(path, target, call), call);
    } catch (error) {
      throw fsError(error, "create the directory", path);
    }
  }

  async #make(path: string, target: string, call: ToolCall | undefined): Promise<string> {
    const existing = statSync(target, { throwIfNoEntry: false });
    if (existing?.isDirectory()) return `Already exists: ${showPath(path)}`;
    if (existing) throw new Error(`${showPath(path)} exists already and is a ${kindOf(existing)}.`);
    if (lstatSync(this.workspace.locateEntry(path), { throwIfNoEntry: false })) {
      throw new Error(`${showPath(path)} is a symbolic link to something that does not exist.`);
    }
    this.workspace.assertAllowed({ action: "makeDirectory", path: target }, call);
    const made = await makeDirectories(this.workspace, target);
    return made.length === 0 ? `Already exists: ${showPath(path)}` : `Created ${showPath(path)}`;
  }
}

import { lstatSync, statSync } from "node:fs";
import { defineTool, type ToolCall } from "@agent/core";
import { requireString } from "@agent/core/toolkit";
import { fsError } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import { makeDirectories } from "../write/makeDirectories.js";
import { WRITES } from "./capabilities.js";
import { describeSteps } from "./describeSteps.js";

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: { path: { type: "string", description: "Directory to create" } },
  required: ["path"],
  additionalProperties: false,
} as const;

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export function mkdirTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  return defineTool({
    name: "mkdir",
    description: "Create a directory, including missing parents. Fine if it exists already.",
    input: INPUT,
    capabilities: WRITES,
    titleFrom: "path",
    pathArguments: PATHS,
    describe: (input) =>
      describeSteps(workspace, () => [
        { action: "makeDirectory", ...workspace.locateBoth(requireString(input, "path")) },
      ]),
    async execute(input, call) {
      const path = requireString(input, "path");
      try {
        const target = workspace.locate(path);
        return await workspace.change([target], () => make(workspace, path, target, call), call);
      } catch (error) {
        throw fsError(error, "create the directory", path);
      }
    },
  });
}

async function make(
  workspace: Workspace,
  path: string,
  target: string,
  call: ToolCall | undefined,
): Promise<string> {
  const existing = statSync(target, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return `Already exists: ${showPath(path)}`;
  if (existing) throw new Error(`${showPath(path)} exists already and is a ${kindOf(existing)}.`);
  if (lstatSync(workspace.locateEntry(path), { throwIfNoEntry: false })) {
    throw new Error(`${showPath(path)} is a symbolic link to something that does not exist.`);
  }
  workspace.assertAllowed({ action: "makeDirectory", path: target }, call);
  const made = await makeDirectories(workspace, target);
  return made.length === 0 ? `Already exists: ${showPath(path)}` : `Created ${showPath(path)}`;
}

import type { PackHost, PackRegistry } from "@agent/core";
import { check } from "@agent/core/toolkit";
import type { FsOptions } from "./options.js";
import { EditFileTool } from "./tools/editFile.js";
import { ListDirTool } from "./tools/listDir.js";
import { MkdirTool } from "./tools/mkdir.js";
import { MoveTool } from "./tools/move.js";
import { ReadFileTool } from "./tools/readFile.js";
import { RemoveTool } from "./tools/remove.js";
import { WriteFileTool } from "./tools/writeFile.js";
import { Workspace } from "./workspace.js";

export { type FsOptions, packName } from "./options.js";
export { PROTECTED_PATTERNS } from "./protect/rules.js";
export { EditFileTool, ListDirTool, MkdirTool, MoveTool, ReadFileTool, RemoveTool, Workspace, WriteFileTool };

export const packApiVersion = 1;

/** The tools this pack brings. */
export type FsToolName = (
  | ReadFileTool
  | WriteFileTool
  | EditFileTool
  | ListDirTool
  | MkdirTool
  | MoveTool
  | RemoveTool
)["name"];

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-fs": { register: typeof register };
  }
}

/** Registers the file tools; `remove` starts disabled. Throws on an unknown or mistyped option. */
export function register(registry: PackRegistry<FsToolName>, host?: PackHost<FsOptions>): void {
  check.registry(registry);
  const workspace = new Workspace(host?.options, host);
  registry.register(new ReadFileTool(workspace));
  registry.register(new WriteFileTool(workspace));
  registry.register(new EditFileTool(workspace));
  registry.register(new ListDirTool(workspace));
  registry.register(new MkdirTool(workspace));
  registry.register(new MoveTool(workspace));
  registry.register(new RemoveTool(workspace), { enabled: false }); // deletes recursively: the user opts in
}

import type { PackHost, PackRegistry } from "@agent/core";
import { check } from "@agent/core/toolkit";
import type { FsOptions } from "./options.js";
import { writesPatches } from "./patch/families.js";
import { ApplyPatchTool } from "./tools/applyPatch.js";
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
export {
  ApplyPatchTool,
  EditFileTool,
  ListDirTool,
  MkdirTool,
  MoveTool,
  ReadFileTool,
  RemoveTool,
  Workspace,
  WriteFileTool,
};

export const packApiVersion = 1;

/** The tools this pack brings. */
export type FsToolName = (
  | ReadFileTool
  | WriteFileTool
  | EditFileTool
  | ApplyPatchTool
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

const USE_PATCH =
  'files are changed with apply_patch here: {"input": "*** Begin Patch\\n*** Update File: PATH\\n@@\\n context\\n-old\\n+new\\n*** End Patch"}';
const USE_EDIT = "files are changed with edit_file here: pass path, old_text and new_text";

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
  const { edit = "auto" } = host?.options ?? {};
  if (edit === "replace") return;
  const usePatches = (own: PackRegistry<FsToolName>): void => {
    if (!own.hasTool("apply_patch")) {
      own.register(new ApplyPatchTool(workspace, () => registry.isToolEnabled("remove")), {
        enabled: own.isToolEnabled("edit_file"),
      });
    }
    own.release?.("apply_patch");
    own.withhold?.("edit_file", USE_PATCH);
  };
  if (edit === "patch") {
    usePatches(registry);
    return;
  }
  // The user may switch to another model at any time.
  let isPatching = false;
  registry.onRefresh?.((own) => {
    const isWanted = writesPatches(host?.model?.id);
    if (isWanted === isPatching) return;
    isPatching = isWanted;
    if (isWanted) usePatches(own);
    else {
      own.release?.("edit_file");
      own.withhold?.("apply_patch", USE_EDIT);
    }
  });
}

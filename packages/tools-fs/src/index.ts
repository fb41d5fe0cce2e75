import { definePack, off, type PackRegistry } from "@agent/core";
import { OPTIONS, PACK_NAME } from "./options.js";
import { writesPatches } from "./patch/families.js";
import { applyPatchTool } from "./tools/applyPatch.js";
import { editFileTool } from "./tools/editFile.js";
import { listDirTool } from "./tools/listDir.js";
import { mkdirTool } from "./tools/mkdir.js";
import { moveTool } from "./tools/move.js";
import { readFileTool } from "./tools/readFile.js";
import { removeTool } from "./tools/remove.js";
import { writeFileTool } from "./tools/writeFile.js";
import { Workspace } from "./workspace.js";

export type { FsOptions } from "./options.js";
export { PROTECTED_PATTERNS } from "./protect/rules.js";
export {
  applyPatchTool,
  editFileTool,
  listDirTool,
  mkdirTool,
  moveTool,
  readFileTool,
  removeTool,
  Workspace,
  writeFileTool,
};

/** The names of this pack's tools. */
export type FsToolName =
  | "read_file"
  | "write_file"
  | "edit_file"
  | "apply_patch"
  | "list_dir"
  | "mkdir"
  | "move"
  | "remove";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-fs": { register: typeof register };
  }
}

const USE_PATCH =
  'files are changed with apply_patch here: {"input": "*** Begin Patch\\n*** Update File: PATH\\n@@\\n context\\n-old\\n+new\\n*** End Patch"}';
const USE_EDIT = "files are changed with edit_file here: pass path, old_text and new_text";

/** Registers the file tools; `remove` starts disabled. Throws for an unknown or mistyped option. */
export const { packName, packApiVersion, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  followsDirectory: true,
  setup(host, registry) {
    const { options, model } = host;
    const workspace = new Workspace(options, host);
    const { edit = "auto" } = options;
    // The user may switch to another model at any time.
    let isPatching = false;
    if (edit === "auto") {
      registry.onRefresh?.((own) => {
        const isWanted = writesPatches(model?.id);
        if (isWanted === isPatching) return;
        isPatching = isWanted;
        if (isWanted) usePatches(own, workspace);
        else {
          own.release?.("edit_file");
          own.withhold?.("apply_patch", USE_EDIT);
        }
      });
    }
    return {
      tools: [
        readFileTool(workspace),
        writeFileTool(workspace),
        editFileTool(workspace),
        listDirTool(workspace),
        mkdirTool(workspace),
        moveTool(workspace),
        off(removeTool(workspace)), // deletes recursively: the user opts in
        ...(edit === "patch" ? [patchTool(registry, workspace)] : []),
      ],
      withheld: { edit_file: edit === "patch" ? USE_PATCH : undefined },
    };
  },
});

/** A separate function: the tools of an idle agent must not hold the registry's view. */
function patchTool(registry: PackRegistry, workspace: Workspace) {
  return applyPatchTool(workspace, () => registry.isToolEnabled("remove"));
}

function usePatches(own: PackRegistry, workspace: Workspace): void {
  if (!own.hasTool("apply_patch")) {
    own.register(patchTool(own, workspace), { enabled: own.isToolEnabled("edit_file") });
  }
  own.release?.("apply_patch");
  own.withhold?.("edit_file", USE_PATCH);
}

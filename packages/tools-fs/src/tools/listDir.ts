import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Lists one directory: one entry a line, sorted by name, whatever the names contain. */
export class ListDirTool extends FileTool {
  readonly name = "list_dir";
  readonly capabilities = ["read"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "List a directory, one level, one entry a line, sorted. Directories end in /, links show their target. Control characters in names are shown escaped.",
      {
        path: { type: "string", description: "Directory to list (default: the working directory)" },
        details: {
          type: "boolean",
          description: "Also show kind, size in bytes and time of change (UTC), separated by tabs",
        },
        offset: { type: "integer", minimum: 1, description: "First entry to show, counted from 1" },
      },
      ["path", "details", "offset"],
    );
  }
}

import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Removes a file, a link (never its target) or a directory with everything in it. */
export class RemoveTool extends FileTool {
  readonly name = "remove";
  readonly capabilities = ["destroy"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Remove a file or a directory, recursively and for good: directories go with everything in them. A symbolic link is removed, never what it points to. Fine if nothing is there.",
      { path: { type: "string", description: "File, link or directory to remove" } },
    );
  }
}

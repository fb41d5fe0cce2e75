import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Moves or renames a file, a link or a directory, also to another device. Never replaces unasked. */
export class MoveTool extends FileTool {
  readonly name = "move";
  readonly capabilities = ["write"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Move or rename a file or directory, also to another device. If the destination is an existing directory, the source is moved into it. Missing parent directories are created. Nothing is replaced unless overwrite is true.",
      {
        source: { type: "string", description: "What to move" },
        destination: { type: "string", description: "New path, or an existing directory to move it into" },
        overwrite: { type: "boolean", description: "Replace an existing file (default: false)" },
      },
      ["overwrite"],
    );
  }
}

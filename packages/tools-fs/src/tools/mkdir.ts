import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export class MkdirTool extends FileTool {
  readonly name = "mkdir";
  readonly capabilities = ["write"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Create a directory, including missing parents. Fine if it exists already.",
      {
        path: { type: "string", description: "Directory to create" },
      },
    );
  }
}

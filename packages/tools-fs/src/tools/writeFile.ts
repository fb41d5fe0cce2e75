import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Writes a whole file, atomically: a crash or a full disk leaves the old content or the new, never a part. */
export class WriteFileTool extends FileTool {
  readonly name = "write_file";
  readonly capabilities = ["write"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Write a whole file as UTF-8, replacing what it held. Creates missing parent directories, keeps the mode of an existing file and writes through symbolic links.",
      {
        path: { type: "string", description: "File to write" },
        content: { type: "string", description: "The complete new content" },
      },
    );
  }
}

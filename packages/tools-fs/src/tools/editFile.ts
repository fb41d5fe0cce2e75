import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

const OLD_TEXT = { type: "string", description: "Text to replace; it must occur exactly once" };
const NEW_TEXT = { type: "string", description: "Text to put in its place" };
const REPLACE_ALL = { type: "boolean", description: "Replace every occurrence (default: false)" };

/** Replaces text in a file. Either every edit of a call applies or the file stays as it was. */
export class EditFileTool extends FileTool {
  readonly name = "edit_file";
  readonly capabilities = ["write"] as const;

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Replace text in a file, keeping its line breaks and encoding. Pass old_text and new_text, or several such pairs in edits: then all apply or none. Returns a diff.",
      {
        path: { type: "string", description: "File to change" },
        old_text: OLD_TEXT,
        new_text: NEW_TEXT,
        replace_all: REPLACE_ALL,
        edits: {
          type: "array",
          description: "Several edits at once, each found in the file as it is now",
          minItems: 1,
          items: {
            type: "object",
            properties: { old_text: OLD_TEXT, new_text: NEW_TEXT, replace_all: REPLACE_ALL },
            required: ["old_text", "new_text"],
            additionalProperties: false,
          },
        },
      },
      ["old_text", "new_text", "replace_all", "edits"],
    );
  }
}

import { appendFile } from "node:fs/promises";
import type { ChatTool, ExecutableTool } from "@agent/core";
import { functionTool, type PathGuard, requireString } from "@agent/core/toolkit";

/** Appends a line to a file. */
export class WriteNoteTool implements ExecutableTool {
  readonly name = "__PREFIX___write_note";
  readonly capabilities = ["write"] as const;
  readonly #paths: PathGuard;

  constructor(paths: PathGuard) {
    this.#paths = paths;
  }

  getSchema(): ChatTool {
    return functionTool(this.name, "Append one line to a file of notes, which is created if it is missing.", {
      path: { type: "string", description: "The file of notes" },
      text: { type: "string", description: "The line to add" },
    });
  }

  async execute(args: Record<string, unknown>): Promise<string> {
    const path = requireString(args, "path");
    const text = requireString(args, "text");
    await appendFile(this.#paths.resolve(path), `${text.trimEnd()}\n`);
    return `Added a line to ${path}`;
  }
}

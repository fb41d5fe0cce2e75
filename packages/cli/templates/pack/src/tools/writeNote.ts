import { appendFile } from "node:fs/promises";
import { defineTool } from "@agent/core";
import type { PathGuard } from "@agent/core/toolkit";

/** Appends a line to a file that `paths` allows. */
export const writeNote = (paths: PathGuard) =>
  defineTool({
    name: "__PREFIX___write_note",
    description: "Append one line to a file of notes, which is created if it is missing.",
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file of notes" },
        text: { type: "string", description: "The line to add" },
      },
      required: ["path", "text"],
      additionalProperties: false,
    },
    capabilities: ["write"],
    async execute({ path, text }) {
      await appendFile(paths.resolve(path), `${text.trimEnd()}\n`);
      return `Added a line to ${path}`;
    },
  });

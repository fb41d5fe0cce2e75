import { appendFile, readFile } from "node:fs/promises";
import { defineTool } from "@agent/core";
import { fileDiff, type PathGuard } from "@agent/core/toolkit";

const lineOf = (text: string): string => `${text.trimEnd()}\n`;

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
    pathArguments: ["path"],
    // What the call changes: users' rules and the undo of the chat need it.
    describe: ({ path }) => ({ targets: [paths.target(path, "write")] }),
    // What the question shows.
    async preview({ path, text }) {
      const file = paths.resolve(path);
      const before = await readFile(file, "utf8").catch(() => "");
      const change = before === "" ? "created" : "edited";
      return { changes: [fileDiff(file, before, before + lineOf(text), { change })], shows: ["text"] };
    },
    async execute({ path, text }) {
      await appendFile(paths.resolve(path), lineOf(text));
      return `Added a line to ${path}`;
    },
  });

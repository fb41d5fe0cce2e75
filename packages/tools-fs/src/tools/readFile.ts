import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { FileTool } from "../fileTool.js";

/** Reads a text file, whole or some of its lines. Never changes what it shows; a cut is announced. */
export class ReadFileTool extends FileTool {
  readonly name = "read_file";
  readonly capabilities = ["read"] as const;

  getSchema(): ChatTool {
    const { maxReadBytes, maxReadLines } = this.workspace.limits;
    return functionTool(
      this.name,
      `Read a file. Returns its content as it is; past ${maxReadBytes} bytes or ${maxReadLines} lines the first part and a last line that says how to read on.`,
      {
        path: { type: "string", description: "File to read" },
        encoding: {
          type: "string",
          description:
            "utf-8 (default; UTF-16 with a byte order mark is recognised), utf-16le, latin1, ascii, base64, base64url or hex",
        },
        offset: { type: "integer", minimum: 1, description: "First line to read, counted from 1" },
        limit: { type: "integer", minimum: 1, description: "Number of lines to read" },
        byte_offset: {
          type: "integer",
          minimum: 0,
          description: "Byte to start at instead of a line, for reading on inside a very long line",
        },
      },
      ["encoding", "offset", "limit", "byte_offset"],
    );
  }
}

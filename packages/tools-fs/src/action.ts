import type { ToolCall } from "@agent/core";
import type { Workspace } from "./workspace.js";

export type FileToolName =
  | "read_file"
  | "write_file"
  | "edit_file"
  | "list_dir"
  | "mkdir"
  | "move"
  | "remove";

/** What a tool does when it is called. Throws, in words a model can act on, if that cannot be done. */
export type Action = (
  workspace: Workspace,
  args: Record<string, unknown>,
  call?: ToolCall,
) => Promise<string>;

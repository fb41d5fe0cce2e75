import type { ToolCall } from "@agent/core";
import type { Workspace } from "./workspace.js";

/** What a tool does when it is called. Throws, in words a model can act on, if that cannot be done. */
export type Action = (
  workspace: Workspace,
  args: Record<string, unknown>,
  call?: ToolCall,
) => Promise<string>;

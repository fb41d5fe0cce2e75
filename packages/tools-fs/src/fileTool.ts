import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { lazyModule } from "@agent/core/toolkit";
import type { FileToolName } from "./action.js";
import { checkedWorkspace, Workspace } from "./workspace.js";

const loadActions = lazyModule(
  () => import("./actions.js"),
  () => new URL("./actions.js", import.meta.url),
);

/** What the file tools have in common. What one of them does is loaded by the first call, not with the pack. */
export abstract class FileTool implements ExecutableTool {
  abstract readonly name: FileToolName;
  abstract readonly capabilities: NonNullable<ExecutableTool["capabilities"]>;
  protected readonly workspace: Workspace;

  constructor(workspace = new Workspace()) {
    this.workspace = checkedWorkspace(workspace);
  }

  abstract getSchema(): ChatTool;

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const { actions } = await loadActions();
    return await actions[this.name](this.workspace, args, call);
  }
}

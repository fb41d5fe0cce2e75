import type { AccessNeed, ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { checkedWorkspace, type Step, Workspace } from "../workspace.js";

/** Base class of the file tools: holds the workspace and reports which access a person has to grant for a call. */
export abstract class FileTool implements ExecutableTool {
  abstract readonly name: string;
  abstract readonly capabilities: NonNullable<ExecutableTool["capabilities"]>;
  protected readonly workspace: Workspace;

  constructor(workspace = new Workspace()) {
    this.workspace = checkedWorkspace(workspace);
  }

  abstract getSchema(): ChatTool;
  abstract execute(args: Record<string, unknown>, call?: ToolCall): Promise<string>;

  /** The effects of a call with these arguments, by canonical path. Throws what `execute` would throw. */
  protected abstract findSteps(args: Readonly<Record<string, unknown>>): readonly Step[];

  findAccessNeeds(args: Readonly<Record<string, unknown>>): readonly AccessNeed[] {
    let steps: readonly Step[];
    try {
      steps = this.findSteps(args);
    } catch {
      // The arguments are wrong: `execute` will report that, and it needs no grant.
      return [];
    }
    return steps.flatMap((step) => this.workspace.findNeeds(step));
  }
}

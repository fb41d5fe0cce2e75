import type { CallDescription, CallTarget, ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { checkedWorkspace, type Step, Workspace } from "../workspace.js";

const ACCESS = {
  read: "read",
  write: "write",
  place: "write",
  makeDirectory: "write",
  move: "delete",
  takeAway: "delete",
} as const satisfies Record<Step["action"], string>;

/** Base class of the file tools: holds the workspace and describes calls by their steps. */
export abstract class FileTool implements ExecutableTool {
  abstract readonly name: string;
  abstract readonly capabilities: NonNullable<ExecutableTool["capabilities"]>;
  readonly titleFrom: string | readonly string[] = "path";
  readonly pathArguments: readonly string[] = ["path"];
  protected readonly workspace: Workspace;

  constructor(workspace = new Workspace()) {
    this.workspace = checkedWorkspace(workspace);
  }

  abstract getSchema(): ChatTool;
  abstract execute(args: Record<string, unknown>, call?: ToolCall): Promise<string>;

  /** The effects of a call with these arguments. Throws what `execute` would throw. */
  protected abstract findSteps(args: Readonly<Record<string, unknown>>): readonly Step[];

  describeCall(args: Readonly<Record<string, unknown>>): CallDescription {
    let steps: readonly Step[];
    try {
      steps = this.findSteps(args);
    } catch (error) {
      // An error of the system may be gone when the call runs, so that only the pack's own errors are a refusal.
      return error instanceof Error && "code" in error ? {} : { refusal: errorMessage(error) };
    }
    return {
      targets: steps.map(toTarget),
      needs: steps.flatMap((step) => this.workspace.findNeeds(step)),
    };
  }

  /** A call as it would run with the user's approval. */
  protected approved(args: Readonly<Record<string, unknown>>, signal: AbortSignal): ToolCall {
    return { signal, granted: this.describeCall(args).needs ?? [], onOutput: () => undefined };
  }
}

function toTarget({ action, path, entry = path, tree, line }: Step): CallTarget {
  return {
    type: "file",
    path: entry,
    ...(entry !== path && { realPath: path }),
    access: ACCESS[action],
    ...(tree && { tree }),
    ...(line !== undefined && { line }),
  };
}

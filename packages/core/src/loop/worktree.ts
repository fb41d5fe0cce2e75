import { AgentError } from "../errors.js";
import type { ToolRegistry } from "../tools/registry.js";
import type { Approve, CallRules } from "./approval.js";
import type { CallHooks } from "./hooks.js";

/** A git work tree in which a child agent works, with tools that work there. */
export interface AgentWorktree {
  /** Its absolute path. */
  readonly directory: string;
  /** Tools that work in the directory (`PackHost.directory`). The child can use those that its parent has enabled too. */
  readonly registry: ToolRegistry;
  /** Decide about the calls of the child. Default: those of the agent. Questions wait in the agent's queue. */
  readonly approval?: { readonly rules: CallRules; readonly approve: Approve };
  /** In place of the hooks of the agent. */
  readonly hooks?: readonly CallHooks[];
  /** In place of the agent's system prompt, for a child that inherits it. */
  readonly systemPrompt?: string;
  /** Ends what its tools started, and removes the tree if nothing was changed in it. Must not reject. */
  close(): Promise<WorktreeEnd>;
}

/** What became of the work tree of a child agent. */
export interface WorktreeEnd {
  /** Whether it is still there, because something was changed in it. */
  readonly isKept: boolean;
  /** One or more sentences for the model and the user: what was changed, where it is, how to continue. */
  readonly summary: string;
}

/**
 * Makes a work tree of this name for a child agent, or opens the one that was kept under that name. Rejects with the reason if
 * there cannot be one.
 */
export type OpenWorktree = (name: string, signal: AbortSignal) => Promise<AgentWorktree>;

/** Opens the work tree that a child asks for. Throws if the host has none. */
export async function openFor(
  name: string | undefined,
  open: OpenWorktree | undefined,
  signal: AbortSignal,
): Promise<AgentWorktree | undefined> {
  if (name === undefined) return undefined;
  if (!open) {
    throw new AgentError(
      "invalid_argument",
      "startAgent: this program cannot give a child agent its own work tree. Leave out worktree.",
    );
  }
  return await open(name, signal);
}

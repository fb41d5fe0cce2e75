import { join } from "node:path";
import type {
  AgentWorktree,
  BackgroundJobs,
  CallHooks,
  HostData,
  PackServices,
  ToolContext,
  ToolRegistry,
} from "@agent/core";
import type { AskUser, Permissions } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import { canonicalPath, findRepository } from "@agent/internal";
import { createGate } from "../permissions/gate.js";
import { accessRules, projectDirectory } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import type { UndoLog } from "../undo/undoLog.js";
import { assembleTools } from "./assembleTools.js";
import type { LoadedPack } from "./packs/load.js";
import { closeLeftovers, type OpenWorktree, openWorktree } from "./worktree.js";

/** What the tools of a child agent are made from: the parts of the agent itself. */
export interface ChildWorktreeParts {
  readonly cwd: string;
  readonly loaded: LoadedSettings;
  readonly packs: readonly LoadedPack[];
  readonly context: ToolContext;
  /** What the agent itself offers to packs. */
  readonly host: HostData;
  readonly permissions: Permissions;
  readonly ask: AskUser;
  readonly undo: () => UndoLog | undefined;
  readonly onProblem: (message: string) => void;
  readonly onNotice: (message: string) => void;
  /** The system prompt of an agent in another directory. */
  readonly systemPrompt: (directory: string) => string;
  /** Adds the instructions of subdirectories. */
  readonly instructions: (directory: string) => CallHooks;
}

/**
 * The work trees of child agents. Each has its own tools, of the same packs: they work in its directory, under the mode, rules and
 * approvals of the agent. The project's config and trust hold for it, since it is the same project.
 */
export class ChildWorktrees {
  readonly #parts: ChildWorktreeParts;
  readonly #open = new Map<string, ToolRegistry>();

  constructor(parts: ChildWorktreeParts) {
    this.#parts = parts;
  }

  /** The background work of the tools of all trees, for `/status` and for the end of the process. */
  get services(): PackServices {
    const registries = () => [...this.#open.values()];
    const jobs = () => registries().map(({ services }) => services.jobs);
    const first = async (end: (jobs: BackgroundJobs) => Promise<boolean> | undefined): Promise<boolean> => {
      for (const one of jobs()) if (await end(one)) return true;
      return false;
    };
    return {
      jobs: {
        list: () => jobs().flatMap((one) => one.list()),
        end: (id) => first((one) => one.end(id)),
        endProcess: (pid) => first((one) => one.endProcess?.(pid)),
        detachProcess: (pid) => first((one) => one.detachProcess?.(pid)),
      },
      terminate: () => {
        for (const { services } of registries()) services.terminate();
      },
    };
  }

  /** Names trees that an agent left behind, and removes those without changes. Never rejects. */
  async reportLeftovers(): Promise<void> {
    const { cwd, onNotice } = this.#parts;
    for (const line of await closeLeftovers(cwd)) onNotice(line);
  }

  /** Rejects with the reason if the tree cannot be created. */
  async open(name: string, signal: AbortSignal): Promise<AgentWorktree> {
    const { cwd, permissions, loaded } = this.#parts;
    if (permissions.mode === "plan" || loaded.settings.readOnly) {
      throw new Error(
        "there are no work trees in plan mode and in a read-only run: making one changes the repository. Start an agent without isolation.",
      );
    }
    const { worktree } = findRepository(join(cwd, "file")) ?? {};
    if (worktree !== undefined && canonicalPath(projectDirectory(cwd)) !== canonicalPath(worktree)) {
      throw new Error("the repository is your home directory: a work tree would be a copy of all of it.");
    }
    const tree = await openWorktree(cwd, name, signal);
    try {
      signal.throwIfAborted();
      return this.#assemble(tree);
    } catch (error) {
      await tree.close();
      throw error;
    }
  }

  #assemble(tree: OpenWorktree): AgentWorktree {
    const { loaded, packs, context, host, permissions, ask, undo, onProblem, onNotice } = this.#parts;
    const { directory, name } = tree;
    const root = canonicalPath(tree.path);
    // A pack that fails here works in the agent's own directory.
    const own = packs.map((pack) => ({ ...pack, problem: undefined }));
    const access = accessRules(directory, loaded.settings.addDirs);
    const { registry } = assembleTools({ ...loaded, access }, own, context, { ...host, directory });
    const failed = own.find(({ problem }, index) => problem !== undefined && !packs[index]?.problem);
    if (failed?.problem !== undefined) {
      registry.dispose().catch(() => undefined);
      throw new Error(`the tools cannot work in a work tree: ${failed.problem}`);
    }
    // The agent itself decides which are on.
    for (const tool of registry.getToolNames()) registry.enable(tool);
    registry.onRegister((tool) => void registry.enable(tool.name));
    this.#open.set(name, registry);
    const { hooks, ...approval } = createGate({
      permissions,
      ask,
      undo,
      onProblem,
      place: { registry, root },
    });
    return {
      directory,
      registry,
      approval,
      hooks: [hooks, this.#parts.instructions(directory)],
      systemPrompt: [this.#parts.systemPrompt(directory), promptOf(tree)].join("\n\n"),
      close: async () => {
        // A pack that fails here must not discard the answer of the child.
        for (const end of [() => registry.dispose(), async () => undo()?.closeDirectory(root)])
          await end().catch((error: unknown) => onProblem(`work tree ${name}: ${errorMessage(error)}`));
        this.#open.delete(name);
        const { isKept, summary } = await tree.close();
        if (isKept) onNotice(summary);
        return { isKept, summary: [...tree.notices, summary, ...(isKept ? [howToUse(tree)] : [])].join(" ") };
      },
    };
  }
}

function promptOf({ path, branch, notices }: OpenWorktree): string {
  return [
    "Your work tree:",
    `- You work in your own git work tree, ${JSON.stringify(path)}, on the branch ${branch}. Change files only there: other agents and the user work in theirs.`,
    "- It began with the files of the newest commit. What the user has not committed, and what git ignores, such as installed dependencies, is not in it.",
    ...notices.map((notice) => `- ${notice}`),
    "- It is kept if you change anything in it. You need not commit, and commands in a sandbox cannot. Do not merge it yourself.",
  ].join("\n");
}

function howToUse({ branch }: OpenWorktree): string {
  return `git status in that directory shows the changes. To use them, commit them there, then git merge ${branch} in the project. To discard them: git worktree remove --force, then git branch -D ${branch}.`;
}

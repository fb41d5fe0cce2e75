import { resolve } from "node:path";
import {
  type CallDescription,
  type CallTarget,
  type DefinedToolCall,
  defineTool,
  type ToolKind,
} from "@agent/core";
import { type AcpRun, type ForeignCall, runAcpAgent } from "./acpAgent.js";

export const PROGRAM = "agent_program";
const PERMISSION = "agent_permission";
/** The names of the tools that run agents of other programs. */
export const PROGRAM_TOOLS: readonly string[] = [PROGRAM, PERMISSION];

/** Another program whose agent is a child. Only the configuration can define one. */
export interface AgentProgram {
  readonly command: readonly string[];
  /** The environment variables with secrets that it gets anyway. */
  readonly env: readonly string[];
}

const KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"] as const;
const ACCESS: Partial<Record<ToolKind, "read" | "write" | "delete">> = {
  read: "read",
  edit: "write",
  move: "write",
  delete: "delete",
};

/**
 * The tools that run agents of other programs. They are not offered to the model: `agent_run` calls the first, so that
 * starting a program is decided about like any call, and the program's own permission requests are calls of the second.
 */
export function programTools(
  programs: ReadonlyMap<string, AgentProgram>,
  environment: (passed: readonly string[]) => NodeJS.ProcessEnv,
  directory: string,
) {
  const permission = defineTool({
    name: PERMISSION,
    description: "Permission for a step of an agent that is another program. It does nothing by itself.",
    input: {
      type: "object",
      properties: {
        agent: { type: "string", description: "The agent" },
        action: { type: "string", description: "What it wants to do" },
        kind: { enum: KINDS, description: "The kind of work" },
        paths: { type: "array", items: { type: "string" }, description: "The files it names" },
        input: { description: "The arguments of its own tool" },
      },
      required: ["agent", "action", "kind", "paths"],
      additionalProperties: false,
    },
    // What the program does then is unknown: the rules for the strongest tools apply.
    capabilities: ["write", "execute"],
    titleFrom: ["agent", "action"],
    describe: ({ agent, action, kind, paths }) =>
      describePermission({ agent, action, kind, paths }, directory),
    execute: ({ action }) => `Allowed: ${action}`,
  });
  const program = defineTool({
    name: PROGRAM,
    description: "Starts an agent that is another program, for one task.",
    input: {
      type: "object",
      properties: {
        agent: { type: "string", description: "The agent" },
        task: { type: "string", description: "Its task" },
      },
      required: ["agent", "task"],
      additionalProperties: false,
    },
    capabilities: ["write", "execute", "network"],
    kind: "execute",
    deadlineMs: Number.POSITIVE_INFINITY,
    titleFrom: ["agent", "task"],
    describe: ({ agent, task }) => ({
      title: `${programs.get(agent)?.command.join(" ") ?? agent}: ${task.split("\n", 1)[0]}`,
      ...(programs.has(agent) && {
        targets: [{ type: "command", text: programs.get(agent)?.command.join(" ") ?? "", open: true }],
      }),
    }),
    async execute({ agent, task }, call) {
      const known = programs.get(agent);
      if (!known)
        throw new Error(`the configuration names no program for the agent ${JSON.stringify(agent)}.`);
      const { text, stopReason } = await runAcpAgent({
        command: known.command,
        env: environment(known.env),
        directory,
        task,
        signal: call.signal,
        onProcess: (pid) => call.onProcess(pid),
        onStep: (step) => call.onOutput(`${step}\n`),
        permit: permitted(agent, call),
      });
      const isDone = stopReason === "end_turn";
      call.report({ ok: isDone, summary: isDone ? "done" : stopReason });
      return isDone ? text : `${text}\n[It did not finish: ${stopReason}.]`;
    },
  });
  return [permission, program] as const;
}

function permitted(agent: string, { callTool }: DefinedToolCall): AcpRun["permit"] {
  return async ({ title, kind, paths, input }: ForeignCall) => {
    if (!callTool) return false;
    const known = KINDS.find((one) => one === kind) ?? "other";
    const args = { agent, action: title, kind: known, paths, ...(input !== undefined && { input }) };
    return (await callTool(PERMISSION, args)).outcome === "ok";
  };
}

function describePermission(
  {
    agent,
    action,
    kind,
    paths,
  }: {
    readonly agent: string;
    readonly action: string;
    readonly kind: ToolKind;
    readonly paths: readonly string[];
  },
  directory: string,
): CallDescription {
  const access = ACCESS[kind];
  const targets = paths.map(
    (path): CallTarget | undefined =>
      access && { type: "file", path: resolve(directory, path), access, open: true },
  );
  const isKnown = targets.length > 0 && targets.every((target) => target !== undefined);
  return { title: `${agent}: ${action}`, kind, ...(isKnown && { targets: targets as CallTarget[] }) };
}

/** Splits a command line into words; quotes keep a word together. */
export function commandWords(command: string): string[] {
  return Array.from(
    command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

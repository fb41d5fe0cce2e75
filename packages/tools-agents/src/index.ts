import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  type AgentError,
  type ChildAgentAnswer,
  type ChildAgentRequest,
  type DefinedToolCall,
  definePack,
  defineTool,
} from "@agent/core";
import { errorMessage, quote, shorten, truncateMiddle } from "@agent/core/toolkit";
import { BackgroundAgents, tokensText } from "./background.js";
import { Conversations } from "./conversations.js";
import { AGENT_NAME, EFFORTS } from "./definitionFiles.js";
import { type AgentDefinition, Definitions, toolsOf } from "./definitions.js";
import { type AgentProgram, commandWords, PROGRAM, PROGRAM_TOOLS, programTools } from "./programs.js";

const RUN = "agent_run";
const SEND = "agent_send";
const OWN = [RUN, SEND, ...PROGRAM_TOOLS];
const MAX_LISTED = 50;
const MAX_DESCRIPTION = 300;
const DEFAULT_RESULT = 30_000;
// A host may truncate the notice that starts a turn.
const LONGEST_NOTICE = 3000;

const OPTIONS = {
  type: "object",
  properties: {
    agents: {
      type: "object",
      description: "Agents by name.",
      additionalProperties: {
        type: "object",
        properties: {
          description: { type: "string", minLength: 1 },
          prompt: { type: "string", minLength: 1 },
          acp: { type: "string", minLength: 1 },
          env: { type: "array", items: { type: "string" } },
          tools: { type: "array", items: { type: "string" } },
          model: { type: "string", minLength: 1 },
          effort: { enum: EFFORTS },
          maxTurns: { type: "integer", minimum: 1 },
          isolation: { enum: ["worktree"] },
        },
        required: ["description"],
        additionalProperties: false,
      },
    },
    /** Further directories with files of agents. */
    directories: { type: "array", items: { type: "string", minLength: 1 } },
    /** Whether agents are read from files of the project. */
    projectAgents: { type: "boolean" },
    /** The maximum number of characters of a child's answer that its parent gets. */
    maxResult: { type: "integer", minimum: 1000, maximum: 1_000_000 },
  },
  additionalProperties: false,
} as const;

/** An agent in the configuration: with a prompt, or another program's agent that supports the Agent Client Protocol. */
export interface ConfiguredAgent
  extends Partial<Pick<AgentDefinition, "prompt" | "model" | "effort" | "maxTurns" | "isolation">> {
  /** When to use it, for the model. */
  readonly description: string;
  /** The tools it may use. Default: all of its parent. */
  readonly tools?: readonly string[];
  /** The command that starts the other program: `gemini --acp`. */
  readonly acp?: string;
  /** Environment variables with secrets that the program gets anyway: `["GEMINI_API_KEY"]`. */
  readonly env?: readonly string[];
}

/** Options of the pack. */
export interface AgentsOptions {
  /** Agents by name, besides those in files of the project and those of packs. */
  readonly agents?: Readonly<Record<string, ConfiguredAgent>>;
  /** Further directories with files of agents, such as `~/.claude/agents`. */
  readonly directories?: readonly string[];
  /** Whether agents in `.agents/agents`, `.agent/agents` and `.claude/agents` are used. Default true. */
  readonly projectAgents?: boolean;
  /** The maximum number of characters of a child's answer that its parent gets. Default 30000. */
  readonly maxResult?: number;
}

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-agents": { register: typeof register };
  }
}

export const { packName, packApiVersion, followsDirectory, needs, register } = definePack({
  name: "@agent/tools-agents",
  options: OPTIONS,
  followsDirectory: true,
  needs: { calls: true },
  setup(host, registry) {
    const options = host.options as AgentsOptions;
    const { agents = {}, directories = [], projectAgents = true, maxResult = DEFAULT_RESULT } = options;
    const { directory = process.cwd(), worktrees = false } = host;
    const configured = Object.entries(agents).map(([name, one]) => configuredAgent(name, one));
    const programs = new Map<string, AgentProgram>(
      Object.entries(agents).flatMap(([name, { acp, env = [] }]) =>
        acp === undefined ? [] : [[name, { command: commandWords(acp), env }]],
      ),
    );
    if (programs.size > 0) {
      const environment = (passed: readonly string[]) =>
        environmentWithout(host.secretVariables ?? [], passed);
      for (const tool of programTools(programs, environment, directory))
        registry.register(tool, { deferred: true });
    }
    const definitions = new Definitions(configured, {
      own: directories.map((one) => resolve(directory, one.replace(/^~(?=\/|$)/, homedir()))),
      project: projectAgents ? directory : undefined,
      ofPacks: host.agents,
      usesProject: host.usesInstructions,
    });
    const kept = host.directories?.project;
    const conversations = new Conversations(kept === undefined ? undefined : join(kept, "conversations"));

    const background = new BackgroundAgents();
    /** The agents that answer a further message. */
    const busy = new Set<string>();
    const { startAgent: startInBackground, wake } = host;

    const childRequest = (
      id: string,
      definition: AgentDefinition,
      request: Pick<ChildAgentRequest, "message" | "history">,
    ): ChildAgentRequest => {
      const { name, prompt, model, small, effort, maxTurns, isolation } = definition;
      const { names, mayWrite } = toolsOf(definition, registry, OWN);
      if (isolation && !worktrees) throw new Error(noWorktrees(definition));
      return {
        ...request,
        inheritPrompt: true,
        systemPrompt: prompt,
        tools: names,
        // Two writing agents in the same directory would overwrite each other's changes.
        exclusive: mayWrite && !isolation,
        label: name,
        ...(isolation && { worktree: id }),
        ...(model !== undefined && { model }),
        ...(small && { small }),
        ...(effort !== undefined && { effort }),
        ...(maxTurns !== undefined && { maxTurns }),
      };
    };

    /** Stores the conversation of a child under `id`, and reports its outcome. */
    const endingOf = async (
      id: string,
      { name, isolation }: AgentDefinition,
      answer: ChildAgentAnswer,
      before: number,
      longest: number,
    ): Promise<{ readonly text: string; readonly figures: string; readonly isDone: boolean }> => {
      await conversations.keep(id, {
        agent: name,
        messages: answer.messages,
        ...(isolation && { isolation }),
      });
      const figures = figuresOf(answer, before);
      const isDone = answer.finishReason === "stop";
      const ending = isDone ? "" : ` It did not finish: ${answer.finishReason}.`;
      const text = truncateMiddle(answer.text, longest, `Ask the agent for less with ${SEND}.`);
      return {
        figures,
        isDone,
        text: `${text}\n\n[agent ${id}: ${figures}.${ending} ${SEND} continues it.]${worktreeNote(answer)}`,
      };
    };

    /**
     * Stores the conversation of a child that failed or was interrupted, so that its work is not lost. Returns the error
     * with how to continue it.
     */
    const failureOf = async (
      id: string,
      { name, isolation }: AgentDefinition,
      error: unknown,
    ): Promise<unknown> => {
      const { messages = [], code } = error as Partial<AgentError>;
      const hasWorked = messages.some(({ role }) => role === "assistant");
      if (!hasWorked || code === "suspended") return error;
      await conversations.keep(id, { agent: name, messages, ...(isolation && { isolation }) });
      return new Error(`${errorMessage(error)} [agent ${id}: ${SEND} continues it.]`, { cause: error });
    };

    /** Runs a child until it answers. */
    const run = async (
      id: string,
      definition: AgentDefinition,
      request: Pick<ChildAgentRequest, "message" | "history">,
      call: DefinedToolCall,
    ): Promise<string> => {
      const { startAgent } = call;
      if (!startAgent) throw new Error("this call was not made by an agent, so it cannot start one.");
      let answer: ChildAgentAnswer;
      try {
        answer = await startAgent(childRequest(id, definition, request));
      } catch (error) {
        const failure = await failureOf(id, definition, error);
        // The model gets the text of an interrupted call, but no error of it.
        if (call.signal.aborted && failure !== error) return errorMessage(failure);
        throw failure;
      }
      const before = request.history?.length ?? 0;
      const { text, figures, isDone } = await endingOf(id, definition, answer, before, maxResult);
      call.report({ ok: isDone, summary: figures, view: { type: "markdown", text: answer.text } });
      return text;
    };

    /** Lets a child work in the background. Its end starts a turn. */
    const runInBackground = (
      id: string,
      definition: AgentDefinition,
      message: string,
      { start, notify }: { start: NonNullable<typeof startInBackground>; notify: NonNullable<typeof wake> },
    ): string => {
      background.start(
        id,
        titleOf(definition.name, message),
        (onEvent) => start(childRequest(id, definition, { message }), onEvent),
        async (ending) => {
          const text =
            "error" in ending
              ? `The agent ${id} failed: ${errorMessage(await failureOf(id, definition, ending.error))}`
              : `The agent ${id} has ended.\n\n${(await endingOf(id, definition, ending.answer, 0, LONGEST_NOTICE)).text}`;
          // The user knows, and may continue it in a later process: leaving a chat stops its agents.
          if (!ending.isStopped) notify({ source: id, text });
        },
      );
      return `Started the agent ${id} in the background. You will get its answer in a message when it has ended: continue with other work, or end your answer. The user can stop it with /status end ${id}.`;
    };

    const agentRun = (description: string) =>
      defineTool({
        name: RUN,
        description,
        input: {
          type: "object",
          properties: {
            agent: { type: "string", description: "The name of the agent" },
            task: {
              type: "string",
              minLength: 1,
              description: "The whole task: the agent sees nothing of this conversation",
            },
            files: {
              type: "array",
              items: { type: "string" },
              maxItems: 100,
              description: "Paths it should look at first",
            },
            background: {
              type: "boolean",
              description: "Do not wait for its answer: you get it in a message when it has ended",
            },
            ...(worktrees && ISOLATION),
          },
          required: ["agent", "task"],
          additionalProperties: false,
        },
        // The call itself does nothing: the calls of the child are decided about individually.
        capabilities: ["read"],
        kind: "other",
        repeatable: true,
        deadlineMs: Number.POSITIVE_INFINITY,
        titleFrom: ["agent", "task"],
        describe: ({ agent, task }) => ({ title: titleOf(agent, task), targets: [] }),
        async execute({ agent, task, files = [], background: isBackground = false, ...rest }, call) {
          const definition = isolated(definitions.get(agent), "isolation" in rest);
          const message =
            files.length === 0
              ? task
              : `${task}\n\nFiles to look at first:\n${files.map((one) => `- ${one}`).join("\n")}`;
          const id = conversations.newId(agent);
          const isProgram = programs.has(agent);
          if (isProgram && definition.isolation) throw new Error(NO_PROGRAM_WORKTREE);
          if (isBackground && startInBackground && wake && !isProgram) {
            const text = runInBackground(id, definition, message, { start: startInBackground, notify: wake });
            // The text is for the model.
            const hint = `\`/status\` shows ${id}, \`/status end ${id}\` stops it.`;
            call.report({ ok: true, summary: "in the background", view: { type: "markdown", text: hint } });
            return text;
          }
          const text = isProgram
            ? await runProgram(agent, message, call)
            : await run(id, definition, { message }, call);
          if (!isBackground) return text;
          const reason = isProgram ? "An agent of another program cannot" : "Agents of this program cannot";
          return `${text}\n\n[${reason} work in the background: it ran in the foreground and has ended.]`;
        },
      });

    const agentSend = defineTool({
      name: SEND,
      description: `Send a further message to an agent that ${RUN} started. It remembers its conversation. Returns its answer.`,
      input: {
        type: "object",
        properties: {
          id: { type: "string", description: `The agent's id, from the result of ${RUN}` },
          message: { type: "string", minLength: 1, description: "What it should do next" },
        },
        required: ["id", "message"],
        additionalProperties: false,
      },
      capabilities: ["read"],
      kind: "other",
      repeatable: true,
      deadlineMs: Number.POSITIVE_INFINITY,
      titleFrom: ["id", "message"],
      describe: ({ id, message }) => ({ title: titleOf(id, message), targets: [] }),
      async execute({ id, message }, call) {
        background.checkEnded(id);
        // Two answers to the same conversation: the one that ends first would be lost.
        if (busy.has(id))
          throw new Error(`the agent ${quote(id)} is answering another message. Send one after the other.`);
        busy.add(id);
        try {
          const { agent, messages, isolation } = conversations.get(id);
          const definition = isolated(definitions.get(agent), isolation !== undefined);
          return await run(id, definition, { message, history: messages }, call);
        } finally {
          busy.delete(id);
        }
      },
    });

    const description = runDescription(definitions.list(), worktrees);
    let isListed = false;
    // Packs that are registered after this one may define agents. The text never changes after the first request.
    registry.onRefresh?.((later) => {
      if (isListed) return;
      isListed = true;
      const whole = runDescription(definitions.list(), worktrees);
      if (whole === description) return;
      later.unregister(RUN);
      later.register(agentRun(whole));
    });
    return {
      tools: [agentRun(description), agentSend],
      jobs: background,
      dispose: () => background.dispose(),
      commands: [
        {
          name: "agents",
          description: "list the agents that can be started, and where they are defined",
          run: async () => ({ show: listText(definitions) }),
        },
      ],
      diagnose: () =>
        definitions.problems.map(({ place, problem }) => ({
          subject: "agents",
          ok: false,
          detail: `${place}: ${problem}`,
          hint: "Correct or remove the file.",
        })),
    };
  },
});

function configuredAgent(name: string, { prompt, acp, env: _, ...rest }: ConfiguredAgent): AgentDefinition {
  if (!AGENT_NAME.test(name)) {
    throw new Error(
      `the agent ${quote(name)} needs another name: letters, digits, "-" and "_", starting with a letter.`,
    );
  }
  if ((prompt === undefined) === (acp === undefined)) {
    throw new Error(
      `the agent ${JSON.stringify(name)} needs either a prompt or acp, the command of another program.`,
    );
  }
  return { ...rest, name, prompt: prompt ?? "", place: "the configuration" };
}

/** Starting a program is a separate call: it is approved, recorded and, unlike this one, never repeated. */
async function runProgram(
  agent: string,
  task: string,
  { callTool, report }: DefinedToolCall,
): Promise<string> {
  if (!callTool) throw new Error("this call was not made by an agent, so it cannot start one.");
  const { outcome, text } = await callTool(PROGRAM, { agent, task });
  if (outcome !== "ok") report({ ok: false, summary: outcome });
  return text;
}

function environmentWithout(secret: readonly string[], passed: readonly string[]): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !secret.includes(name) || passed.includes(name),
  );
  return Object.fromEntries(kept);
}

/** `12 calls, 31.4k tokens, $0.08` */
function figuresOf({ messages, usage }: ChildAgentAnswer, before: number): string {
  const calls = messages.slice(before).filter(({ role }) => role === "tool").length;
  const tokens = tokensText(usage.inputTokens + usage.outputTokens);
  const cost =
    usage.cost === undefined ? "" : `, ${usage.costIsEstimate ? "≈ " : ""}$${usage.cost.toFixed(2)}`;
  return `${calls} ${calls === 1 ? "call" : "calls"}, ${tokens}${cost}`;
}

function titleOf(who: string, text: string): string {
  return `${who}: ${text.split("\n", 1)[0]}`.slice(0, 200);
}

/** The argument of `agent_run` where the host can make work trees. */
const ISOLATION = {
  isolation: {
    enum: ["worktree"],
    description:
      "The agent works in its own git work tree with the files of the newest commit, without uncommitted changes. Several that write can then work at the same time",
  },
} as const;

const NO_PROGRAM_WORKTREE = "an agent of another program cannot have its own work tree. Leave out isolation.";

function noWorktrees({ name, place }: AgentDefinition): string {
  return `the agent ${quote(name)} (${place}) works in its own git work tree, and this program cannot make one (durable runs never can). Use another agent, or remove isolation from its definition.`;
}

function isolated(definition: AgentDefinition, isWanted: boolean): AgentDefinition {
  return isWanted ? { ...definition, isolation: "worktree" } : definition;
}

function worktreeNote({ worktree }: ChildAgentAnswer): string {
  return worktree === undefined ? "" : `\n[${worktree.summary}]`;
}

function runDescription(agents: readonly AgentDefinition[], worktrees: boolean): string {
  const listed = agents
    .slice(0, MAX_LISTED)
    .map(({ name, description }) => `- ${name}: ${oneLine(description)}`);
  const more = agents.length > MAX_LISTED ? [`- and ${agents.length - MAX_LISTED} more`] : [];
  return [
    `Start an agent with its own conversation for a task that needs many steps, and get its final answer. It has your tools or fewer, under the same rules. Several calls in one answer run at the same time if the agents only read${worktrees ? " or have their own work trees" : ""}, otherwise one after the other.`,
    "Agents:",
    ...listed,
    ...more,
  ].join("\n");
}

function listText(definitions: Definitions): string {
  const lines = definitions
    .list()
    .map(({ name, description, place }) => `${name} (${place}): ${oneLine(description)}`);
  const problems = definitions.problems.map(({ place, problem }) => `not used: ${place}: ${problem}`);
  return [...lines, ...problems].join("\n");
}

function oneLine(text: string): string {
  return shorten(text.replaceAll(/\s+/g, " ").trim(), MAX_DESCRIPTION);
}

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { CallHooks, Content, HookCall, PackHost } from "@agent/core";
import { canonicalPath, isInside, quotePath, truncateUtf8 } from "@agent/core/toolkit";
import type { runBashTool } from "@agent/tools-bash";
import { type HooksFile, isApproved } from "./approval.js";
import { type HookAnswer, runHook } from "./runHook.js";
import type { EventName, Handler, ReadHooks } from "./settings.js";

// Each command has its own time limit, and a question to the user has none.
const TIMEOUT_MS = 24 * 3600 * 1000;
const MAX_RESPONSE_BYTES = 200_000;

/** The hooks of one source. */
export interface HookSource extends ReadHooks {
  /** The file or option they are defined in. */
  readonly place: string;
  readonly file?: HooksFile;
  /** Why they cannot be used: then every call and message is refused. */
  readonly problem?: string;
}

type Host = Pick<PackHost, "ask" | "notice" | "trusted" | "directories" | "access" | "directory">;

/** Functions for the agent that run the commands of the settings. */
export function createHooks(
  sources: readonly HookSource[],
  tool: ReturnType<typeof runBashTool>,
  host: Host,
): CallHooks | undefined {
  const { directory = process.cwd() } = host;
  const problem = sources.find((source) => source.problem !== undefined)?.problem;
  for (const line of sources.flatMap(({ leftOut }) => leftOut)) host.notice?.(line);
  if (problem === undefined && sources.every(({ handlers }) => handlers.length === 0)) return undefined;
  const common = { session_id: randomUUID(), transcript_path: "", permission_mode: "default" };
  // Text of hooks about a call before it runs, which the model reads with its result.
  const contexts = new Map<string, string>();
  let approved: Promise<readonly Handler[]> | undefined;

  /** The handlers that may run. The user is asked once. */
  const usable = (signal: AbortSignal): Promise<readonly Handler[]> => {
    if (problem !== undefined) return Promise.reject(new Error(problem));
    approved ??= approve(sources, host, signal).catch((error: unknown) => {
      approved = undefined;
      throw error;
    });
    return approved;
  };

  /** Runs all commands for an event in parallel. Throws if one fails. */
  const run = async (
    event: EventName,
    names: readonly string[],
    details: Readonly<Record<string, unknown>>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Merged> => {
    const handlers = (await usable(signal)).filter((one) => one.event === event && one.matches(names));
    const unique = [...new Map(handlers.map((one) => [one.command, one])).values()];
    const input = { ...common, cwd: directory, hook_event_name: event, ...details };
    const answers = await Promise.all(unique.map((one) => runHook(tool, one, { input, directory }, signal)));
    for (const { message } of answers) if (message !== undefined) host.notice?.(message);
    return merge(answers);
  };

  const has = (...events: readonly EventName[]): boolean =>
    problem !== undefined ||
    sources.some(({ handlers }) => handlers.some(({ event }) => events.includes(event)));

  const callDetails = ({ id, name, args }: HookCall) => ({
    tool_name: toolNames(name)[0],
    agent_tool_name: name,
    tool_input: claudeInput(name, args, directory),
    tool_use_id: id,
  });
  return {
    name: "@agent/hooks",
    timeoutMs: TIMEOUT_MS,
    async beforeCall(call) {
      const script = await changedScript(call, sources, directory);
      const warning = `it would change ${quotePath(script ?? "")}, which a hook runs`;
      if (script !== undefined && !(await userAllows(warning, call, host))) return { deny: warning };
      if (!has("PreToolUse")) return undefined;
      const details = callDetails(call);
      const { deny, ask, input, context } = await run(
        "PreToolUse",
        toolNames(call.name),
        details,
        call.signal,
      );
      if (deny !== undefined) return { deny };
      if (ask !== undefined && !(await userAllows(ask, call, host))) return { deny: ask };
      if (context !== undefined) contexts.set(call.id, context);
      if (input === undefined) return undefined;
      return { args: changedArguments(call.name, details.tool_input, input) };
    },
    ...(has("PreToolUse", "PostToolUse", "PostToolUseFailure") && {
      async afterCall(call, { text, outcome }) {
        const before = contexts.get(call.id);
        contexts.delete(call.id);
        const event = outcome === "ok" ? "PostToolUse" : "PostToolUseFailure";
        const shown = truncateUtf8(text, MAX_RESPONSE_BYTES);
        const details = {
          ...callDetails(call),
          ...(outcome === "ok" ? { tool_response: parsedObject(shown) ?? shown } : { error: shown }),
        };
        const { deny, context, output } = await run(event, toolNames(call.name), details);
        if (output !== undefined) return { text: [output, before, context].filter(Boolean).join("\n") };
        const added = [before, deny, context].filter((part) => part !== undefined);
        return added.length === 0 ? undefined : { append: added.join("\n") };
      },
    }),
    ...(has("UserPromptSubmit") && {
      async onMessage({ content, signal }) {
        const { deny, context } = await run("UserPromptSubmit", [], { prompt: plainText(content) }, signal);
        if (deny !== undefined) return { deny };
        return context === undefined ? undefined : { add: context };
      },
    }),
    ...(has("SessionStart") && {
      async onSessionStart({ resumed }) {
        const source = resumed ? "resume" : "startup";
        const { deny, context } = await run("SessionStart", [source], { source });
        if (deny !== undefined) host.notice?.(deny);
        return context === undefined ? undefined : { add: context };
      },
    }),
    ...(has("SessionEnd") && {
      async onSessionEnd() {
        await run("SessionEnd", ["other"], { reason: "other" });
      },
    }),
    ...(has("Stop") && {
      async onStop({ text, continued, signal }) {
        const details = { stop_hook_active: continued > 0, last_assistant_message: text };
        const { deny } = await run("Stop", [], details, signal);
        return deny === undefined ? undefined : { deny };
      },
    }),
    ...(has("PreCompact") && {
      async onCompact({ focus }) {
        const trigger = focus === undefined ? "auto" : "manual";
        const details = { trigger, custom_instructions: focus ?? "" };
        const { context } = await run("PreCompact", [trigger], details);
        return context === undefined ? undefined : { add: context };
      },
    }),
  };
}

type Merged = Omit<HookAnswer, "message">;

/** Combines several decisions: a refusal wins, then a question; texts are joined. */
function merge(answers: readonly HookAnswer[]): Merged {
  const contexts = answers.flatMap(({ context }) => (context === undefined ? [] : [context]));
  const denials = answers.flatMap(({ deny }) => (deny === undefined ? [] : [deny]));
  const { ask } = answers.find((answer) => answer.ask !== undefined) ?? {};
  const { input } = answers.findLast((answer) => answer.input !== undefined) ?? {};
  const { output } = answers.findLast((answer) => answer.output !== undefined) ?? {};
  return {
    ...(denials.length > 0 && { deny: denials.join("\n") }),
    ...(ask !== undefined && { ask }),
    ...(contexts.length > 0 && { context: contexts.join("\n") }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
  };
}

async function approve(sources: readonly HookSource[], host: Host, signal: AbortSignal): Promise<Handler[]> {
  const handlers: Handler[] = [];
  for (const source of sources) {
    if (source.file === undefined || (await isApproved(source.file, source.handlers, host, signal))) {
      handlers.push(...source.handlers);
    } else host.notice?.(`The hooks of ${source.place} do not run in this session.`);
  }
  return handlers;
}

/** Handles a hook that wants the user to decide. If no one can be asked, the call is refused. */
async function userAllows(reason: string, { name, signal }: HookCall, { ask }: Host): Promise<boolean> {
  if (!ask) return false;
  const message = `A hook wants you to decide about ${name}: ${reason}\nRun it?`;
  const { answer } = await ask({ source: "@agent/hooks", message, fields: [], signal });
  return answer === "yes";
}

/**
 * The file of a hook command that a call would change. Hooks may run without a sandbox and without approval: a model
 * that may edit files must not decide what they do.
 */
async function changedScript(
  call: HookCall,
  sources: readonly HookSource[],
  directory: string,
): Promise<string | undefined> {
  if (!call.capabilities.some((one) => one === "write" || one === "destroy")) return undefined;
  const { targets = [] } = await call.describe();
  const changed = targets.flatMap((target) =>
    target.type !== "file" || target.access === "read" ? [] : [target.path, target.realPath ?? target.path],
  );
  if (changed.length === 0) return undefined;
  const words = sources.flatMap(({ handlers }) => handlers.flatMap(({ command }) => wordsOf(command)));
  const files = words.map((word) => canonicalPath(resolve(directory, word)));
  return files.find((file) => changed.some((path) => isInside(canonicalPath(path), file)));
}

/** What may be a path in a command line. */
function wordsOf(command: string): string[] {
  const plain = command.replace(/\$\{?(?:CLAUDE|AGENT)_PROJECT_DIR\}?/g, ".").replace(/["'\\]/g, "");
  return plain.split(/[\s;|&()<>=`,]+/).filter((word) => word !== "");
}

function plainText(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The JSON that a tool such as `run_bash` returned; `undefined` for any other text. */
function parsedObject(text: string): unknown {
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A tool by Claude Code's name, and its arguments by Claude Code's names. */
interface ClaudeTool {
  readonly names: readonly [string, ...string[]];
  /** Claude Code's names of our arguments. */
  readonly arguments?: Readonly<Record<string, string>>;
}

const FILE = { path: "file_path" };

/** The tool names that existing hook scripts use. Other tools keep their own. */
const TOOLS: Readonly<Record<string, ClaudeTool>> = {
  run_bash: { names: ["Bash"] },
  run_powershell: { names: ["Bash", "PowerShell"] },
  read_file: { names: ["Read"], arguments: FILE },
  write_file: { names: ["Write"], arguments: FILE },
  edit_file: {
    names: ["Edit", "MultiEdit"],
    arguments: { ...FILE, old_text: "old_string", new_text: "new_string" },
  },
  apply_patch: { names: ["Edit", "MultiEdit", "Write"] },
  // These write files too, so a hook that checks edits must see them.
  move: { names: ["Write"], arguments: { destination: "file_path" } },
  lsp_rename: { names: ["Edit", "MultiEdit", "Write"], arguments: FILE },
  list_dir: { names: ["LS"] },
  search_files: { names: ["Glob"] },
  search_text: { names: ["Grep"], arguments: { query: "pattern" } },
  web_fetch: { names: ["WebFetch"], arguments: { question: "prompt" } },
  web_search: { names: ["WebSearch"] },
  agent_run: { names: ["Agent", "Task"], arguments: { agent: "subagent_type" } },
};

/** All names a matcher may use for a tool. The first one is passed to hooks as `tool_name`. */
function toolNames(name: string): readonly [string, ...string[]] {
  const tool = TOOLS[name];
  return tool ? [...tool.names, name] : [name];
}

/** The arguments of a call under our names and Claude Code's. Paths under its names are absolute. */
function claudeInput(
  name: string,
  args: Readonly<Record<string, unknown>>,
  directory: string,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...args };
  for (const [own, other] of Object.entries(TOOLS[name]?.arguments ?? {})) {
    const value = args[own];
    if (value !== undefined) input[other] = other === "file_path" ? resolve(directory, String(value)) : value;
  }
  return input;
}

/** Our arguments, from the input that a hook has changed under either name. */
function changedArguments(
  name: string,
  sent: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const aliases = Object.entries(TOOLS[name]?.arguments ?? {});
  const args: Record<string, unknown> = { ...changed };
  for (const [own, other] of aliases) {
    if (!(other in changed) || own === other) continue;
    delete args[other];
    const isOwnUnchanged = changed[own] === undefined || changed[own] === sent[own];
    if (changed[other] !== sent[other] && isOwnUnchanged) args[own] = changed[other];
    else if (args[own] === undefined && sent[own] !== undefined) args[own] = sent[own];
  }
  return args;
}

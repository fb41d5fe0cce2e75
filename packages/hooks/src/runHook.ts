import { isRecord, truncateUtf8 } from "@agent/core/toolkit";
import type { RunBashResult, runBashTool } from "@agent/tools-bash";
import type { Handler } from "./settings.js";

// The kernel limits one argument to 128 KB and all of them to about 2 MB.
const CHUNK = 100_000;
const MAX_INPUT = 1_000_000;
const MAX_MESSAGE_BYTES = 4000;
/** Passes its further arguments to the command's standard input. */
const SCRIPT = 'hook=$1; shift; printf %s "$@" | /bin/sh -c "$hook"';

/** The decision of a hook, from its exit code and output. */
export interface HookAnswer {
  /** Exit code 2, `deny` or `block`: the reason. */
  readonly deny?: string;
  /** The user must decide: the reason. */
  readonly ask?: string;
  /** A text for the model. */
  readonly context?: string;
  /** The tool's input as changed by the hook. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The text that replaces the result. */
  readonly output?: string;
  /** A text for the user. */
  readonly message?: string;
}

type CommandTool = ReturnType<typeof runBashTool>;

/** Runs a command with the event as JSON on its standard input. Throws if it fails with any exit code but 2. */
export async function runHook(
  tool: CommandTool,
  { command, timeoutMs }: Pick<Handler, "command" | "timeoutMs">,
  { input, directory }: { readonly input: Readonly<Record<string, unknown>>; readonly directory: string },
  signal: AbortSignal,
): Promise<HookAnswer> {
  const json = asciiJson(input);
  if (json.length > MAX_INPUT) throw new Error(`the call is too large to be checked (${json.length} bytes)`);
  const chunks = Array.from({ length: Math.ceil(json.length / CHUNK) }, (_, index) =>
    json.slice(index * CHUNK, (index + 1) * CHUNK),
  );
  const text = await tool.execute(
    {
      command: SCRIPT,
      arguments: [command, ...chunks],
      env: { CLAUDE_PROJECT_DIR: directory, AGENT_PROJECT_DIR: directory },
      timeout: timeoutMs,
    },
    { signal, onOutput: () => undefined },
  );
  return readAnswer(JSON.parse(text) as RunBashResult, command, timeoutMs);
}

/** JSON in ASCII only: it can be split anywhere. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Interprets exit code and output like Claude Code, except that every failure is an error. */
function readAnswer(result: RunBashResult, command: string, timeoutMs: number): HookAnswer {
  const { stdout, exit_code: exitCode, timed_out: isLate, truncated, limit_exceeded: exceeded } = result;
  const stderr = truncateUtf8(result.stderr.trim(), MAX_MESSAGE_BYTES);
  const name = JSON.stringify(truncateUtf8(command, 200));
  if (isLate) throw new Error(`${name} did not end within ${timeoutMs / 1000} s`);
  if (exceeded) throw new Error(`${name} exceeded its limit of ${exceeded.limit}`);
  if (exitCode === 2) return { deny: stderr || `${name} refused it without a reason` };
  if (exitCode !== 0) throw new Error(`${name} ended with exit code ${exitCode}${stderr && `: ${stderr}`}`);
  const text = stdout.trim();
  if (!text.startsWith("{")) return text === "" ? {} : { context: text };
  if (truncated?.stdout) throw new Error(`${name} printed ${truncated.stdout.total_bytes} bytes of JSON`);
  return readDecision(parseDecision(text, name));
}

function parseDecision(text: string, name: string): Record<string, unknown> {
  try {
    const decision: unknown = JSON.parse(text);
    if (isRecord(decision)) return decision;
  } catch {
    // Reported below.
  }
  throw new Error(`${name} printed JSON that cannot be read`);
}

function readDecision(decision: Record<string, unknown>): HookAnswer {
  const specific = isRecord(decision.hookSpecificOutput) ? decision.hookSpecificOutput : {};
  const { permissionDecision: verdict, updatedInput: input } = specific;
  const reason =
    textOf(specific.permissionDecisionReason) ?? textOf(decision.reason) ?? "no reason was given";
  const context = textOf(specific.additionalContext);
  const output = textOf(specific.updatedToolOutput) ?? textOf(specific.updatedMCPToolOutput);
  const message = textOf(decision.systemMessage);
  const stops = decision.continue === false;
  const isDenied =
    stops || verdict === "deny" || decision.decision === "block" || decision.decision === "deny";
  return {
    ...(isDenied && { deny: stops ? (textOf(decision.stopReason) ?? reason) : reason }),
    ...(verdict === "ask" && { ask: reason }),
    ...(context !== undefined && { context }),
    ...(isRecord(input) && { input }),
    ...(output !== undefined && { output }),
    ...(message !== undefined && { message }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

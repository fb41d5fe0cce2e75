import { escapeToLine, quote, truncateUtf8 } from "@agent/internal";
import { checkObject, checkSignal } from "../toolkit/hostOptions/checks.js";
import { copyArguments } from "./arguments.js";
import {
  abortedEnding,
  type ExecutionLimits,
  failure,
  type RunOptions,
  runTool,
  type ToolEnding,
  type ToolResult,
} from "./execution.js";
import type { ExecutableTool, RedirectedCall } from "./interface.js";
import { isUsable, parseArguments, type RegisteredTool } from "./registeredTool.js";
import type { AccessNeed, ToolCapability } from "./types.js";

const MAX_SHOWN_NAME = 200;

/** A call that was looked up and validated, and has done nothing yet. */
export interface PreparedCall {
  readonly name: string;
  /** A copy of the arguments as the model sent them. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** What the call needs a person's yes for, under the host's access rules. */
  readonly needs: readonly AccessNeed[];
  /** Runs the tool, unless it was removed or turned off meanwhile. Never rejects. */
  run(options?: RunOptions): Promise<ToolResult>;
}

/** The tools of a registry as they are now, on or off. */
type LookUp = (name: string) => RegisteredTool | undefined;

/**
 * Looks a call up and validates its arguments. Has no side effect and never rejects: resolves to the call, or to the
 * result of one that cannot run.
 */
export async function prepareCall(
  name: string,
  args: Record<string, unknown> | undefined,
  lookUp: LookUp,
  limits: ExecutionLimits,
): Promise<PreparedCall | ToolResult> {
  const found = findUsable(name, lookUp);
  if ("outcome" in found) return { ...found, durationMs: 0 };
  const { tool, capabilities } = found;
  try {
    const copy = copyArguments(args);
    const parsed = await parseArguments(found, copy);
    if ("problem" in parsed) return { ...failure(name, parsed.problem, limits), durationMs: 0 };
    const target = tool.redirect?.(copy);
    if (target !== undefined) return await prepareTarget(name, target, lookUp, limits);
    return {
      name,
      args: copy,
      capabilities,
      needs: tool.findAccessNeeds?.(copy) ?? [],
      run: async (options = {}) => {
        const now = findUsable(name, lookUp);
        if (now !== found) {
          return { ...("outcome" in now ? now : unavailable("not_available", name)), durationMs: 0 };
        }
        // A tool gets its own copy: the arguments that were decided about stay unchanged.
        const input = parsed.value === copy ? copyArguments(copy) : parsed.value;
        const started = performance.now();
        const ending = await runSafely(tool, input, options, limits);
        return { ...ending, durationMs: performance.now() - started };
      },
    };
  } catch (error) {
    return { ...failure(name, error, limits), durationMs: 0 };
  }
}

/**
 * Prepares the call that another one redirects to. Follows one redirect only: two tools could redirect to each other
 * for ever.
 */
async function prepareTarget(
  name: string,
  target: RedirectedCall,
  lookUp: LookUp,
  limits: ExecutionLimits,
): Promise<PreparedCall | ToolResult> {
  if (lookUp(target.name)?.tool.redirect) {
    const problem = `${quote(target.name)} redirects calls itself and cannot be called through another tool.`;
    return { ...failure(name, problem, limits), durationMs: 0 };
  }
  return await prepareCall(target.name, { ...target.args }, lookUp, limits);
}

/** Runs the tool, unless the caller's options are invalid or the call is aborted already. */
async function runSafely(
  tool: ExecutableTool,
  input: Record<string, unknown>,
  options: RunOptions,
  limits: ExecutionLimits,
): Promise<ToolEnding> {
  try {
    checkObject("call", options);
    if (options.signal !== undefined) checkSignal("signal", options.signal);
    if (options.signal?.aborted) return abortedEnding(tool.name);
    return await runTool(tool, input, options, limits);
  } catch (error) {
    return failure(tool.name, error, limits);
  }
}

/** The tool if it may run now, or how a call of it ends. */
function findUsable(name: string, lookUp: LookUp): RegisteredTool | ToolEnding {
  const entry = lookUp(name);
  if (entry === undefined) return unavailable("not_found", name);
  return isUsable(entry) ? entry : unavailable("not_available", name, entry.withheld);
}

/** How a call ends that found no tool it may run. `reason` is its pack's, for a tool that is withheld. */
export function unavailable(
  outcome: "not_found" | "not_available",
  name: string,
  reason?: string,
): ToolEnding {
  // The name is the model's own text: it may be anything, and as long as it likes.
  const shown = escapeToLine(truncateUtf8(String(name), MAX_SHOWN_NAME));
  const why = reason === undefined ? "" : ` (${reason})`;
  return { outcome, text: `Tool ${outcome === "not_found" ? "not found" : "not available"}: ${shown}${why}` };
}

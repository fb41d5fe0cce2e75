import { errorMessage, escapeToLine, quote, truncateUtf8, withTimeout } from "@agent/internal";
import { linkedController, orAborted } from "../toolkit/abort.js";
import { checkObject, checkSignal } from "../toolkit/hostOptions/checks.js";
import { titleOf } from "../toolkit/text/title.js";
import { copyArguments } from "./arguments.js";
import {
  type CallPreview,
  completeDescription,
  type DescribedCall,
  readDescription,
  readPreview,
} from "./callDescription.js";
import {
  abortedEnding,
  type CallOptions,
  type ExecutionLimits,
  failure,
  runTool,
  type ToolEnding,
  type ToolResult,
} from "./execution.js";
import { isUsable, type RegisteredTool, readArguments, titleNames } from "./registeredTool.js";
import { redactJson } from "./resultView.js";
import type { ExecutableTool, RedirectedCall, ToolCapability } from "./tool.js";

const MAX_SHOWN_NAME = 200;
const DESCRIBE_LIMIT_MS = 2000;
const PREVIEW_LIMIT_MS = 5000;

/** A call that was looked up and validated, but has not run. */
export interface PreparedCall {
  readonly name: string;
  /** A copy of the arguments, repaired if they had exactly one other interpretation. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  readonly repeatable: boolean;
  /**
   * Describes the call's targets and needs. Asks the tool once. Never rejects: if the tool fails to describe them, they
   * are unknown.
   */
  describe(signal?: AbortSignal): Promise<DescribedCall>;
  /** Previews the call's changes; `undefined` if the tool cannot. Never rejects. */
  preview(signal?: AbortSignal): Promise<CallPreview | undefined>;
  /** Runs the tool, unless it was removed or turned off meanwhile. Never rejects. */
  run(options?: CallOptions): Promise<ToolResult>;
}

export interface PrepareOptions {
  /** Repairs arguments that do not match, if there is exactly one way. For calls that a model wrote. */
  readonly repair?: boolean;
}

/** The current tools of a registry, enabled or not. */
type LookUp = (name: string) => RegisteredTool | undefined;

/**
 * Looks up a call and validates its arguments. Has no side effects and never rejects: resolves to the call, or to the
 * result of a call that cannot run.
 */
export async function prepareCall(
  name: string,
  args: Record<string, unknown> | undefined,
  lookUp: LookUp,
  limits: ExecutionLimits,
  { repair = false }: PrepareOptions = {},
): Promise<PreparedCall | ToolResult> {
  const found = findUsable(name, lookUp);
  if ("outcome" in found) return { ...found, durationMs: 0 };
  const { tool, facts } = found;
  const { capabilities, repeatable } = facts;
  try {
    const read = await readArguments(found, copyArguments(args), repair);
    if ("problem" in read) return { ...failure(name, read.problem, limits), durationMs: 0 };
    // Everything that decides about the call sees the repaired arguments.
    const { args: copy, parsed, notes } = read;
    const target = await tool.redirect?.(copy);
    if (target !== undefined) return await prepareTarget(name, target, lookUp, limits, { repair });
    return {
      name,
      args: copy,
      capabilities,
      repeatable,
      ...describer(found, copy, () => (parsed === copy ? copyArguments(copy) : parsed), limits),
      run: async (options = {}) => {
        const now = findUsable(name, lookUp);
        if (now !== found) {
          return { ...("outcome" in now ? now : unavailable("not_available", name)), durationMs: 0 };
        }
        // A tool gets its own copy, so the arguments that were approved stay unchanged.
        const input = parsed === copy ? copyArguments(copy) : parsed;
        const started = performance.now();
        const ending = await runSafely(tool, input, options, limits);
        const durationMs = performance.now() - started;
        if (notes.length === 0) return { ...ending, durationMs };
        return {
          ...ending,
          text: `${ending.text}\n[The call was read with ${notes.join("; ")}.]`,
          durationMs,
        };
      },
    };
  } catch (error) {
    return { ...failure(name, error, limits), durationMs: 0 };
  }
}

/** Asks the tool to describe and preview a call, within time limits. `input` makes a copy for the tool. */
function describer(
  entry: RegisteredTool,
  args: Readonly<Record<string, unknown>>,
  input: () => Record<string, unknown>,
  { redact }: ExecutionLimits,
): Pick<PreparedCall, "describe" | "preview"> {
  const { tool, facts } = entry;
  let described: Promise<DescribedCall> | undefined;
  const describe = async (signal?: AbortSignal): Promise<DescribedCall> => {
    const defaults = { title: titleOf(titleNames(entry), args, facts.kind), kind: facts.kind };
    try {
      if (!tool.describeCall) {
        const needs = tool.findAccessNeeds?.(copyArguments(args)) ?? [];
        return completeDescription(readDescription({ needs }), defaults, redact);
      }
      const given = await within(tool.describeLimitMs ?? DESCRIBE_LIMIT_MS, signal, (limit) =>
        tool.describeCall?.(input(), { signal: limit }),
      );
      return completeDescription(readDescription(given), defaults, redact);
    } catch (error) {
      const problem = `${tool.name} could not describe the call: ${redact(errorMessage(error))}`;
      return completeDescription({}, defaults, redact, problem);
    }
  };
  return {
    describe: (signal) => {
      described ??= describe(signal);
      return described;
    },
    preview: async (signal) => {
      if (!tool.previewCall) return undefined;
      try {
        const given = await within(PREVIEW_LIMIT_MS, signal, (limit) =>
          tool.previewCall?.(input(), { signal: limit }),
        );
        const preview = readPreview(given);
        // The token is the tool's own and is passed back unchanged.
        const basis = preview?.basis;
        return (
          preview && {
            ...(redactJson(preview, redact) as CallPreview),
            ...(basis !== undefined && { basis }),
          }
        );
      } catch {
        return undefined;
      }
    },
  };
}

/** Runs a function of a tool that must not take long. Rejects on abort and on timeout. */
async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const { controller, release } = linkedController(outer);
  try {
    const working = Promise.resolve().then(() => work(controller.signal));
    return await withTimeout(orAborted(working, controller.signal), ms, () => {
      throw new Error(`it took longer than ${ms} ms`);
    });
  } finally {
    controller.abort();
    release();
  }
}

/**
 * Prepares the call that another one redirects to. Follows only one redirect: two tools could redirect to each other
 * forever.
 */
async function prepareTarget(
  name: string,
  target: RedirectedCall,
  lookUp: LookUp,
  limits: ExecutionLimits,
  options: PrepareOptions,
): Promise<PreparedCall | ToolResult> {
  if (lookUp(target.name)?.tool.redirect) {
    const problem = `${quote(target.name)} redirects calls itself and cannot be called through another tool.`;
    return { ...failure(name, problem, limits), durationMs: 0 };
  }
  return await prepareCall(target.name, { ...target.args }, lookUp, limits, options);
}

/** Runs the tool, unless the caller's options are invalid or the call is already aborted. */
async function runSafely(
  tool: ExecutableTool,
  input: Record<string, unknown>,
  options: CallOptions,
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

/** The tool if it may run now, or the result of a call that cannot run. */
function findUsable(name: string, lookUp: LookUp): RegisteredTool | ToolEnding {
  const entry = lookUp(name);
  if (entry === undefined) return unavailable("not_found", name);
  return isUsable(entry) ? entry : unavailable("not_available", name, entry.barred ?? entry.withheld);
}

/** The result of a call without a runnable tool. `reason` explains why a tool is withheld or forbidden. */
export function unavailable(
  outcome: "not_found" | "not_available",
  name: string,
  reason?: string,
): ToolEnding {
  // The model wrote the name: it may contain anything and have any length.
  const shown = escapeToLine(truncateUtf8(String(name), MAX_SHOWN_NAME));
  const why = reason === undefined ? "" : ` (${reason})`;
  return { outcome, text: `Tool ${outcome === "not_found" ? "not found" : "not available"}: ${shown}${why}` };
}

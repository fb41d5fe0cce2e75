import { LazySignal } from "../abort.js";
import { checkObject, checkSignal } from "../toolkit/checks.js";
import { describeValue, errorMessage, quote } from "../toolkit/describe.js";
import { isRecord } from "../toolkit/isRecord.js";
import { onAbort } from "../toolkit/onAbort.js";
import { LONGEST_TIMER_MS } from "../toolkit/timer.js";
import { truncateMiddle } from "../toolkit/truncate.js";
import { escapeInvisible } from "../toolkit/visible.js";
import type { ToolEntry } from "./entry.js";
import type { AccessNeed, ToolCall, ToolReport } from "./types.js";

const MAX_ERROR_BYTES = 8 * 1024;
const MAX_ARGUMENT_DEPTH = 256;

/** How a call ended. `ok` is the only success: a display and an exit code can rely on it. */
export type ToolOutcome = "ok" | "error" | "not_found" | "not_available" | "denied" | "aborted";

/** The text for the model, and what really happened. */
export interface ToolResult {
  readonly text: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** The tool's own few words about the end, if it gave any: `exit code 2`. */
  readonly summary?: string;
}

/** What a caller may pass along with a call; each part may be left out. */
export interface RunOptions extends Partial<ToolCall> {
  /**
   * Asked once the call is known to be valid, with the very arguments the tool will get and what it needs a yes
   * for. Resolves to the reason for a refusal, or to `undefined` to go on with these needs granted.
   */
  approve?(
    args: Readonly<Record<string, unknown>>,
    needs: readonly AccessNeed[],
  ): Promise<string | undefined>;
}

export interface ExecutionLimits {
  readonly deadlineMs: number;
  readonly maxResultBytes: number;
  readonly secrets: () => readonly string[];
}

/** A result before its duration is known; a tool that ran brings its own, without the wait for approval. */
export type ToolEnding = Omit<ToolResult, "durationMs"> & Partial<Pick<ToolResult, "durationMs">>;

/** How the call ends if the tool went away while a person decided about it. */
type GoneMeanwhile = () => ToolEnding | undefined;

/** Runs one tool and survives it, whatever it does. Never rejects. */
export async function runTool(
  entry: ToolEntry,
  args: unknown,
  options: RunOptions,
  limits: ExecutionLimits,
  goneMeanwhile: GoneMeanwhile,
): Promise<ToolEnding> {
  const { name } = entry.tool;
  const failed = (thrown: unknown): ToolEnding => ({
    outcome: "error",
    text: `Error executing ${name}: ${presentable(errorMessage(thrown), limits.secrets())}`,
  });
  try {
    checkObject("call", options);
    if (options.signal !== undefined) checkSignal("signal", options.signal);
    const copy = copyArguments(args);
    const problem = entry.checkArguments(copy);
    if (problem !== undefined) return failed(problem);
    if (options.signal?.aborted) return aborted(name);
    let granted = options.granted ?? [];
    if (options.approve) {
      const needs = entry.tool.findAccessNeeds?.(copy) ?? [];
      const refusal = await options.approve(copy, needs);
      granted = [...granted, ...needs];
      if (options.signal?.aborted) return aborted(name);
      if (refusal !== undefined) return { outcome: "denied", text: `Tool call denied: ${refusal}` };
      const gone = goneMeanwhile();
      if (gone) return gone;
    }
    return await raceTool(entry, copy, { ...options, granted }, limits, failed);
  } catch (error) {
    return failed(error);
  }
}

function aborted(name: string): ToolEnding {
  return { outcome: "aborted", text: `Error executing ${name}: aborted before it finished.` };
}

/** The tool against its deadline and the caller's abort; whoever is first decides, the rest is ignored. */
function raceTool(
  entry: ToolEntry,
  args: Record<string, unknown>,
  options: RunOptions & Required<Pick<ToolCall, "granted">>,
  limits: ExecutionLimits,
  failed: (thrown: unknown) => ToolEnding,
): Promise<ToolEnding> {
  const { name } = entry.tool;
  const deadlineMs = entry.tool.deadlineMs ?? limits.deadlineMs;
  const started = performance.now();
  return new Promise((resolve) => {
    const stop = new LazySignal();
    let settled = false;
    let report: ToolReport | undefined;
    let timer: NodeJS.Timeout | undefined;

    const settle = (ending: ToolEnding): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      release();
      resolve({ ...ending, durationMs: performance.now() - started });
    };
    const release = onAbort(options.signal, () => {
      settle(aborted(name));
      stop.abort(options.signal?.reason);
    });
    if (deadlineMs <= LONGEST_TIMER_MS) {
      timer = setTimeout(() => {
        settle(failed(`no result after ${deadlineMs} ms; it was told to stop.`));
        stop.abort(new Error("deadline passed"));
      }, deadlineMs);
    }

    const call: ToolCall = {
      get signal() {
        return stop.signal;
      },
      granted: options.granted,
      onOutput: (chunk) => {
        if (!settled) options.onOutput?.(chunk);
      },
      onProcess: (pid) => {
        if (!settled) options.onProcess?.(pid);
      },
      report: (status) => {
        report = status;
        if (!settled) options.report?.(status);
      },
    };
    // Started inside a promise, so that a tool that throws synchronously ends like one that rejects.
    new Promise<unknown>((started) => started(entry.tool.execute(args, call))).then(
      (text) => settle(completed(text, report, limits, failed)),
      (error: unknown) => settle(failed(error)),
    );
  });
}

function completed(
  text: unknown,
  report: ToolReport | undefined,
  limits: ExecutionLimits,
  failed: (thrown: unknown) => ToolEnding,
): ToolEnding {
  if (typeof text !== "string") return failed(`it returned ${describeValue(text)} instead of a string.`);
  return {
    outcome: report?.ok === false ? "error" : "ok",
    text: truncateMiddle(text, limits.maxResultBytes, "Ask the tool for less at a time."),
    ...(report && { summary: String(report.summary) }),
  };
}

/** An error text that is safe to show and to send: bounded, without control characters or known secrets. */
function presentable(message: string, secrets: readonly string[]): string {
  let text = message;
  // Before the cut, which could leave half a secret that no longer matches.
  for (const secret of secrets) {
    if (secret.length >= 8) text = text.replaceAll(secret, "[secret]");
  }
  return escapeInvisible(truncateMiddle(text, MAX_ERROR_BYTES, "The error message was longer."));
}

/**
 * A deep copy of JSON-like arguments, so that a tool can do what it likes with them. Throws for what JSON
 * cannot hold, for what is nested without end, and for `__proto__`, which only an attacker sends.
 */
function copyArguments(args: unknown): Record<string, unknown> {
  if (args === undefined) return {};
  if (!isRecord(args)) throw new Error(`the arguments must be an object, got ${describeValue(args)}.`);
  return copyJson(args, 0) as Record<string, unknown>;
}

function copyJson(value: unknown, depth: number): unknown {
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return value;
  }
  if (value === undefined) return undefined;
  if (typeof value !== "object")
    throw new Error(`the arguments must be JSON values, got ${describeValue(value)}.`);
  if (depth > MAX_ARGUMENT_DEPTH) {
    throw new Error(`the arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`);
  }
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new Error(`${quote(key)} is not allowed as an argument name.`);
    copy[key] = copyJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return copy;
}

import {
  describeValue,
  errorMessage,
  escapeInvisible,
  escapeToLine,
  isRecord,
  LONGEST_TIMER_MS,
  truncateMiddle,
  truncateUtf8,
} from "@agent/internal";
import { type ContentPart, findPartProblem } from "../conversation/content.js";
import type { StateChange } from "../conversation/packState.js";
import { AgentError } from "../errors.js";
import { LazySignal } from "../toolkit/abort.js";
import { onAbort } from "../toolkit/onAbort.js";
import type { CallAbout } from "./callDescription.js";
import { type ResultView, readValue, readView } from "./resultView.js";
import type {
  ChildAgentAnswer,
  ChildAgentRequest,
  ExecutableTool,
  ToolCall,
  ToolProgress,
  ToolReport,
} from "./tool.js";

const MAX_ERROR_BYTES = 8 * 1024;
const MAX_SUMMARY_BYTES = 400;
const MAX_PARTS = 20;

/**
 * The outcome of a call. `ok` is the only success: a display and an exit code can rely on it. `interrupted` is a call
 * of an earlier process that may or may not have run.
 */
export type ToolOutcome =
  | "ok"
  | "error"
  | "not_found"
  | "not_available"
  | "denied"
  | "aborted"
  | "interrupted";

/** The text for the model, with the outcome of the call. */
export interface ToolResult {
  readonly text: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** A short summary by the tool, if provided: `exit code 2`. */
  readonly summary?: string;
  /** Images and files the tool returned besides its text. */
  readonly parts?: readonly ContentPart[];
  /** How a display renders the result. */
  readonly view?: ResultView;
  /** The result as data, if the tool provides it. */
  readonly value?: unknown;
  /** The targets of the call, for a display that has only the result. */
  readonly about?: CallAbout;
  /** The states of packs that the call changed, for a journal. */
  readonly state?: readonly StateChange[];
}

/** Optional callbacks and data that a caller passes with a call. */
export interface CallOptions extends Partial<Omit<ToolCall, "attach" | "startAgent" | "callTool">> {
  /** Called right before the tool starts. */
  onStart?(): void;
  /** Starts a child agent for the call; `signal` aborts when the call must stop. */
  readonly startAgent?: (request: ChildAgentRequest, signal?: AbortSignal) => Promise<ChildAgentAnswer>;
  /** Runs a nested call; `signal` aborts when the outer call must stop. */
  readonly callTool?: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<ToolResult>;
}

export interface ExecutionLimits {
  readonly deadlineMs: number;
  /** Milliseconds an aborted tool has to return its own result. */
  readonly abortGraceMs: number;
  readonly maxResultBytes: number;
  readonly redact: (text: string) => string;
}

/** A result before its duration is known. */
export type ToolEnding = Omit<ToolResult, "durationMs">;

/**
 * Runs one tool with valid arguments and handles every failure. Never rejects. On abort or after its deadline, the
 * tool's signal is aborted, and it has `abortGraceMs` to return its own result before it is abandoned.
 */
export function runTool(
  tool: ExecutableTool,
  input: Record<string, unknown>,
  options: CallOptions,
  limits: ExecutionLimits,
): Promise<ToolEnding> {
  return new Promise((resolve) => {
    new Execution(tool, options, limits, resolve).start(input);
  });
}

/** The text of a failure, safe to show and to send: bounded, without control characters or known secrets. */
export function failure(name: string, thrown: unknown, { redact }: ExecutionLimits): ToolEnding {
  // Redact before truncating, which could leave half a secret that no longer matches.
  const message = truncateMiddle(
    redact(errorMessage(thrown)),
    MAX_ERROR_BYTES,
    "The error message was longer.",
  );
  return { outcome: "error", text: `Error executing ${name}: ${escapeInvisible(message)}` };
}

export function abortedEnding(name: string): ToolEnding {
  return { outcome: "aborted", text: `Error executing ${name}: aborted before it finished.` };
}

/** The reason a running tool was aborted. */
type StopReason = "aborted" | "deadline";

/** One run of a tool: its deadline, its abort and its result. The first of them decides the outcome. */
class Execution {
  readonly #tool: ExecutableTool;
  readonly #options: CallOptions;
  readonly #limits: ExecutionLimits;
  readonly #resolve: (ending: ToolEnding) => void;
  readonly #deadlineMs: number;
  readonly #stopSignal = new LazySignal();
  /**
   * Aborts child agents and nested calls that the tool left running. The tool's own signal does not fire: processes it
   * started may continue.
   */
  #childrenEnd: AbortController | undefined;
  #work: AbortSignal | undefined;
  #parts: ContentPart[] | undefined;
  #report: ToolReport | undefined;
  #stopped: StopReason | undefined;
  #settled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #release = (): void => undefined;

  constructor(
    tool: ExecutableTool,
    options: CallOptions,
    limits: ExecutionLimits,
    resolve: (ending: ToolEnding) => void,
  ) {
    this.#tool = tool;
    this.#options = options;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#deadlineMs = tool.deadlineMs ?? limits.deadlineMs;
  }

  start(input: Record<string, unknown>): void {
    const { signal } = this.#options;
    this.#release = onAbort(signal, () => this.#stop("aborted", signal?.reason));
    if (this.#deadlineMs <= LONGEST_TIMER_MS) {
      this.#timer = setTimeout(() => this.#stop("deadline", new Error("deadline passed")), this.#deadlineMs);
    }
    this.#options.onStart?.();
    void this.#execute(input).then((ending) => this.#settle(ending));
  }

  /** Never rejects. */
  async #execute(input: Record<string, unknown>): Promise<ToolEnding> {
    try {
      let text: unknown;
      try {
        text = await this.#tool.execute(input, this.#call());
      } catch (error) {
        return this.#threw(error);
      }
      return this.#returned(text);
    } catch (error) {
      // The host's `secrets` function may throw: withhold the text, since it may contain a secret.
      return this.#unreadable(error);
    }
  }

  #call(): ToolCall {
    const options = this.#options;
    const { startAgent, callTool } = options;
    const stop = this.#stopSignal;
    return {
      get signal() {
        return stop.signal;
      },
      granted: options.granted ?? [],
      ...(options.basis !== undefined && { basis: options.basis }),
      ...(options.contained !== undefined && { contained: options.contained }),
      ...(options.wantsView && { wantsView: true }),
      context: options.context,
      onOutput: (chunk) => {
        // A stream of a process passes its own pieces of bytes.
        if (!this.#settled) options.onOutput?.(typeof chunk === "string" ? chunk : String(chunk));
      },
      onProcess: (pid) => {
        if (!this.#settled) options.onProcess?.(pid);
      },
      progress: (progress) => {
        if (!this.#settled) options.progress?.(readProgress(progress, this.#limits));
      },
      report: (status) => {
        this.#report = { ...this.#report, ...status };
        if (!this.#settled) options.report?.(status);
      },
      attach: (part) => this.#attach(part),
      ...(startAgent && {
        startAgent: (request) => {
          const child = this.#startChild(startAgent, request);
          // A tool that does not await its child must not crash the process when the child fails.
          child.catch(() => undefined);
          return child;
        },
      }),
      ...(callTool && {
        callTool: (name, args) => {
          const nested = this.#callNested(callTool, name, args);
          nested.catch(() => undefined);
          return nested;
        },
      }),
    };
  }

  async #callNested(
    run: NonNullable<CallOptions["callTool"]>,
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<ToolResult> {
    if (this.#settled) throw new AgentError("aborted", "The call has ended: it can call no other tool.");
    return await run(name, args, this.#workSignal());
  }

  /** Aborts when the call must stop and when it has finished. */
  #workSignal(): AbortSignal {
    this.#childrenEnd ??= new AbortController();
    // One for all: a script makes thousands of calls, and a combined signal is slow to create and to collect.
    this.#work ??= AbortSignal.any([this.#stopSignal.signal, this.#childrenEnd.signal]);
    return this.#work;
  }

  async #startChild(
    start: NonNullable<CallOptions["startAgent"]>,
    request: ChildAgentRequest,
  ): Promise<ChildAgentAnswer<never>> {
    if (this.#settled) throw new AgentError("aborted", "The call has ended: it can start no agent.");
    // Its output was checked against the schema of the request.
    return (await start(request, this.#workSignal())) as ChildAgentAnswer<never>;
  }

  #attach(part: ContentPart): void {
    if (this.#settled) throw new AgentError("aborted", "The call has ended: its result is complete.");
    // Checked and copied: the tool may change its own object.
    const copy = isRecord(part) ? { ...part } : part;
    const problem = findPartProblem(copy);
    if (problem !== undefined) throw new AgentError("invalid_argument", `The attached part ${problem}.`);
    this.#parts ??= [];
    if (this.#parts.length >= MAX_PARTS) throw new Error(`A result holds at most ${MAX_PARTS} parts.`);
    this.#parts.push(copy);
  }

  #stop(reason: StopReason, cause: unknown): void {
    if (this.#settled || this.#stopped) return;
    this.#stopped = reason;
    clearTimeout(this.#timer);
    const { abortGraceMs } = this.#limits;
    if (abortGraceMs <= LONGEST_TIMER_MS) {
      this.#timer = setTimeout(() => this.#settle(this.#givenUp()), abortGraceMs);
    }
    this.#stopSignal.abort(cause);
  }

  #givenUp(): ToolEnding {
    const { name } = this.#tool;
    const still = `it did not stop within ${this.#limits.abortGraceMs} ms and may still be running.`;
    if (this.#stopped === "aborted") {
      return { outcome: "aborted", text: `Error executing ${name}: aborted; ${still}` };
    }
    return failure(name, `no result after ${this.#deadlineMs} ms; ${still}`, this.#limits);
  }

  #returned(text: unknown): ToolEnding {
    if (typeof text !== "string") {
      return this.#threw(`it returned ${describeValue(text)} instead of a string.`);
    }
    if (this.#stopped === "deadline") {
      const late = failure(this.#tool.name, this.#lateness(), this.#limits);
      return { ...late, text: `${late.text}\n${this.#shorten(text)}` };
    }
    return {
      outcome: this.#stopped ?? (this.#report?.ok === false ? "error" : "ok"),
      text: this.#shorten(text),
      ...this.#reported(),
      ...(this.#parts && { parts: this.#parts }),
    };
  }

  /** The tool's report, redacted and bounded. An invalid view or value is dropped. */
  #reported(): Pick<ToolEnding, "summary" | "view" | "value"> {
    if (!this.#report) return {};
    const { summary, view, value } = this.#report;
    const { redact } = this.#limits;
    const shown = view === undefined ? undefined : orUndefined(() => readView(view, redact));
    const data = value === undefined ? undefined : orUndefined(() => readValue(value, redact));
    return {
      ...(summary !== undefined && { summary: shortLine(String(summary), redact) }),
      ...(shown !== undefined && { view: shown }),
      ...(data !== undefined && { value: data }),
    };
  }

  #threw(error: unknown): ToolEnding {
    const { name } = this.#tool;
    if (this.#stopped === "aborted") return abortedEnding(name);
    return failure(name, this.#stopped === "deadline" ? this.#lateness() : error, this.#limits);
  }

  #unreadable(error: unknown): ToolEnding {
    const reason = truncateMiddle(escapeInvisible(errorMessage(error)), MAX_ERROR_BYTES);
    return {
      outcome: "error",
      text: `Error executing ${this.#tool.name}: its result was withheld, since it could not be checked for secrets: ${reason}`,
    };
  }

  #lateness(): string {
    return `no result after ${this.#deadlineMs} ms; it was asked to stop.`;
  }

  #shorten(text: string): string {
    const { redact, maxResultBytes } = this.#limits;
    return truncateMiddle(redact(text), maxResultBytes, "Ask the tool for less at a time.");
  }

  #settle(ending: ToolEnding): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#release();
    this.#childrenEnd?.abort(new Error("the call ended"));
    this.#resolve(ending);
  }
}

/** The progress that a tool reports, which may be anything: redacted and bounded. */
function readProgress(given: unknown, { redact }: ExecutionLimits): ToolProgress {
  const { done, total, message } = isRecord(given) ? given : {};
  return {
    ...(typeof done === "number" && Number.isFinite(done) && { done }),
    ...(typeof total === "number" && Number.isFinite(total) && { total }),
    ...(typeof message === "string" && { message: shortLine(message, redact) }),
  };
}

/** A text of a tool for one line of a display. */
function shortLine(text: string, redact: (text: string) => string): string {
  return escapeToLine(truncateUtf8(redact(text), MAX_SUMMARY_BYTES));
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

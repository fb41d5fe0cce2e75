import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { ToolCall, ToolResult } from "@agent/core";
import { errorMessage, isRecord, onAbort } from "@agent/core/toolkit";
import type { Catalog } from "./catalog.js";
import type {
  AnsweredCall,
  CallAnswer,
  FromWorker,
  ScriptCall,
  ScriptEnd,
  ScriptLimits,
  ToWorker,
} from "./protocol.js";

// The engine stops itself at its limit; after this time the thread is terminated from outside.
const STUCK_GRACE_MS = 5000;
// A script that keeps retrying denied calls is stopped.
const MAX_DENIALS = 20;
/** Calls of tools that run at the same time. */
const MAX_RUNNING = 16;
// The thread settles these while further calls run.
const ANSWERS_AT_ONCE = 64;

/** The result of a script. */
export interface ScriptOutcome extends ScriptEnd {
  readonly output: string;
  readonly calls: number;
  /** Images and files of results that did not fit into the script's own result. */
  readonly unattached: number;
}

export interface ScriptRunOptions {
  readonly wasm: WebAssembly.Module;
  readonly script: string;
  readonly limits: ScriptLimits;
  readonly timeoutMs: number;
  readonly catalog: Catalog;
  readonly call: ToolCall;
}

/** One script in a thread: makes its calls, and answers them in the order in which they were made. */
export class ScriptRun {
  readonly #worker: Worker;
  readonly #options: ScriptRunOptions;
  readonly #output: string[] = [];
  /** Answers by the id of the call, for calls that were made after one that is still running. */
  readonly #ready = new Map<number, string>();
  readonly #denied = new Map<string, CallAnswer>();
  /** Calls of tools that wait for running ones. */
  readonly #waiting = new Set<ScriptCall>();
  #running = 0;
  #searches: Promise<void> = Promise.resolve();
  #nextAnswer = 0;
  /** The first call without an answer. */
  #nextReady = 0;
  /** Messages that the thread has not handled yet. */
  #posted = 0;
  #calls = 0;
  #denials = 0;
  #unattached = 0;
  /** The thread may run another script by now. */
  #hasEnded = false;
  #watchdog: NodeJS.Timeout | undefined;
  #resolve: (outcome: ScriptOutcome) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(worker: Worker, options: ScriptRunOptions) {
    this.#worker = worker;
    this.#options = options;
  }

  /**
   * Resolves when the script has ended. Rejects if it must not have a result: it was aborted, or one of its calls was
   * suspended.
   */
  async run(): Promise<ScriptOutcome> {
    const { wasm, script, limits, timeoutMs, call } = this.#options;
    const worker = this.#worker;
    const onMessage = (message: FromWorker): void => this.#receive(message);
    const onError = (error: unknown): void => this.#stop(`its thread failed: ${errorMessage(error)}`);
    const onExit = (): void => this.#stop("its thread ended");
    const timer = setTimeout(() => this.#stop(`it took longer than ${timeoutMs} ms`), timeoutMs);
    const outcome = new Promise<ScriptOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const release = onAbort(call.signal, () => {
      this.#waiting.clear();
      this.#reject(new Error("aborted"));
    });
    worker.on("message", onMessage);
    worker.on("error", onError);
    worker.on("exit", onExit);
    try {
      this.#post({ type: "run", wasm, script, limits });
      return await outcome;
    } finally {
      this.#hasEnded = true;
      release();
      clearTimeout(timer);
      clearTimeout(this.#watchdog);
      worker.off("message", onMessage);
      worker.off("error", onError);
      worker.off("exit", onExit);
    }
  }

  #post(message: ToWorker): void {
    this.#posted++;
    clearTimeout(this.#watchdog);
    const { cpuMs } = this.#options.limits;
    this.#watchdog = setTimeout(
      () => this.#stop(`it computed for more than ${cpuMs} ms`),
      cpuMs + STUCK_GRACE_MS,
    );
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    const isComputing = message.type === "calls" && message.more;
    if (!isComputing) this.#posted--;
    if (this.#posted === 0) clearTimeout(this.#watchdog);
    if (message.output !== "") {
      this.#output.push(message.output);
      this.#options.call.onOutput(message.output);
    }
    if (message.type === "end") {
      this.#settle(message.end);
      return;
    }
    for (const call of message.calls) this.#start(call);
    this.#answer();
  }

  #start(call: ScriptCall): void {
    this.#calls++;
    // Child agents have their own limit, and would keep their calls waiting here.
    if (call.kind !== "tool") void this.#run(call);
    else {
      this.#waiting.add(call);
      this.#startWaiting();
    }
  }

  /** Starts calls of tools in their order, a bounded number at the same time. */
  #startWaiting(): void {
    for (const call of this.#waiting) {
      if (this.#running === MAX_RUNNING) return;
      this.#waiting.delete(call);
      this.#running++;
      void this.#run(call).then(() => {
        this.#running--;
        this.#startWaiting();
      });
    }
  }

  async #run(call: ScriptCall): Promise<void> {
    try {
      const answer = await this.#perform(call);
      this.#ready.set(call.id, JSON.stringify(answer));
      this.#answer();
    } catch (error) {
      // Nothing may follow from a call that was suspended: the agent runs the script again later.
      this.#waiting.clear();
      this.#reject(error);
    }
  }

  /** Sends the next answers in order, independent of which call was faster. */
  #answer(): void {
    // A call that was aborted because the script did not wait for it.
    if (this.#hasEnded) return;
    while (this.#ready.has(this.#nextReady)) this.#nextReady++;
    const count = this.#nextReady - this.#nextAnswer;
    if (count < (this.#posted === 0 ? 1 : ANSWERS_AT_ONCE)) return;
    const answers: AnsweredCall[] = [];
    for (; this.#nextAnswer < this.#nextReady; this.#nextAnswer++) {
      const id = this.#nextAnswer;
      answers.push({ id, json: this.#ready.get(id) ?? "" });
      this.#ready.delete(id);
    }
    this.#post({ type: "answers", answers });
  }

  async #perform({ kind, json }: ScriptCall): Promise<CallAnswer> {
    const request: unknown = JSON.parse(json);
    const fields = isRecord(request) ? request : {};
    if (kind === "tool") return await this.#callTool(String(fields.name), fields.args);
    if (kind === "agent") return await this.#startAgent(fields);
    // One after the other: a thousand searches in one go must not block the program.
    this.#searches = this.#searches.then(() => setImmediate());
    await this.#searches;
    const { catalog } = this.#options;
    try {
      return {
        value: kind === "find" ? catalog.find(fields.words, fields.limit) : catalog.describe(fields.name),
      };
    } catch (error) {
      return { error: { message: errorMessage(error) } };
    }
  }

  async #callTool(name: string, args: unknown): Promise<CallAnswer> {
    const { callTool } = this.#options.call;
    if (!callTool) return failed(name, "no agent runs this script, so it cannot call tools");
    if (!isRecord(args)) {
      return failed(name, `its arguments must be an object: tools.${name}({ … })`);
    }
    const before = this.#denied.size === 0 ? undefined : this.#denied.get(keyOf(name, args));
    if (before) {
      this.#countDenial();
      return before;
    }
    const result = await callTool(name, args);
    this.#attach(result);
    const answer = this.#answerOf(name, result);
    if (result.outcome === "denied") {
      // The same call is not decided about again: a script that retries must not ask the user forever.
      this.#denied.set(keyOf(name, args), answer);
      this.#countDenial();
    }
    return answer;
  }

  #answerOf(name: string, { outcome, text, value }: ToolResult): CallAnswer {
    if (outcome !== "ok") return { error: { message: text, tool: name, outcome } };
    if (value !== undefined) return { value };
    if (!this.#options.catalog.hasValues(name)) return { value: text };
    return failed(name, `it ran, but its result is too large to be passed as a value: ${text.slice(0, 500)}`);
  }

  async #startAgent({ task, tools, label }: Readonly<Record<string, unknown>>): Promise<CallAnswer> {
    const { startAgent } = this.#options.call;
    if (!startAgent) return failed("agent", "no agent runs this script, so it cannot start agents");
    if (typeof task !== "string") return failed("agent", "it takes a task: agent({ task: … })");
    const names = Array.isArray(tools) ? tools.map(String) : undefined;
    try {
      const { text, finishReason } = await startAgent({
        message: task,
        inheritPrompt: true,
        // Two writing agents in the same directory would overwrite each other's changes.
        exclusive: this.#options.catalog.mayWrite(names),
        ...(tools !== undefined && { tools: tools as string[] }),
        label: typeof label === "string" && label !== "" ? label : "script",
      });
      if (finishReason === "stop") return { value: text };
      return failed("agent", `it ended with "${finishReason}": ${text}`);
    } catch (error) {
      if (isRecord(error) && error.code === "suspended") throw error;
      return failed("agent", errorMessage(error));
    }
  }

  #attach({ parts = [] }: ToolResult): void {
    for (const part of parts) {
      try {
        this.#options.call.attach?.(part);
      } catch {
        this.#unattached++;
      }
    }
  }

  #countDenial(): void {
    if (++this.#denials > MAX_DENIALS) this.#stop(`more than ${MAX_DENIALS} of its calls were denied`);
  }

  #stop(reason: string): void {
    this.#settle({ type: "stopped", text: reason, unawaited: [], dropped: 0 });
  }

  #settle(end: ScriptEnd): void {
    this.#waiting.clear();
    this.#resolve({
      ...end,
      output: this.#output.join(""),
      calls: this.#calls,
      unattached: this.#unattached,
    });
  }
}

function keyOf(name: string, args: unknown): string {
  return JSON.stringify([name, args]);
}

function failed(tool: string, problem: string): CallAnswer {
  return { error: { message: `Error executing ${tool}: ${problem}.`, tool, outcome: "error" } };
}

import type { AgentEvent, ApprovalRequest, DoneEvent, TokenUsage, ToolOutcome } from "@agent/core";
import { isLiveTerminal, plainActivity, terminalStyle, usageText } from "@agent/terminal/host";
import { note, print, printLine } from "../process/output.js";
import type { Outcome } from "./outcome.js";

/** The version of the JSON output. It increases only when a reader of the old format would break. */
const SCHEMA_VERSION = 1;

export type OutputFormat = "text" | "json" | "stream-json";
export const OUTPUT_FORMATS: readonly OutputFormat[] = ["text", "json", "stream-json"];

/** Information that is known before the first answer. */
export interface RunInfo {
  readonly model: string;
  readonly provider: string;
  readonly cwd: string;
  readonly tools: readonly string[];
  readonly session: string | undefined;
}

/** Reports events to the caller of the command, in the requested format. */
export interface Reporter {
  start(info: RunInfo): void;
  event(event: AgentEvent): void;
  finish(outcome: Outcome): void;
  /** Shows a warning. Default: standard error. */
  notice?(message: string): void;
  /** Leaves the terminal to a question while `work` runs. `call` is the subject of the question. */
  whileAsking?<T>(work: () => Promise<T>, call?: ApprovalRequest): Promise<T>;
}

export interface ReporterOptions {
  readonly format: OutputFormat;
  /** Whether only errors and warnings go to standard error. */
  readonly quiet: boolean;
  /** Whether the answer is one value, which is printed alone. */
  readonly isStructured: boolean;
}

/** On a terminal a task is shown as in the chat; in a pipe only the answer is on standard output. */
export async function createReporter({ format, quiet, isStructured }: ReporterOptions): Promise<Reporter> {
  if (format !== "text") return new JsonReporter(format === "stream-json");
  if (quiet || isStructured || !isLiveTerminal() || !process.stderr.isTTY) return new TextReporter(quiet);
  const { LiveReporter } = await import("./liveReporter.js");
  return new LiveReporter(process.stdout, terminalStyle());
}

/** The answer on standard output, everything else on standard error. */
class TextReporter implements Reporter {
  readonly #quiet: boolean;
  #activity: (event: AgentEvent) => void = () => undefined;
  #done: DoneEvent | undefined;

  constructor(quiet: boolean) {
    this.#quiet = quiet;
  }

  start(): void {
    if (!this.#quiet) this.#activity = plainActivity((text) => process.stderr.write(text));
  }

  event(event: AgentEvent): void {
    if (event.type === "done") this.#done = event;
    this.#activity(event);
  }

  finish({ error }: Outcome): void {
    const answer = this.#done && answerText(this.#done);
    if (answer) printLine(answer);
    if (this.#done?.usage.cost !== undefined && !this.#quiet) note(`agent: ${usageText(this.#done)}`);
    if (error !== undefined) note(`agent: ${error}`);
  }
}

interface CallRecord {
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  readonly summary?: string;
}

/** Prints one JSON object at the end, or with `stream` one per line for every event. */
class JsonReporter implements Reporter {
  readonly #stream: boolean;
  readonly #calls: CallRecord[] = [];
  readonly #started = performance.now();
  #info: RunInfo | undefined;
  #text = "";
  #output: unknown;
  #turns = 0;
  #usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };

  constructor(stream: boolean) {
    this.#stream = stream;
  }

  start(info: RunInfo): void {
    this.#info = info;
    if (this.#stream) this.#write({ type: "start", ...info });
  }

  event(event: AgentEvent): void {
    if (event.type === "tool_end") {
      const { name, outcome, durationMs, summary } = event;
      this.#calls.push({ name, outcome, durationMs, ...(summary !== undefined && { summary }) });
    }
    if (event.type === "usage") this.#usage = event.total;
    if (event.type === "done") {
      this.#text = event.text;
      this.#output = event.output;
      this.#turns = event.turns;
      this.#usage = event.usage;
    }
    if (this.#stream) this.#write(event);
  }

  finish({ exitCode, error }: Outcome): void {
    this.#write({
      type: "result",
      exitCode,
      text: this.#text,
      ...(this.#output !== undefined && { output: this.#output }),
      ...(error !== undefined && { error }),
      model: this.#info?.model,
      provider: this.#info?.provider,
      session: this.#info?.session,
      turns: this.#turns,
      usage: this.#usage,
      ...(this.#usage.cost !== undefined && { cost: this.#usage.cost }),
      toolCalls: this.#calls,
      durationMs: performance.now() - this.#started,
    });
  }

  #write(value: object): void {
    print(`${JSON.stringify({ v: SCHEMA_VERSION, ...value })}\n`);
  }
}

/** With `--schema` only the value, as JSON. */
function answerText({ text, output }: DoneEvent): string {
  return output === undefined ? text : JSON.stringify(output, undefined, 2);
}

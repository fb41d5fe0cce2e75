import type { AgentEvent, TokenUsage, ToolOutcome } from "@agent/core";
import { plainActivity } from "../display/plainActivity.js";
import { note, print, printLine } from "../process/output.js";
import type { Outcome } from "./outcome.js";

/** The version of the JSON the command prints. It rises only when a reader of the old form would break. */
const SCHEMA_VERSION = 1;

export type OutputFormat = "text" | "json" | "stream-json";
export const OUTPUT_FORMATS: readonly OutputFormat[] = ["text", "json", "stream-json"];

/** What is known before the first answer. */
export interface RunInfo {
  readonly model: string;
  readonly provider: string;
  readonly cwd: string;
  readonly tools: readonly string[];
  readonly session: string | undefined;
}

/** Tells the caller of the command what happens, in the form it asked for. */
export interface Reporter {
  start(info: RunInfo): void;
  event(event: AgentEvent): void;
  finish(outcome: Outcome): void;
}

export function createReporter(format: OutputFormat, quiet: boolean): Reporter {
  if (format === "text") return new TextReporter(quiet);
  return new JsonReporter(format === "stream-json");
}

/** The answer on standard output, everything else on standard error. */
class TextReporter implements Reporter {
  readonly #quiet: boolean;
  #activity: (event: AgentEvent) => void = () => undefined;
  #answer: string | undefined;

  constructor(quiet: boolean) {
    this.#quiet = quiet;
  }

  start(): void {
    if (!this.#quiet) this.#activity = plainActivity((text) => process.stderr.write(text));
  }

  event(event: AgentEvent): void {
    if (event.type === "done") this.#answer = event.text;
    this.#activity(event);
  }

  finish({ error }: Outcome): void {
    if (this.#answer !== undefined && this.#answer !== "") printLine(this.#answer);
    if (error !== undefined) note(`agent: ${error}`);
  }
}

interface CallRecord {
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  readonly summary?: string;
}

/** One JSON object at the end, or with `stream` one a line for everything that happens. */
class JsonReporter implements Reporter {
  readonly #stream: boolean;
  readonly #calls: CallRecord[] = [];
  readonly #started = performance.now();
  #info: RunInfo | undefined;
  #text = "";
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
      this.#turns = event.turns;
    }
    if (this.#stream) this.#write(event);
  }

  finish({ exitCode, error }: Outcome): void {
    this.#write({
      type: "result",
      exitCode,
      text: this.#text,
      ...(error !== undefined && { error }),
      model: this.#info?.model,
      provider: this.#info?.provider,
      session: this.#info?.session,
      turns: this.#turns,
      usage: this.#usage,
      toolCalls: this.#calls,
      durationMs: performance.now() - this.#started,
    });
  }

  #write(value: object): void {
    print(`${JSON.stringify({ v: SCHEMA_VERSION, ...value })}\n`);
  }
}

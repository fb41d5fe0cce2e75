import type { JsonSchema } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import type { Inspection, LateTools, SeenTool, Task } from "./probe/messages.js";
import { type ProbeOptions, type ProbeResult, runProbe } from "./runProbe.js";
import type { CheckPackOptions, Finding, SampleCall } from "./types.js";

const DEFAULT_SETTLE_MS = 10_000;
const ABORT_AFTER_MS = 200;

/** The result of one check: the problems, and what could not be checked. */
export interface CheckVerdict {
  readonly findings: readonly Finding[];
  readonly notes?: readonly string[];
  /** Observations that do not count against the pack. */
  readonly remarks?: readonly string[];
}

/** One check: a property of a good pack. */
export interface Check {
  readonly id: string;
  readonly title: string;
  run(subject: Subject): CheckVerdict | Promise<CheckVerdict>;
}

/** The pack under test. Each call is made once; all checks share its result. */
export class Subject {
  readonly inspection: Inspection;
  /** The tools that were registered after `register` had returned. */
  readonly late: LateTools;
  /** The process that imported the pack: its output and files. */
  readonly probe: ProbeResult;
  readonly options: ProbeOptions;
  readonly #module: string;
  readonly #calls = new Map<string, Promise<ProbeResult>>();

  constructor(
    module: string,
    inspection: Inspection,
    late: LateTools,
    probe: ProbeResult,
    options: ProbeOptions,
  ) {
    this.#module = module;
    this.inspection = inspection;
    this.late = late;
    this.probe = probe;
    this.options = options;
  }

  get tools(): readonly SeenTool[] {
    return [...this.inspection.first.tools, ...this.late.tools];
  }

  samples(tool: SeenTool): readonly SampleCall[] {
    const sample = ownEntry(this.options.samples, tool.name);
    if (sample === undefined) return [];
    return Array.isArray(sample) ? sample : [sample as SampleCall];
  }

  slowSample(tool: SeenTool): SampleCall | undefined {
    return ownEntry(this.options.slowSamples, tool.name);
  }

  /** Makes the calls, one after the other, in a separate process. */
  call(tool: SeenTool, calls: readonly SampleCall[]): Promise<ProbeResult> {
    return this.#once({ ...this.#task("call", tool), calls });
  }

  /** Makes one call and aborts it. A slow one runs for a moment first. */
  abort(tool: SeenTool, call: SampleCall, slow: boolean): Promise<ProbeResult> {
    return this.#once({
      ...this.#task("abort", tool),
      calls: [call],
      abortAfterMs: slow ? ABORT_AFTER_MS : 0,
    });
  }

  #task(kind: Task["kind"], tool: SeenTool): Task {
    return { ...newTask(kind, this.#module, this.options), tool: tool.name };
  }

  #once(task: Task): Promise<ProbeResult> {
    const key = JSON.stringify([task.kind, task.tool, task.calls]);
    const made = this.#calls.get(key) ?? runProbe(task, this.options);
    this.#calls.set(key, made);
    return made;
  }
}

/** A task without calls. */
export function newTask(
  kind: Task["kind"],
  module: string,
  { options, isolated = false, settleMs = DEFAULT_SETTLE_MS }: CheckPackOptions,
): Task {
  return { kind, module, isolated, options, tool: "", calls: [], abortAfterMs: 0, settleMs };
}

/** The JSON Schema of the tool's arguments, if it has one. */
export function parametersOf(tool: SeenTool): JsonSchema | undefined {
  const { parameters } = functionOf(tool);
  return typeof parameters === "object" && parameters !== null ? (parameters as JsonSchema) : undefined;
}

/** The `function` block of the tool's schema, or an empty one. */
export function functionOf(tool: SeenTool): Readonly<Record<string, unknown>> {
  const { function: block } = (tool.schema ?? {}) as { function?: unknown };
  return isRecord(block) ? block : {};
}

function ownEntry<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

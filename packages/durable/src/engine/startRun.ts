import { AgentError } from "@agent/core";
import { check, checkOptions, errorMessage, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import type { RunAccess } from "./engine.js";

const ID = /^[\w-]{1,100}$/;
const MAX_TITLE = 200;
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

export interface StartOptions {
  /**
   * The same id twice starts one run, for a caller that may have to retry. An id that belongs to a run with another
   * tenant, definition or input is refused. Default: a new one.
   */
  readonly id?: string;
  /** The tenant whose limits apply. Default `default`. */
  readonly tenant?: string;
  /** Only a worker with all of these labels claims the run: `["workspace:shop"]`. */
  readonly labels?: readonly string[];
  /** Higher is claimed first, among runs of one tenant. Default 0. */
  readonly priority?: number;
  /** A one-line title for lists of runs. At most 200 characters. */
  readonly title?: string;
  /** No worker claims it before this time: a `Date`, or milliseconds since 1970. Default: now. */
  readonly startAt?: Date | number;
  /** A W3C `traceparent`, to find the run in the trace of its caller. */
  readonly trace?: string | undefined;
}

const OPTIONS: OptionChecks<StartOptions> = {
  id: (name, value) => {
    if (typeof value !== "string" || !ID.test(value)) {
      throw invalidArgument(name, '1 to 100 letters, digits, "_" or "-"', value);
    }
  },
  tenant: (name, value) => {
    if (typeof value !== "string" || value === "" || value.length > 200) {
      throw invalidArgument(name, "a string of 1 to 200 characters", value);
    }
  },
  labels: (name, value) => {
    if (!Array.isArray(value)) throw invalidArgument(name, "an array of strings", value);
    for (const [index, label] of value.entries()) check.text(`${name}[${index}]`, label);
  },
  priority: (name, value) => {
    if (!Number.isInteger(value) || Math.abs(value as number) > 1000) {
      throw invalidArgument(name, "a whole number from -1000 to 1000", value);
    }
  },
  title: (name, value) => {
    if (typeof value !== "string" || value.length > MAX_TITLE) {
      throw invalidArgument(name, `a string of at most ${MAX_TITLE} characters`, value);
    }
  },
  startAt: (name, value) => {
    if (!Number.isFinite(Number(value)) || !(typeof value === "number" || value instanceof Date)) {
      throw invalidArgument(name, "a Date or milliseconds since 1970", value);
    }
  },
  trace: check.text,
};

/**
 * Queues a run of a definition and resolves to its id, once it is stored. The input must be a JSON value: the
 * definition gets it in whichever process executes the run. Rejects with `invalid_argument` if the id is in use.
 */
export async function startRun<Input>(
  engine: RunAccess,
  definition: { readonly name: string; readonly version: string; create?(run: { input: Input }): unknown },
  input: Input,
  options: StartOptions = {},
): Promise<string> {
  check.object("definition", definition);
  check.text("definition.name", definition.name);
  check.text("definition.version", definition.version);
  checkOptions("startRun", options, OPTIONS);
  const {
    id = crypto.randomUUID(),
    tenant = "default",
    labels = [],
    priority = 0,
    title,
    trace,
    startAt,
  } = options;
  await engine.create({
    id,
    definition: definition.name,
    version: definition.version,
    tenant,
    labels: [...new Set(labels)].sort(),
    priority,
    input: asJson(input),
    ...(title !== undefined && { title }),
    ...(trace !== undefined && { trace }),
    ...(startAt !== undefined && { startAt: Number(startAt) }),
  });
  return id;
}

/** The value as another process will read it. */
function asJson(input: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(input);
  } catch (error) {
    throw new AgentError("invalid_argument", `input is not a JSON value: ${errorMessage(error)}`);
  }
  if (text === undefined) throw invalidArgument("input", "a JSON value", input);
  if (text.length > MAX_INPUT_BYTES) {
    throw new AgentError(
      "invalid_argument",
      `input has ${text.length} characters as JSON; at most ${MAX_INPUT_BYTES} are kept. Pass the name of a file instead.`,
    );
  }
  return JSON.parse(text);
}

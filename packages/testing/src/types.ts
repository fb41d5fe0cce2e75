/** A path or a `file:` URL of the built module: what a fresh process imports to get the pack. */
export type PackLocation = string | URL;

/** The arguments of one call. */
export type SampleCall = Readonly<Record<string, unknown>>;

export interface CheckPackOptions {
  /** The options that the pack is registered with, as in `agent.config.ts`. */
  readonly options?: unknown;
  /**
   * Calls that are safe to make for real, by tool name: one or several. Without one the checks that need a running tool
   * report `not checked`. If the tool can produce much output, include a call that does.
   */
  readonly samples?: Readonly<Record<string, SampleCall | readonly SampleCall[]>>;
  /** Calls that run until they are stopped, by tool name: `{ run_bash: { command: "sleep 60" } }`. */
  readonly slowSamples?: Readonly<Record<string, SampleCall>>;
  /** Creates the files that the samples need in their empty directory. Called for each run of a tool. */
  readonly setup?: (workspace: string) => void | Promise<void>;
  /** The maximum size of one result in bytes (UTF-8). Default: 1 MiB, the limit of the registry. */
  readonly maxOutputBytes?: number;
  /** How long a tool may take to answer, and to stop after an abort. Default: 10 seconds. */
  readonly settleMs?: number;
  /**
   * `true` runs the pack like `agent pack add`: its tools register from a manifest, and its code runs isolated, with
   * what it declares in `needs`. Where isolation is not enforced, no check runs, and the report says so.
   */
  readonly isolated?: boolean;
  /**
   * `true` runs the kit itself, and with it the pack, in a sandbox without a network, programs and files of the user: for a pack
   * of someone else. Tools without a sample are called with made-up arguments, to see what they reach for. Where isolation is not
   * enforced the pack runs with the rights of the user, and the report says so.
   */
  readonly sandboxed?: boolean;
  /** How long one run of the pack in its own process may take. Default: 90 seconds. */
  readonly timeoutMs?: number;
}

/** One problem: where it is, the expected and actual result, and how to fix it. */
export interface Finding {
  readonly tool?: string;
  readonly expected: string;
  readonly got: string;
  readonly hint: string;
}

export type CheckStatus = "passed" | "failed" | "not_checked";

export interface CheckResult {
  /** Stable, for filtering: `risky-off`. */
  readonly id: string;
  /** A sentence about what a good pack does. */
  readonly title: string;
  readonly status: CheckStatus;
  readonly findings: readonly Finding[];
  /** What the check skipped, and why. */
  readonly notes: readonly string[];
  /** Observations that do not count against the pack, such as what its dependencies do on import. */
  readonly remarks?: readonly string[];
}

/** A tool as the pack declares it. */
export interface PackTool {
  readonly name: string;
  readonly enabled: boolean;
  readonly capabilities: readonly string[];
  readonly description: string;
}

/** The content of a pack, or why it cannot be loaded. */
export interface PackInspection {
  /** The name it declares. */
  readonly packName?: string;
  /** Its tools, including those that it registers later. */
  readonly tools: readonly PackTool[];
  /** The variables that hold its secrets. */
  readonly secrets: readonly string[];
  /** Its services besides tools: `hooks`, `command /deploy`, `skill notes`. */
  readonly services: readonly string[];
  /** Why tools that were announced for later did not load. */
  readonly lateProblems: readonly string[];
  readonly problem?: string;
}

export interface PackReport {
  /** With `sandboxed`, how the pack was kept from doing harm: `enforced (bubblewrap)`. */
  readonly sandbox?: string;
  /** The name the pack declares, or where it was loaded from. */
  readonly pack: string;
  /** False if any check failed. A check that could not be run does not count. */
  readonly ok: boolean;
  readonly tools: readonly PackTool[];
  readonly checks: readonly CheckResult[];
}

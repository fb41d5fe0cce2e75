// Messages between the kit and the process that the pack runs in. Plain data only.

/** A tool as it was registered, valid or not: no field is trusted to have the right type. */
export interface SeenTool {
  readonly name: string;
  readonly enabled: boolean;
  readonly capabilities: unknown;
  readonly schema: unknown;
  /** Why `getSchema()` could not be read, or why it differs between two calls. */
  readonly schemaProblem?: string;
  /** Why the registry refuses the tool, if it does. */
  readonly refusal?: string;
}

export interface Registration {
  readonly error?: string;
  readonly tools: readonly SeenTool[];
  /** Whether the pack announced further tools with `registerLater`. */
  readonly announcesMore: boolean;
  /** The variables it claims as secrets. */
  readonly secrets: readonly string[];
  /** What it provides besides tools, by kind and name. */
  readonly services: readonly string[];
}

/** The tools that a pack announced with `registerLater`. */
export interface LateTools {
  readonly tools: readonly SeenTool[];
  /** Why some did not load: `the tools of the server: fetch failed`. */
  readonly failures: readonly string[];
}

export interface Inspection {
  readonly importError?: string;
  /** What importing changed in the process, as text. */
  readonly importEffects: readonly string[];
  /** What importing its dependencies changed in the process. Not counted against the pack. */
  readonly dependencyEffects: readonly string[];
  readonly packName: unknown;
  readonly packApiVersion: unknown;
  /** Whether it declares that it calls other tools. */
  readonly mayCall?: boolean;
  readonly first: Registration;
  readonly second: Registration;
  /** What registering changed in the process, as text. */
  readonly registerEffects: readonly string[];
  /** A registration with a host that provides everything; the others have a host that provides nothing. */
  readonly whole: Registration;
  /** The problems of the prompt text and the skills of the pack, in either host. */
  readonly serviceProblems: readonly string[];
  /** Why a made-up option was refused; absent if it was accepted. */
  readonly unknownOptionRefusal?: string;
}

export interface CallReport {
  /** Why the tool could not be called at all. */
  readonly refusal?: string;
  readonly outcome: string;
  readonly text: string;
  /** What `execute` itself returned or threw, before the registry shortens a result or rewords an error. */
  readonly returned: "string" | "nothing yet" | "an error" | (string & {});
  readonly bytes: number;
  /** Whether `execute` settled in time, also after an abort. */
  readonly settled: boolean;
  /** The problem with `describeCall` or `previewCall` for this call. */
  readonly descriptionProblem?: string;
  /** Why a host cannot use the view or the value that the call reported. */
  readonly reportProblem?: string;
  /** The problems of the calls of other tools that this call made. */
  readonly nestedProblem?: string;
  /** Whether it called a tool or started an agent. */
  readonly hasNested?: boolean;
  /** The destinations of the call's connections: `example.com:443`. */
  readonly connections?: readonly string[];
}

export interface Task {
  readonly kind: "inspect" | "loadLate" | "call" | "abort";
  readonly module: string;
  /** Whether its code runs in a separate process, like that of an added pack. */
  readonly isolated: boolean;
  readonly options: unknown;
  readonly tool: string;
  /** One call after the other, in one process. */
  readonly calls: readonly Readonly<Record<string, unknown>>[];
  /** How long to let the tool run before the abort. */
  readonly abortAfterMs: number;
  /** How long a tool may take to settle. */
  readonly settleMs: number;
}

export interface Answer {
  readonly inspection?: Inspection;
  readonly late?: LateTools;
  readonly calls?: readonly CallReport[];
  /** What still keeps the process alive after the work: `Timeout`, `TCPSocketWrap`. */
  readonly resources: readonly string[];
  /** Why `dispose()` of the pack failed, if it did. */
  readonly disposeError?: string;
  /** The working directory after the calls, if a call changed it. */
  readonly movedTo?: string;
}

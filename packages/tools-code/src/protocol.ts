/** The limits of a script. */
export interface ScriptLimits {
  /** CPU time in milliseconds; waiting for calls does not count. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Calls of tools, child agents and searches for tools together. */
  readonly maxCalls: number;
  /** Characters that the script may print and return. */
  readonly maxOutput: number;
}

/** Characters of JSON in one call. */
export const MAX_CALL_CHARACTERS = 1024 * 1024;

export type CallKind = "tool" | "agent" | "find" | "describe";

/** A call that the script made. The ids count from 0. */
export interface ScriptCall {
  readonly id: number;
  readonly kind: CallKind;
  readonly json: string;
}

/** The result of a call as JSON: a `CallAnswer`. */
export interface AnsweredCall {
  readonly id: number;
  readonly json: string;
}

/** What the script gets for a call: a value, or an error to throw. */
export type CallAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly tool?: string; readonly outcome?: string } };

export type ToWorker =
  | {
      readonly type: "run";
      /** Threads share its compiled code. */
      readonly wasm: WebAssembly.Module;
      readonly script: string;
      readonly limits: ScriptLimits;
    }
  | { readonly type: "answers"; readonly answers: readonly AnsweredCall[] };

export type FromWorker =
  | {
      readonly type: "calls";
      readonly calls: readonly ScriptCall[];
      readonly output: string;
      /** The script is still computing: another message follows. */
      readonly more?: true;
    }
  | { readonly type: "end"; readonly end: ScriptEnd; readonly output: string };

/** The outcome of a script. */
export interface ScriptEnd {
  readonly type: "returned" | "threw" | "stopped";
  /** The returned value, the error, or the reason it was stopped. */
  readonly text: string;
  /** The calls that the script did not wait for, by name. */
  readonly unawaited: readonly string[];
  /** Characters of output beyond the limit, which were dropped. */
  readonly dropped: number;
}

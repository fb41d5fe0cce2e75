/** Options of the pack. */
export interface CodeOptions {
  /** Milliseconds in which a script may compute. Waiting for its calls does not count. Default 10000. */
  readonly cpuMs?: number;
  /** Milliseconds until a script is stopped, with everything it waits for. Default 1800000 (30 minutes). */
  readonly timeoutMs?: number;
  /** Megabytes of memory of a script. Default 64. */
  readonly memoryMb?: number;
  /** How many calls a script may make. Default 1000. */
  readonly maxCalls?: number;
  /** How many characters of output the model gets; all of it goes to a file if there is more. Default 20000. */
  readonly maxOutput?: number;
  /** About how many tokens of declarations of tools the model is sent. Further tools are found with `find`. Default 2000. */
  readonly declarationTokens?: number;
}

export const OPTIONS = {
  type: "object",
  properties: {
    cpuMs: { type: "integer", minimum: 1, maximum: 3_600_000 },
    timeoutMs: { type: "integer", minimum: 1, maximum: 24 * 3_600_000 },
    memoryMb: { type: "integer", minimum: 4, maximum: 1024 },
    maxCalls: { type: "integer", minimum: 1, maximum: 100_000 },
    maxOutput: { type: "integer", minimum: 1000, maximum: 1_000_000 },
    declarationTokens: { type: "integer", minimum: 0, maximum: 50_000 },
  },
  additionalProperties: false,
} as const;

export function withDefaults(options: CodeOptions): Required<CodeOptions> {
  return {
    cpuMs: 10_000,
    timeoutMs: 30 * 60_000,
    memoryMb: 64,
    maxCalls: 1000,
    maxOutput: 20_000,
    declarationTokens: 2000,
    ...options,
  };
}

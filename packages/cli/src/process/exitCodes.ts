/** The exit codes of the `agent` command. Documented and stable: scripts branch on these. */
export const EXIT = {
  done: 0,
  /** The model or its server failed. */
  model: 1,
  /** The config, a flag or a pack is wrong; nothing was run. */
  config: 2,
  /** A tool failed, where the run was about that tool. */
  tool: 3,
  /** A call needed a user's consent, or the project its trust, and there was none. */
  refused: 4,
  /** The turn limit, or the same calls again and again. */
  turnLimit: 5,
  /** The time limit of the whole run. */
  timeout: 6,
  /** An uncaught error, in the program itself or in a pack's timer. */
  crashed: 70,
  /** Standard output could not be written, as on a full disk: the output is incomplete. */
  output: 74,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The signals that end the program, and the exit codes they stand for. */
export const SIGNAL_EXITS = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hungUp,
} as const;

export type EndingSignal = keyof typeof SIGNAL_EXITS;
export const ENDING_SIGNALS: readonly EndingSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

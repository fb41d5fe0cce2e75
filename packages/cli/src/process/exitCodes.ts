import { CHAT_EXITS } from "@agent/terminal/host";

/** The exit codes of the `agent` command. Documented and stable: scripts branch on these. */
export const EXIT = {
  /** The model or its server failed. */
  model: 1,
  /** The config, a flag or a pack is wrong; nothing was run. */
  config: 2,
  /** A tool failed, and the run was about that tool. */
  tool: 3,
  /** A call needed the user's approval, or the project its trust, and there was none. */
  refused: 4,
  /** The turn limit, or repeated identical calls. */
  turnLimit: 5,
  /** The time limit of the whole run. */
  timeout: 6,
  /** The limit of cost or tokens. */
  budget: 7,
  /** An uncaught error, in the program itself or in a pack's timer. */
  crashed: 70,
  /** Standard output could not be written, as on a full disk: the output is incomplete. */
  output: 74,
  ...CHAT_EXITS,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a chat: 0, or the code of the signal that terminated it. */
export const CHAT_EXITS = { done: 0, hungUp: 129, interrupted: 130, terminated: 143 } as const;
export type ChatExit = (typeof CHAT_EXITS)[keyof typeof CHAT_EXITS];

/** The signals that terminate a program, and their exit codes. */
export const SIGNAL_EXITS = {
  SIGINT: CHAT_EXITS.interrupted,
  SIGTERM: CHAT_EXITS.terminated,
  SIGHUP: CHAT_EXITS.hungUp,
} as const;

export type EndingSignal = keyof typeof SIGNAL_EXITS;
export const ENDING_SIGNALS: readonly EndingSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** How many programs the user runs in this terminal, such as an editor. */
let programs = 0;

/** While `work` runs a program in this terminal, Ctrl-C is for that program and does not end this one. */
export async function ignoringInterrupts<T>(work: () => Promise<T>): Promise<T> {
  programs++;
  try {
    return await work();
  } finally {
    programs--;
  }
}

/** Calls `end` with the exit code of a signal, instead of terminating the process. Call the result to stop. */
export function onEndingSignals(signals: readonly EndingSignal[], end: (code: ChatExit) => void): () => void {
  const handlers = signals.map((signal) => {
    const handler = (): void => {
      if (signal !== "SIGINT" || programs === 0) end(SIGNAL_EXITS[signal]);
    };
    return [signal, handler] as const;
  });
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

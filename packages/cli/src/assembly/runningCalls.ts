import type { Steps } from "@agent/core";
import type { CrashGuard } from "../process/crash.js";

/** Steps that run everything, and tell the guard which tools are running: for a message about a crash. */
export function notedSteps(guard: CrashGuard): Steps {
  return {
    answer: (_key, ask) => ask(),
    call: async ({ name }, run) => {
      let finished: (() => void) | undefined;
      try {
        return await run(() => {
          finished = guard.running(name);
        });
      } finally {
        finished?.();
      }
    },
  };
}

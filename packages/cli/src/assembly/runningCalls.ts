import type { Steps } from "@agent/core/host";
import type { CrashGuard } from "../process/crash.js";

const DIRECT: Steps = { answer: (_key, ask) => ask(), call: (_key, run) => run() };

/** Wraps `steps` to tell the crash guard which tools are running, for its message. */
export function notedSteps(guard: CrashGuard, steps: Steps = DIRECT): Steps {
  return {
    answer: (key, ask) => steps.answer(key, ask),
    call: (key, run) =>
      steps.call(key, async (intent) => {
        let finished: (() => void) | undefined;
        try {
          return await run(async () => {
            await intent?.();
            finished = guard.running(key.name);
          });
        } finally {
          finished?.();
        }
      }),
  };
}

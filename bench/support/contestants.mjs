// Contestants that run in separate processes, so that none pays for what another left behind.
import { fork } from "node:child_process";
import { once } from "node:events";

/** A contestant could not do its work: `who` is its name. */
export class ContestantError extends Error {
  constructor(who, problem) {
    super(problem);
    this.who = who;
  }
}

/**
 * Starts `file`, a program that answers each piece of work it is sent with one message: what the work took, or
 * `{ problem }`.
 */
export function startContestant(who, file, args) {
  const child = fork(file, args);
  // A send to a process that has ended fails; `ended` reports that.
  child.on("error", () => undefined);
  const ended = once(child, "exit").then(([code, signal]) => ({
    problem: `its process ended with ${signal ?? `exit code ${code}`}`,
  }));
  return {
    who,
    /** What the work took. Rejects with a `ContestantError`, also if the process ends without an answer. */
    async work(work) {
      const answered = new AbortController();
      const message = once(child, "message", { signal: answered.signal });
      message.catch(() => undefined);
      child.send(work);
      const answer = await Promise.race([message.then(([first]) => first), ended]);
      answered.abort();
      if (answer.problem !== undefined) throw new ContestantError(who, answer.problem);
      return answer;
    },
    stop() {
      child.kill();
    },
  };
}

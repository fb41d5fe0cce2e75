import type { Approve } from "@agent/core";
import { approvalLines, describeNeed } from "../chat/approvalQuestion.js";
import { PLAIN_STYLE } from "../display/style.js";
import { ask } from "../process/ask.js";
import { note } from "../process/output.js";

/** Who decides about calls that need a yes. */
export interface Approval {
  readonly approve: Approve;
  /** Whether the person has said yes to every call of this tool. */
  readonly isSettled: (name: string) => boolean;
}

/** Where nobody can be asked, a call that needs a yes is refused, and the model is told why. */
export function refuseWithoutTerminal(): Approval {
  return {
    approve: ({ name, needs }) => ({
      deny:
        needs.length === 0
          ? `${name} runs only after a person's yes, and there is no terminal to ask on. Take it out of "confirm" to run it unattended.`
          : `${needs.map(describeNeed).join("; ")}. That takes a person's yes, and there is no terminal to ask on. The person can allow it with --add-dir DIR or addDirs in the config.`,
    }),
    isSettled: () => false,
  };
}

/** Shows the call in full, invisible characters made visible, and asks. */
export function askOnTerminal(): Approval {
  const settled = new Set<string>();
  const approve: Approve = async (request) => {
    // The event that the call has started is on its way: its line must not get into the question.
    await new Promise(setImmediate);
    note(approvalLines(request, PLAIN_STYLE).join("\n"));
    const answer = await ask(
      "Run it? [y]es, [a]lways in this session, or no with a reason: ",
      request.signal,
    );
    const isAlways = /^a(lways)?$/i.test(answer);
    if (isAlways) settled.add(request.name);
    if (isAlways || /^y(es)?$/i.test(answer)) {
      note("executing…");
      return isAlways ? "always" : "allow";
    }
    const reason = answer.replace(/^no?\b[,:]?\s*/i, "");
    return { deny: reason === "" ? "the person said no." : `the person said no: ${reason}` };
  };
  return { approve, isSettled: (name) => settled.has(name) };
}

import type { Approve } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { ask } from "../ask.js";
import { note } from "../output.js";

/** Where nobody can be asked, a call that needs a yes is refused, and the model is told why. */
export function refuseWithoutTerminal(): Approve {
  return ({ name }) => ({
    deny: `${name} runs only after a person's yes, and there is no terminal to ask on. Take it out of "confirm" to run it unattended.`,
  });
}

/** Shows the call in full, invisible characters made visible, and asks. */
export function askOnTerminal(): Approve {
  return async ({ name, args }) => {
    // The event that the call has started is on its way: its line must not get into the question.
    await new Promise(setImmediate);
    note(`${name} wants to run:`);
    for (const [key, value] of Object.entries(args)) {
      note(`  ${key}: ${escapeInvisible(typeof value === "string" ? value : JSON.stringify(value))}`);
    }
    const answer = await ask("Run it? [y]es, [a]lways in this session, or no with a reason: ");
    if (/^y(es)?$/i.test(answer)) return "allow";
    if (/^a(lways)?$/i.test(answer)) return "always";
    const reason = answer.replace(/^no?\b[,:]?\s*/i, "");
    return { deny: reason === "" ? "the person said no." : `the person said no: ${reason}` };
  };
}

import type { Approve } from "@agent/core";
import { approvalLines, describeNeed } from "../chat/approvalQuestion.js";
import { PLAIN_STYLE } from "../display/style.js";
import { ask } from "../process/ask.js";
import { note } from "../process/output.js";

/** Where nobody can be asked, a call that needs a yes is refused, and the model is told why. */
export const refuseWithoutTerminal: Approve = ({ name, needs }) => ({
  deny:
    needs.length === 0
      ? `${name} runs only after a person's yes, and there is no terminal to ask on. Take it out of "confirm" to run it unattended.`
      : `${needs.map(describeNeed).join("; ")}. That takes a person's yes, and there is no terminal to ask on. The person can allow it with --add-dir DIR or addDirs in the config.`,
});

/** Shows the call in full, invisible characters made visible, and asks. */
export const askOnTerminal: Approve = async (request) => {
  note(approvalLines(request, PLAIN_STYLE).join("\n"));
  const answer = await ask("Run it? [y]es, [a]lways in this session, or no with a reason: ", request.signal);
  if (/^a(lways)?$/i.test(answer)) return "always";
  if (/^y(es)?$/i.test(answer)) return "allow";
  const reason = answer.replace(/^no?\b[,:]?\s*/i, "");
  return { deny: reason === "" ? "the person said no." : `the person said no: ${reason}` };
};

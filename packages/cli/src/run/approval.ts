import type { AskPerson } from "@agent/core/host";
import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import {
  type AskPermit,
  approvalLines,
  denial,
  describeNeed,
  PLAIN_STYLE,
  questionText,
  readDecision,
} from "@agent/terminal/host";
import { ask } from "../process/ask.js";
import { note } from "../process/output.js";

/** Without a terminal, a call that needs approval is denied, and the model is informed why. */
export const refuseWithoutTerminal: AskPerson = async ({ name, description }, _, runsInAuto) => {
  const { needs, caution } = description;
  if (needs.length > 0) {
    return {
      deny: `${needs.map(describeNeed).join("; ")}. That needs approval, and there is no terminal to ask on. The user can allow it with --add-dir DIR or addDirs in the config.`,
    };
  }
  const warning = caution === undefined ? "" : `${escapeToLine(caution)}. `;
  const cure = (await runsInAuto())
    ? 'The user can allow it with --mode auto, or with a rule in "permissions" in the config.'
    : 'The user can take it out of "confirm", or allow it with a rule in "permissions" in the config.';
  return { deny: `${warning}${name} needs approval, and there is no terminal to ask on. ${cure}` };
};

/** Shows the call in full, invisible characters made visible, and asks. */
export const askOnTerminal: AskPerson = async (request) => {
  note(approvalLines(request, PLAIN_STYLE).join("\n"));
  const choices = "[y]es, [a]lways in this session, or no with a reason: ";
  const answer = await ask(`${questionText(request)} ${choices}`, request.signal);
  // Anything but a clear yes is a denial, with the typed words as its reason.
  return readDecision(answer, request.name) ?? { deny: denial(answer) };
};

/** Asks whether a running call may do more than was approved. Anything but a clear yes is a no. */
export const askPermitOnTerminal: AskPermit = async ({ source, message, signal }) => {
  note(`${escapeToLine(source)} asks:\n${escapeInvisible(message)}`);
  const answer = await ask("Allow it? [o]nce, in this [s]ession, in this [p]roject, or no: ", signal);
  const scopes = ["once", "session", "project"] as const;
  const typed = answer.toLowerCase();
  return scopes.find((scope) => typed === scope || typed === scope[0]) ?? (signal.aborted ? undefined : "no");
};

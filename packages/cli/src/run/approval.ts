import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import {
  type AskPermit,
  type AskPerson,
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
export const refuseWithoutTerminal: AskPerson = async ({ name, description }) => {
  const { needs, caution } = description;
  return {
    deny:
      needs.length === 0
        ? `${caution === undefined ? "" : `${escapeToLine(caution)}. `}${name} runs only after a user's yes, and there is no terminal to ask on. Take it out of "confirm", or allow it under "permissions", to run it unattended.`
        : `${needs.map(describeNeed).join("; ")}. That takes a user's yes, and there is no terminal to ask on. The user can allow it with --add-dir DIR or addDirs in the config.`,
  };
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

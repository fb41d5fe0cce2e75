import { escapeToLine } from "@agent/internal";
import type { Aside } from "@agent/terminal/host";
import { askYesNo, atOnce, canAsk } from "../../process/ask.js";
import { type AskTrust, shownFile, type TrustPolicy } from "./trust.js";

/** How trust is decided: `--trust` grants it; otherwise the user is asked, if possible. */
export function trustPolicy(grant: boolean, aside: Aside = atOnce): TrustPolicy {
  return {
    grant,
    again: "this command",
    ...(canAsk() && { ask: (request) => aside(() => askForTrust(request)) }),
  };
}

const askForTrust: AskTrust = async ({ subject, file, untrusted, changed }) => {
  // Each path on its own line and escaped: a newline in a name must not add a line to this question.
  const others = untrusted.filter((path) => path !== file).map(shownFile);
  const article = subject === "eval" ? "an" : "a";
  const news = subject === "config" ? "This project has a config" : `This is ${article} ${subject}`;
  const lines = [
    changed
      ? `${escapeToLine(file)} has changed since you trusted it.`
      : `${news} you have not trusted: ${escapeToLine(file)}`,
    ...others.map((path) => `  it also loads ${path}`),
    `${article === "a" ? "A" : "An"} ${subject} is code and runs with your rights.`,
    `Trust it as it is now?${subject === "config" ? " (No runs without it.)" : ""}`,
  ];
  return await askYesNo(lines.join("\n"));
};

import type { OpenSessionRequest, PermissionChoice } from "@agent/acp";
import type { ApprovalRequest } from "@agent/core";
import { escapeToLine, spellOut } from "@agent/internal";
import type { AskPerson } from "../assembly/gate.js";
import type { AlwaysChoice } from "../permissions/alwaysChoices.js";
import type { PersonDecision } from "../permissions/permissions.js";

interface Answer extends PermissionChoice {
  readonly decision: PersonDecision;
}

const ALLOW: Answer = { id: "allow", name: "Allow", kind: "allow_once", decision: "allow" };
const REJECT: Answer = {
  id: "reject",
  name: "Reject",
  kind: "reject_once",
  decision: { deny: "the person rejected it." },
};

/** Asks about a call in the editor. "Always" makes the same rules as in the chat, for this session or the project. */
export function askInEditor(choose: OpenSessionRequest["choose"]): AskPerson {
  return async (request, _diff, always) => {
    const answers = answersFor(request, always);
    const chosen = await choose(
      request,
      answers.map(({ decision: _, ...choice }) => choice),
    );
    const answer = answers.find(({ id }) => id === chosen);
    return answer?.decision ?? { deny: "the person closed the question." };
  };
}

function answersFor(request: ApprovalRequest, choices: readonly AlwaysChoice[]): Answer[] {
  const whole = choices.at(-1);
  // For a command, offer the narrowest rule that is useful again: its first words, or exactly this command.
  const narrow = typeof request.args.command === "string" ? choices.at(-2) : undefined;
  const always = (choice: typeof whole, scope: "session" | "project"): Answer[] =>
    choice
      ? [
          {
            id: `${scope}-${choice === whole ? "tool" : "command"}`,
            name: escapeToLine(spellOut(`Always in this ${scope}: ${choice.label}`)),
            kind: "allow_always",
            decision: { always: choice.rule, scope },
          },
        ]
      : [];
  return [
    ALLOW,
    ...always(narrow, "session"),
    ...always(narrow, "project"),
    ...always(whole, "session"),
    ...(narrow ? [] : always(whole, "project")),
    REJECT,
  ];
}

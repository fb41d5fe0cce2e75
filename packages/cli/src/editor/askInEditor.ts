import type { OpenSessionRequest, PermissionChoice } from "@agent/acp";
import type { ApprovalRequest } from "@agent/core";
import { escapeToLine, spellOut } from "@agent/internal";
import type { AskPerson } from "../assembly/gate.js";
import type { AlwaysChoice } from "../permissions/alwaysChoices.js";
import type { PersonDecision } from "../permissions/permissions.js";
import { type AskPermit, PERMIT_CHOICES } from "../permissions/permit.js";

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
  return async (request, always) => {
    const answers = answersFor(request, always);
    const chosen = await choose(
      request,
      answers.map(({ decision: _, ...choice }) => choice),
    );
    const answer = answers.find(({ id }) => id === chosen);
    return answer?.decision ?? { deny: "the person closed the question." };
  };
}

/** Asks in the editor whether a running call may do more than was approved: a question with one choice. */
export function askPermitInEditor(ask: OpenSessionRequest["ask"]): AskPermit {
  return async ({ source, message, signal }) => {
    const options = PERMIT_CHOICES.map(({ value, label }) => ({ value, title: label }));
    const field = { name: "answer", type: "choice", title: "Allow it?", required: true, options } as const;
    const result = await ask({ source, message, fields: [field], signal });
    if (result.answer !== "yes") return result.answer === "no" ? "no" : undefined;
    return PERMIT_CHOICES.find(({ value }) => value === result.values.answer)?.value;
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

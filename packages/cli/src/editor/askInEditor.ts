import type { OpenSessionRequest, PermissionChoice } from "@agent/acp";
import { escapeToLine, spellOut } from "@agent/internal";
import {
  type AlwaysChoice,
  type AskPermit,
  type AskPerson,
  PERMIT_CHOICES,
  type PersonDecision,
} from "@agent/terminal/host";

interface Answer extends PermissionChoice {
  readonly decision: PersonDecision;
}

const ALLOW: Answer = { id: "allow", name: "Allow", kind: "allow_once", decision: "allow" };
const REJECT: Answer = {
  id: "reject",
  name: "Reject",
  kind: "reject_once",
  decision: { deny: "the user rejected it." },
};

/** Asks about a call in the editor. "Always" makes the same rules as in the chat, for this session or the project. */
export function askInEditor(choose: OpenSessionRequest["choose"]): AskPerson {
  return async (request, always) => {
    const answers = answersFor(always);
    const chosen = await choose(
      request,
      answers.map(({ decision: _, ...choice }) => choice),
    );
    const answer = answers.find(({ id }) => id === chosen);
    return answer?.decision ?? { deny: "the user closed the question." };
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

function answersFor(choices: readonly AlwaysChoice[]): Answer[] {
  const rules = choices.filter((choice) => "rule" in choice);
  const whole = rules.at(-1);
  const others = rules.slice(0, -1);
  // The narrowest rule that is useful again, such as the first words of a command; otherwise exactly this call.
  const narrow = others[1] ?? others[0];
  const always = (choice: typeof whole, scope: "session" | "project"): Answer[] =>
    choice
      ? [
          {
            id: `${scope}-${choice === whole ? "tool" : "rule"}`,
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
    REJECT,
  ];
}

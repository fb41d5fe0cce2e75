import type { ApprovalRequest } from "@agent/core";
import type { AlwaysChoice, GrantScope, UserDecision } from "@agent/core/host";
import { escapeToLine } from "@agent/internal";
import type { Style } from "../text/style.js";
import { wrapWords } from "../text/width.js";
import { denial, questionText } from "./approvalQuestion.js";

/** The effect of a key: an answer, a change of the dialog, or none. */
export type DialogResult = UserDecision | "changed" | "ignored";

const SCOPES: Readonly<Record<GrantScope, string>> = {
  session: "in this session",
  project: "in this project",
};

/**
 * A question about a call, answered with one key: `y` runs it, `n` refuses it and asks for a reason, `a` offers
 * permanent approvals. Text that the user was typing when the question appeared is not treated as an answer.
 */
export class ApprovalDialog {
  readonly request: ApprovalRequest;
  readonly #choices: readonly AlwaysChoice[];
  #stage: "question" | "always" | "reason" = "question";
  #scope: GrantScope = "session";

  /** `always` lists the permanent approvals on offer. */
  constructor(request: ApprovalRequest, always: readonly AlwaysChoice[]) {
    this.request = request;
    this.#choices = always;
  }

  /** Whether the user is typing the reason for a refusal. */
  get writesReason(): boolean {
    return this.#stage === "reason";
  }

  /** Handles a key by its name, or a typed character. */
  press(key: string): DialogResult {
    if (this.#stage === "always") return this.#pressAlways(key);
    switch (key.toLowerCase()) {
      case "y":
        return "allow";
      case "n":
        this.#stage = "reason";
        return "changed";
      case "a":
        if (this.#choices.length === 0) return "ignored";
        this.#stage = "always";
        return "changed";
      default:
        return "ignored";
    }
  }

  /** Refuses the call with the typed reason. The user may also type `no, use npm ci` as one line. */
  deny(reason: string): UserDecision {
    // The key that opened the line was the first letter of "no".
    const typed = /^o\s+\S/i.test(reason) ? `n${reason}` : reason.replace(/^o?\s*(?=[,:]|$)[\s,:]*/i, "");
    return { deny: denial(typed) };
  }

  /** Returns to the question; returns `false` if the question is already shown. */
  back(): boolean {
    if (this.#stage === "question") return false;
    this.#stage = "question";
    return true;
  }

  /** `isInTurn`: Esc ends the current turn. A background agent may also ask when there is none. */
  rows(width: number, style: Style, isInTurn: boolean): string[] {
    if (this.#stage === "reason") {
      const question = highlighted("Declined. What should it do instead?", style);
      return wrapWords(`${question} (optional) · enter send · esc back`, width, 0);
    }
    if (this.#stage === "question") {
      const key = (name: string, does: string): string => `${style.bold(name)} ${does}`;
      const keys = [
        key("y", "yes"),
        key(isInTurn ? "n" : "n/esc", "no"),
        ...(this.#choices.length > 0 ? [key("a", "always…")] : []),
        ...(isInTurn ? [key("esc", "stops")] : []),
      ];
      return wrapWords(`${highlighted(questionText(this.request), style)} ${keys.join(" · ")}`, width, 0);
    }
    return [
      ...wrapWords(
        `${highlighted("Always allow", style)} · ${style.bold(SCOPES[this.#scope])} (tab: ${this.#scope === "session" ? "this project" : "this session only"}) · esc back`,
        width,
        0,
      ),
      ...this.#choices.flatMap(({ label }, at) => wrapWords(`  ${at + 1} ${escapeToLine(label)}`, width, 4)),
    ];
  }

  #pressAlways(key: string): DialogResult {
    if (key === "tab") {
      this.#scope = this.#scope === "session" ? "project" : "session";
      return "changed";
    }
    const choice = this.#choices[Number(key) - 1];
    if (!choice) return "ignored";
    return "mode" in choice ? { mode: choice.mode } : { always: choice.rule, scope: this.#scope };
  }
}

/** The row that needs an action is the most visible one. */
export function highlighted(question: string, style: Style): string {
  return style.yellow(style.inverse(style.bold(question)));
}

import type { PackHost, PermitAnswer, PermitRequest } from "@agent/core";
import type { Permissions } from "@agent/core/host";
import { formatRule, matchesGlob, parseRule } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import type { AskPermit } from "@agent/terminal/host";

export interface PermitOptions {
  readonly permissions: () => Pick<Permissions, "rules" | "grants" | "grant">;
  /** Absent: the user cannot be asked, and only existing grants allow anything. */
  readonly ask: AskPermit | undefined;
  readonly onProblem: (message: string) => void;
}

/**
 * Answers packs that ask about something beyond the approval of a call: from the `deny` rules and the grants, otherwise
 * from the user, one question at a time. A permission for a session or project is stored as a grant and can be revoked.
 */
export function createPermit({
  permissions,
  ask,
  onProblem,
}: PermitOptions): NonNullable<PackHost["permit"]> {
  const answer = async (request: PermitRequest): Promise<PermitAnswer> => {
    const rule = parseRule(request.permission);
    const text = formatRule(rule);
    const { deny } = permissions().rules;
    if (
      deny.some(
        (one) => matchesGlob(one.tool, rule.tool) && matchesGlob(one.pattern ?? "*", rule.pattern ?? ""),
      )
    ) {
      return "refused";
    }
    if (permissions().grants.some((grant) => formatRule(grant.rule) === text)) return "allowed";
    const scope = request.signal.aborted ? undefined : await ask?.(request);
    if (scope === undefined) return "unanswered";
    if (scope === "no") return "refused";
    if (scope !== "once") {
      await permissions()
        .grant(rule, scope)
        .catch((error: unknown) =>
          onProblem(`${text} is allowed only for this session: ${errorMessage(error)}`),
        );
    }
    return "allowed";
  };
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    // After the earlier answers: one of them may be the grant that this request needs.
    const next = last.then(() => answer(request));
    last = next.catch(() => undefined);
    return next;
  };
}

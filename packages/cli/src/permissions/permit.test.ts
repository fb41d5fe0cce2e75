import type { PermitRequest } from "@agent/core";
import { formatRule, parseRule } from "@agent/core/host";
import { describe, expect, test, vi } from "vitest";
import { createPermit, type PermitOptions } from "./permit.js";

type Scope = Awaited<ReturnType<NonNullable<PermitOptions["ask"]>>>;

/** Permissions with these rules, and a user with these answers. */
function permitWith({
  deny = [],
  granted = [],
  answers,
  grantFails = false,
}: {
  deny?: readonly string[];
  granted?: readonly string[];
  answers?: Scope[];
  grantFails?: boolean;
} = {}) {
  const grants = granted.map((rule) => ({ rule: parseRule(rule) }));
  const problems: string[] = [];
  const ask = answers && vi.fn(async (_: PermitRequest) => answers.shift());
  const grant = vi.fn(async (rule: ReturnType<typeof parseRule>, _scope: string) => {
    if (grantFails) throw new Error("disk full");
    grants.push({ rule });
  });
  const permissions = { rules: { allow: [], ask: [], deny: deny.map(parseRule) }, grants, grant };
  const permit = createPermit({
    permissions: () => permissions as unknown as ReturnType<PermitOptions["permissions"]>,
    ask: ask as PermitOptions["ask"],
    onProblem: (message) => problems.push(message),
  });
  const request = (permission: string, signal = new AbortController().signal) =>
    permit({ permission, signal } as unknown as PermitRequest);
  return { request, ask, grant, problems };
}

const EXAMPLE = "net.connect(example.org:443)";

describe("a pack that asks for a permission", () => {
  test.each(["net.connect", "net.*", "net.connect(*.org:443)", EXAMPLE])(
    "is refused by the deny rule %s, without a question and despite a grant",
    async (rule) => {
      const { request, ask } = permitWith({ deny: [rule], granted: [EXAMPLE], answers: ["once"] });
      expect(await request(EXAMPLE)).toBe("refused");
      expect(ask).not.toHaveBeenCalled();
    },
  );

  test("is not refused by a deny rule for something else", async () => {
    const { request } = permitWith({ deny: ["net.connect(*.com:443)", "write_file"], answers: ["once"] });
    expect(await request(EXAMPLE)).toBe("allowed");
  });

  test("is allowed by a grant for the same permission only", async () => {
    const { request, ask } = permitWith({ granted: [EXAMPLE], answers: ["no", "no"] });
    expect(await request(EXAMPLE)).toBe("allowed");
    expect(ask).not.toHaveBeenCalled();
    expect(await request("net.connect(example.org:80)")).toBe("refused");
    expect(await request("net.connect")).toBe("refused");
  });

  test.each([
    ["once", "allowed", []],
    ["session", "allowed", [[EXAMPLE, "session"]]],
    ["project", "allowed", [[EXAMPLE, "project"]]],
    ["no", "refused", []],
    [undefined, "unanswered", []],
  ] as const)("gets the user's answer %s as %s", async (answer, result, stored) => {
    const { request, grant } = permitWith({ answers: [answer as Scope] });
    expect(await request(EXAMPLE)).toBe(result);
    expect(grant.mock.calls.map(([rule, scope]) => [formatRule(rule), scope])).toEqual(stored);
  });

  test("stays unanswered if no one can be asked or the call was stopped", async () => {
    expect(await permitWith().request(EXAMPLE)).toBe("unanswered");
    const { request, ask } = permitWith({ answers: ["session"] });
    expect(await request(EXAMPLE, AbortSignal.abort())).toBe("unanswered");
    expect(ask).not.toHaveBeenCalled();
  });

  test("is allowed with a report if the grant cannot be stored", async () => {
    const { request, problems } = permitWith({ answers: ["project"], grantFails: true });
    expect(await request(EXAMPLE)).toBe("allowed");
    expect(problems).toEqual([`${EXAMPLE} is allowed only for this session: disk full`]);
  });

  test("asks once for requests made at the same time, and again after a failed question", async () => {
    const { request, ask } = permitWith({ answers: ["session", "no"] });
    expect(await Promise.all([request(EXAMPLE), request(EXAMPLE)])).toEqual(["allowed", "allowed"]);
    expect(ask).toHaveBeenCalledTimes(1);
    await expect(request("not a rule (")).rejects.toThrow("is not a rule");
    expect(await request("net.connect(other.org:443)")).toBe("refused");
  });
});

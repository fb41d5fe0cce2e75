import type { ApprovalRequest } from "@agent/core";
import { expect, test } from "vitest";
import { decided, type Run } from "../engine/run.js";
import { callKey } from "../journal/keys.js";
import { RunApprovals } from "./attempt.js";

const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  scope: "",
  turn: 1,
  id: "a",
  name: "write",
  args: { path: "x" },
  capabilities: ["write"],
  context: undefined,
  description: { title: "x", kind: "edit", needs: [] },
  preview: { changes: [], basis: "v1" },
  signal: new AbortController().signal,
  ...more,
});

/** The approvals of a run that was allowed to make this request. */
function allowed(shown: ApprovalRequest): RunApprovals {
  const asking = new RunApprovals({ decisions: [] } as unknown as Run);
  expect(() => asking.approve(shown)).toThrow("write waits for a decision.");
  const [approval] = asking.pending;
  if (!approval) throw new Error("nothing was asked");
  return new RunApprovals({ decisions: [decided(approval, "allow")] } as unknown as Run);
}

test("uses a decision for the call that was shown", () => {
  expect(allowed(request()).approve(request())).toBe("allow");
});

test.each<[string, Partial<ApprovalRequest>]>([
  ["the file has changed since", { preview: { changes: [], basis: "v2" } }],
  [
    "it needs more",
    { description: { title: "x", kind: "edit", needs: [{ kind: "write", path: "/", reason: "" }] } },
  ],
])("asks again about a call if %s", (_, change) => {
  const approvals = allowed(request());
  expect(() => approvals.approve(request(change))).toThrow("write waits for a decision.");
  expect(approvals.pending).toHaveLength(1);
});

test("remembers a rule that was chosen for an earlier call, also in another process", async () => {
  const target = (path: string) => ({ targets: [{ type: "file", path, access: "write" } as const] });
  const description = { title: "x", kind: "edit", needs: [] } as const;
  const asked = (id: string, path: string) =>
    request({ id, description: { ...description, ...target(path) } });
  const asking = new RunApprovals({ decisions: [] } as unknown as Run);
  expect(() => asking.approve(asked("a", "/lib/a"))).toThrow("write waits for a decision.");
  const [approval] = asking.pending;
  if (!approval) throw new Error("nothing was asked");
  const decisions = [decided(approval, { always: "file.write(/lib/**)" })];
  const later = new RunApprovals({ decisions } as unknown as Run);
  later.tools = { ruleFacts: () => undefined };
  expect(await later.approve(asked("b", "/lib/b"))).toBe("allow");
  await expect(later.approve(asked("c", "/etc/c"))).rejects.toThrow("write waits for a decision.");
  expect(later.pending).toHaveLength(1);
});

test("denies a question that cannot wait, and keeps nothing of it", () => {
  const approvals = new RunApprovals({ decisions: [] } as unknown as Run);
  expect(approvals.approve(request({ cannotWait: true }))).toMatchObject({ deny: expect.any(String) });
  expect(approvals.pending).toEqual([]);
});

test("gives a nested call another key if it calls something else in the same position", () => {
  const nested = { scope: "1/a/t0/", turn: 1, callId: "a/t0", name: "read", args: { path: "x" } };
  expect(callKey(nested)).toBe(callKey({ ...nested }));
  expect(callKey({ ...nested, name: "remove" })).not.toBe(callKey(nested));
  expect(callKey({ ...nested, args: { path: "y" } })).not.toBe(callKey(nested));
  const child = { ...nested, scope: "1/a/0/" };
  expect(callKey({ ...child, name: "remove" })).toBe(callKey(child));
});

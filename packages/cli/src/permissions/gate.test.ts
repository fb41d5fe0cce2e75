import type { ApprovalDecision, ApprovalRequest, Approve } from "@agent/core";
import type { AskUser, Permissions } from "@agent/core/host";
import { expect, test } from "vitest";
import type { UndoLog } from "../undo/undoLog.js";
import { askWith, createGate } from "./gate.js";

test.each<[decision: ApprovalDecision | "suspend" | string, answer: object | string]>([
  ["allow", "allow"],
  ["suspend", "suspend"],
  ["always", { always: "run_bash", scope: "session" }],
  [{ always: "run_bash(ls)" }, { always: "run_bash(ls)", scope: "session" }],
  [{ deny: "not now" }, { deny: "not now" }],
  ["yes", { deny: '"yes" is not a decision.' }],
])("answers the decision %j of a program with %j", async (decision, answer) => {
  const ask = askWith((() => decision) as Approve);
  const request = { name: "run_bash" } as ApprovalRequest;
  expect(await ask(request, [], async () => true)).toEqual(answer);
});

test("records files right before a call runs and after it, where undo is on", async () => {
  const seen: string[] = [];
  const log = {
    before: async ({ id }: { id: string }) => void seen.push(`before ${id}`),
    after: async (id: string) => void seen.push(`after ${id}`),
  } as unknown as UndoLog;
  let undo: UndoLog | undefined;
  const approval = { rules: {}, approve: () => "allow" };
  const { hooks, ...decides } = createGate({
    permissions: { approval: () => approval } as unknown as Permissions,
    ask: (() => "allow") as unknown as AskUser,
    undo: () => undo,
    onProblem: expect.fail,
  });
  expect(decides).toEqual(approval);
  const run = async (scope: string): Promise<void> => {
    await hooks.beforeRun?.({ scope, id: "1" } as never);
    expect(await hooks.afterCall?.({ scope, id: "1" } as never, {} as never)).toBeUndefined();
  };
  await run("");
  expect(seen).toEqual([]);
  undo = log;
  await run("");
  // Agents that run at the same time may use the same ids.
  await run("1/1/0/");
  expect(seen).toEqual(["before 1", "after 1", "before 1/1/0/1", "after 1/1/0/1"]);
});

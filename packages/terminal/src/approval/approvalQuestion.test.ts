import { describe, expect, test } from "vitest";
import { decisionText, readDecision } from "./approvalQuestion.js";

describe("readDecision", () => {
  test.each([
    ["y", "allow"],
    [" YES ", "allow"],
    ["a", { always: "run_bash", scope: "session" }],
    ["always", { always: "run_bash", scope: "session" }],
    ["n", { deny: "the user said no." }],
    ["no, use npm ci", { deny: "use npm ci" }],
    ["n: two\nlines", { deny: "two\nlines" }],
    ["no force push please", { deny: "no force push please" }],
    ["No", { deny: "the user said no." }],
  ])("reads %j as %j", (answer, decision) => {
    expect(readDecision(answer, "run_bash")).toEqual(decision);
  });

  test.each(["", "yess", "y n", "ok", "nothing", "all", "1"])("asks again after %j", (answer) => {
    expect(readDecision(answer, "run_bash")).toBeUndefined();
  });
});

test.each([
  [{ deny: "the user said no." }, "no"],
  [{ deny: "use npm ci" }, "no: use npm ci"],
  [{ deny: "No force push please" }, "No force push please"],
  [{ deny: "nothing here" }, "no: nothing here"],
])("shows the decision %j as %j", (decision, shown) => {
  expect(decisionText(decision)).toBe(shown);
});

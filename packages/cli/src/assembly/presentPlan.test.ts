import type { UserAnswer, UserQuestion } from "@agent/core";
import { createToolRegistry } from "@agent/core";
import { Permissions } from "@agent/core/host";
import { expect, test } from "vitest";
import { offerPlan } from "./presentPlan.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

/** Plan mode with a user who gives these answers, and an editor that adds a line. */
function planning(
  answers: readonly (string | undefined)[],
  edit: ((text: string) => Promise<string>) | null = async (text) => `${text}2. test it\n`,
) {
  const registry = createToolRegistry(context, []);
  const permissions = new Permissions({ registry, mode: "plan" });
  const asked: UserQuestion[] = [];
  const left = [...answers];
  const ask = async (question: UserQuestion): Promise<UserAnswer> => {
    asked.push(question);
    const choice = left.shift();
    return choice === undefined ? { answer: "dismissed" } : { answer: "yes", values: { choice } };
  };
  const sync = offerPlan({ registry }, { permissions, ask, edit: edit ?? undefined });
  sync();
  return { registry, permissions, asked, sync };
}

const present = (registry: ReturnType<typeof planning>["registry"]) =>
  registry.execute("present_plan", { plan: "1. write it" });

test("an accepted plan ends plan mode in the mode that the user chose", async () => {
  const { registry, permissions, asked, sync } = planning(["edits"]);
  expect(await present(registry)).toContain("carry it out now.");
  expect(permissions.mode).toBe("edits");
  expect(asked[0]).toMatchObject({ message: "1. write it", fields: [{ title: "Carry out this plan?" }] });
  sync();
  expect(registry.isToolEnabled("present_plan")).toBe(false);
});

test("a plan that the user changes is shown again, and the model gets it as it is then", async () => {
  const { registry, permissions, asked } = planning(["edit", "ask"]);
  expect(await present(registry)).toMatch(/with changes[\s\S]*1\. write it\n2\. test it$/);
  expect(asked.map(({ message }) => message)).toEqual(["1. write it", "1. write it\n2. test it"]);
  expect(permissions.mode).toBe("ask");
});

test.each(["yes", "OK."])(
  "a plan that is accepted with a typed %j does not accept its edits",
  async (answer) => {
    const { registry, permissions } = planning([answer]);
    expect(await present(registry)).toContain("carry it out now.");
    expect(permissions.mode).toBe("ask");
  },
);

test.each([
  ["keep", "The user does not accept the plan yet. Continue"],
  ["no tests please", "They say: no tests please"],
  [undefined, "The user does not accept the plan yet. Continue"],
])("a plan that is rejected with %j leaves plan mode on", async (answer, expected) => {
  const { registry, permissions, asked } = planning([answer], null);
  expect(await present(registry)).toContain(expected);
  expect(permissions.mode).toBe("plan");
  expect(JSON.stringify(asked[0]?.fields)).not.toContain("editor");
});

test("asks again about a plan whose editor failed, and says why", async () => {
  const { registry, permissions, asked } = planning(["edit", "edits"], () =>
    Promise.reject(new Error("vi ended with exit code 1.")),
  );
  expect(await present(registry)).toContain("The user accepts the plan. ");
  expect(asked[1]).toMatchObject({
    message: "1. write it",
    fields: [{ description: "vi ended with exit code 1." }],
  });
  expect(permissions.mode).toBe("edits");
});

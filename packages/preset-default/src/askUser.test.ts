import { type PackHost, type PersonAnswer, type PersonQuestion, ToolRegistry } from "@agent/core";
import { expect, test } from "vitest";
import { type PresetOptions, register } from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

function asking(answer: PersonAnswer) {
  const asked: PersonQuestion[] = [];
  const host: PackHost<PresetOptions> = {
    context,
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
  };
  const registry = new ToolRegistry();
  register(registry, host);
  return { registry, asked };
}

test("asks with choices, or for a text, and gives the model the answer", async () => {
  const { registry, asked } = asking({ answer: "yes", values: { answer: "SQLite" } });
  const args = { question: "Which database?", choices: ["SQLite", "Postgres", "SQLite"] };
  expect(await registry.execute("ask_user", args)).toBe("The user answered: SQLite");
  expect(await registry.execute("ask_user", { question: "What name?" })).toBe("The user answered: SQLite");
  expect(asked).toMatchObject([
    {
      source: "The model",
      message: "Which database?",
      immediate: true,
      fields: [{ type: "choice", other: true, options: [{ value: "SQLite" }, { value: "Postgres" }] }],
    },
    { fields: [{ type: "text", required: true }] },
  ]);
});

test.each([
  [{ answer: "no" }, "does not want to answer"],
  [{ answer: "dismissed" }, "No one answered. Decide yourself"],
] as const)("says that there is no answer: %j", async (answer, expected) => {
  expect(await asking(answer).registry.execute("ask_user", { question: "Which?" })).toContain(expected);
});

test("is not there where no one can be asked", () => {
  const registry = new ToolRegistry();
  register(registry, { context });
  expect(registry.hasTool("ask_user")).toBe(false);
});

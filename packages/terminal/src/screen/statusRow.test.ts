import { expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { type Status, type StatusLook, statusRow } from "./statusRow.js";

const STATUS: Status = {
  mode: "edits",
  model: "gpt-5",
  directory: "/srv/project",
  contextSize: 24_100,
  contextTokens: 200_000,
  tokens: { input: 30_000, cached: 0, output: 900 },
  effort: "high",
  cost: 0.42,
  jobs: 0,
  branch: "fix/login\u202e",
  session: "Login after time-out",
};

const row = (look: StatusLook = {}, width = 200, status = STATUS): string =>
  statusRow(status, width, PLAIN_STYLE, look, "shift+tab").trim();

test("shows every part, with the size of the context, and no invisible characters", () => {
  expect(row()).toBe(
    "accept edits (shift+tab) · 12% context (24.1k) · gpt-5 · high effort · $0.42 · fix/login\\u202e · Login after time-out · 30.0k in, 900 out · /srv/project",
  );
});

test("shows the wanted parts in the wanted order, after the mode", () => {
  expect(row({ parts: ["branch", "context"] })).toBe(
    "accept edits (shift+tab) · fix/login\\u202e · 12% context (24.1k)",
  );
  expect(row({ parts: [] })).toBe("accept edits (shift+tab)");
});

test("leaves out the least important parts in a narrow window", () => {
  expect(row({}, 60)).toBe("accept edits (shift+tab) · 12% context (24.1k) · gpt-5");
  expect(row({}, 40)).toBe("accept edits · 12% context (24.1k)");
  expect(row({}, 40, { ...STATUS, jobs: 1 })).toBe("accept edits · 12% context (24.1k)");
  expect(row({ parts: ["jobs"] }, 40, { ...STATUS, jobs: 1 })).toBe("accept edits · 1 running (/status)");
  expect(row({}, 10)).toBe("accept edits");
});

test("shows the size alone if the model's context is not known", () => {
  const { contextTokens: _, ...rest } = STATUS;
  expect(row({ parts: ["context"] }, 200, rest)).toBe("accept edits (shift+tab) · 24.1k context");
});

test("shows a text in place of the parts", () => {
  expect(row({ text: "my text" })).toBe("accept edits (shift+tab) · my text");
});

import { expect, test } from "vitest";
import { spokenText } from "./plainChat.js";

test("has words in place of marks, and leaves what was printed and said alone", () => {
  const shown = [
    "● run_bash  npm test  executing…",
    "● read_file  a.ts  ✓ 3 lines · 0.1s",
    "│ ● 1 · 2  ✓ x",
    "└ ✗ exit code 1 · 2.4s",
    "An answer · with a dot",
  ].join("\n");
  expect(spokenText(shown).split("\n")).toEqual([
    "Call: run_bash  npm test  executing…",
    "Call: read_file  a.ts, succeeded, 3 lines, 0.1s",
    "  ● 1 · 2  ✓ x",
    "Failed: exit code 1, 2.4s",
    "An answer · with a dot",
  ]);
});

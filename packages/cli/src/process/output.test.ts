import { expect, test } from "vitest";
import { columns } from "./output.js";

const HEAD = ["TOOL", "CAN", "WHAT IT DOES"];
const ROWS = [
  ["read_file", "read", "Reads a file with line numbers, or a part of it."],
  ["日本", "", "Wide characters take two columns."],
];

test("wraps the last column in the width of the window", () => {
  expect(columns(ROWS, HEAD, 46)).toBe(
    [
      "TOOL       CAN   WHAT IT DOES",
      "read_file  read  Reads a file with line",
      "                 numbers, or a part of it.",
      "日本             Wide characters take two",
      "                 columns.",
      "",
    ].join("\n"),
  );
});

test("puts the cells below the first one in a narrow window, and wraps nothing in a pipe", () => {
  expect(columns(ROWS, HEAD, 30)).toBe(
    [
      "read_file",
      "  read · Reads a file with",
      "  line numbers, or a part of",
      "  it.",
      "日本",
      "  Wide characters take two",
      "  columns.",
      "",
    ].join("\n"),
  );
  expect(columns(ROWS, HEAD, Number.POSITIVE_INFINITY).split("\n")[1]).toBe(
    "read_file  read  Reads a file with line numbers, or a part of it.",
  );
});

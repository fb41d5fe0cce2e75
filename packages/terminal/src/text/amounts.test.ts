import { expect, test } from "vitest";
import { formatCost } from "./amounts.js";

test.each([
  [0, "$0"],
  [0.000_012_3, "$0.000012"],
  [0.0123, "$0.012"],
  [0.5, "$0.50"],
  [1.234, "$1.23"],
  [120, "$120.00"],
])("shows %d dollars as %s", (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});

import { expect, test } from "vitest";
import { checkBlocks } from "./blocks.js";

const MANY = 900_000;

// A pattern that takes quadratic time needs many minutes for each of them.
test.for([
  ["blanks", `a${" ".repeat(MANY)}b`],
  ["colons before a line separator", `a${": b".repeat(MANY / 3)}\u2028c`],
  ["comments before a line separator", `a: b${" #".repeat(MANY / 2)}\u2028c`],
  ["dashes before a line separator", `${"- ".repeat(MANY / 2)}\u2028c`],
] as const)("reads a line of YAML with many %s", ([, line]) => {
  expect(() => checkBlocks(`${line}\n`, `${line}\nz: 1\n`, "a.yml")).not.toThrow();
});

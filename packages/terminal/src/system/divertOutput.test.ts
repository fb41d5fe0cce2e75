import { afterEach, expect, test } from "vitest";
import { divertOutput } from "./output.js";

let release = (): void => undefined;
afterEach(() => release());

test("shows what any code writes as whole lines that are safe to show, until it is released", () => {
  const before = [process.stdout.write, process.stderr.write];
  const lines: string[] = [];
  release = divertOutput((more) => lines.push(...more));
  process.stdout.write("one\r\ntw");
  process.stderr.write(Buffer.from("an error\n"));
  process.stdout.write("o\n\x1b[2Jthree");
  expect(lines).toEqual(["one", "an error", "two"]);
  release();
  expect(lines).toEqual(["one", "an error", "two", "\\x1b[2Jthree"]);
  expect([process.stdout.write, process.stderr.write]).toEqual(before);
});

test("calls back a writer that waits", async () => {
  release = divertOutput(() => undefined);
  await new Promise<void>((resolve) => process.stdout.write("x\n", () => resolve()));
});

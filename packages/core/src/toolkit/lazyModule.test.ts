import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { lazyModule } from "./lazyModule.js";

test("a module is loaded by the first use, once", async () => {
  let loads = 0;
  const file = moduleFile("export const value = {};");
  const load = lazyModule<{ value: object }>(
    () => {
      loads++;
      return import(file.href);
    },
    () => file,
  );
  expect(loads).toBe(0);
  expect((await load()).value).toBe((await load()).value);
  expect(loads).toBe(1);
});

test("what failed is loaded by a later use, as often as that takes", async () => {
  const file = moduleFile("throw new Error('not yet');");
  const load = lazyModule<{ value: number }>(
    () => import(file.href),
    () => file,
  );
  await expect(load()).rejects.toThrow("not yet");
  await expect(load()).rejects.toThrow("not yet");
  writeFileSync(file, "export const value = 42;");
  await expect(import(file.href)).rejects.toThrow("not yet");
  expect((await load()).value).toBe(42);
});

function moduleFile(content: string): URL {
  const directory = mkdtempSync(join(tmpdir(), "agent-lazy-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "module.mjs");
  writeFileSync(file, content);
  return pathToFileURL(file);
}

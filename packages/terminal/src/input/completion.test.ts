import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { complete } from "./completion.js";

const folder = mkdtempSync(join(tmpdir(), "agent-completion-"));
mkdirSync(join(folder, "my dir"));
for (const name of ["a b.txt", "it's.txt", 'say "x" y', "line\nbreak.txt", "日本語.txt", "my dir/in it.txt"])
  writeFileSync(join(folder, name), "");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The line after Tab, for each candidate. */
async function completed(text: string): Promise<string[]> {
  const { start, candidates } = await complete(text, text.length, async () => undefined);
  return candidates.map((candidate) => (text.slice(0, start) + candidate).replaceAll(folder, "~"));
}

describe("completing paths with odd names", () => {
  test("quotes a name with blanks", async () => {
    expect(await completed(`read ${folder}/a`)).toEqual(['read "~/a b.txt"']);
    expect(await completed(`read ${folder}/say`)).toEqual([`read '~/say "x" y'`]);
  });

  test("leaves a directory with blanks open, and completes what is in it in its quotes", async () => {
    expect(await completed(`read ${folder}/my`)).toEqual(['read "~/my dir/']);
    expect(await completed(`read "${folder}/my dir/i`)).toEqual(['read "~/my dir/in it.txt"']);
    expect(await completed(`read '${folder}/a`)).toEqual(["read '~/a b.txt'"]);
  });

  test("leaves a name without blanks bare, also with an apostrophe", async () => {
    expect(await completed(`read ${folder}/it`)).toEqual(["read ~/it's.txt"]);
    expect(await completed(`don't read ${folder}/日`)).toEqual(["don't read ~/日本語.txt"]);
  });

  test("does not offer a name with a line break", async () => {
    expect(await completed(`read ${folder}/line`)).toEqual([]);
  });
});

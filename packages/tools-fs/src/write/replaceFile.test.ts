import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support.js";
import { readWhole } from "../read/readWhole.js";
import { Workspace } from "../workspace.js";
import { replaceFile } from "./replaceFile.js";

test("does not replace a file that another program changed after it was read, even if size and time are the same", async () => {
  const path = join(temporaryDirectory(), "file.txt");
  writeFileSync(path, "one\n");
  const workspace = new Workspace();
  const expected = await readWhole(workspace, path, path, undefined);
  if (expected === undefined) throw new Error("missing");
  const { atime, mtime } = statSync(path);
  writeFileSync(path, "uno\n");
  utimesSync(path, atime, mtime);
  const basis = { expected, onChanged: () => new Error("changed on disk") };
  await expect(replaceFile(workspace, path, Buffer.from("two\n"), { basis })).rejects.toThrow(
    "changed on disk",
  );
  expect(readFileSync(path, "utf8")).toBe("uno\n");
  expect(readdirSync(dirname(path))).toEqual(["file.txt"]);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryWorkspace } from "./temporaryWorkspace.js";

test("holds the given files and is gone after remove", async () => {
  const workspace = await temporaryWorkspace({
    "src/deep/a.txt": "hello\n",
    "b.bin": new Uint8Array([0, 255]),
  });
  expect(readFileSync(join(workspace.path, "src/deep/a.txt"), "utf8")).toBe("hello\n");
  expect([...readFileSync(join(workspace.path, "b.bin"))]).toEqual([0, 255]);
  await workspace.remove();
  expect(existsSync(workspace.path)).toBe(false);
  await workspace.remove();
});

test("refuses a file outside of it, and leaves nothing behind", async () => {
  await expect(temporaryWorkspace({ "../evil.txt": "" })).rejects.toThrow(
    '"../evil.txt" is outside the workspace',
  );
  await expect(temporaryWorkspace({ "/tmp/evil.txt": "" })).rejects.toThrow("outside the workspace");
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { archivesFolder } from "./candidate.js";

test("refuses a folder for archives that a link of the project moves elsewhere", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-archives-")));
  try {
    const project = join(base, "project");
    mkdirSync(project);
    expect(archivesFolder(project)).toBe(join(project, ".agent", "packs"));
    symlinkSync(base, join(project, ".agent"));
    expect(() => archivesFolder(project)).toThrow("is a link out of the project");
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

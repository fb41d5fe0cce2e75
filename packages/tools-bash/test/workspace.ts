import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A workspace that commands may write, and a directory next to it that they may not. New for every test. */
export interface Places {
  workspace: string;
  outside: string;
}

/** Makes the places before each test of the file, works in the workspace, and removes them afterwards. */
export function useWorkspace(): Readonly<Places> {
  const home = process.cwd();
  const places: Places = { workspace: "", outside: "" };
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "tools-bash-escape-")));
    places.workspace = join(base, "workspace");
    places.outside = join(base, "outside");
    mkdirSync(places.workspace);
    mkdirSync(places.outside);
    process.chdir(places.workspace);
  });
  afterEach(() => {
    process.chdir(home);
    rmSync(base, { recursive: true, force: true });
  });
  return places;
}

import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A gate that a shell waits at with `wait`, and other code by its file, until the test opens it. */
export interface Gate {
  readonly path: string;
  readonly wait: string;
  open(): void;
}

/** A closed gate. Its own file below this directory exists as soon as it is open. */
export function gateIn(directory: string): Gate {
  const path = join(mkdtempSync(join(directory, "gate-")), "open");
  return {
    path,
    wait: `while [ ! -e ${path} ]; do sleep 0.05; done`,
    open: () => writeFileSync(path, ""),
  };
}

import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Something waits, in a shell by `wait`, elsewhere for the file, until the test opens. */
export interface Gate {
  readonly path: string;
  readonly wait: string;
  open(): void;
}

/** A closed gate. Its file, of its own below this directory, is there as soon as it is open. */
export function gateIn(directory: string): Gate {
  const path = join(mkdtempSync(join(directory, "gate-")), "open");
  return {
    path,
    wait: `while [ ! -e ${path} ]; do sleep 0.05; done`,
    open: () => writeFileSync(path, ""),
  };
}

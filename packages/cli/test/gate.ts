import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Something waits, in a shell by `wait`, elsewhere for the file, until the test opens. */
export interface Gate {
  readonly path: string;
  readonly wait: string;
  open(): void;
}

/** A closed gate: its file is in this directory, under this name, as soon as it is open. */
export function gateIn(directory: string, name = "gate"): Gate {
  const path = join(directory, name);
  return {
    path,
    wait: `while [ ! -e ${path} ]; do sleep 0.05; done`,
    open: () => writeFileSync(path, ""),
  };
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A program other than npm that installs a project's packages. */
export interface OtherManager {
  readonly program: "pnpm" | "yarn" | "bun";
  /** The file it is known by. */
  readonly file: string;
  /** Whether packages lie in archives that only programs started by Yarn can read. */
  readonly plugAndPlay: boolean;
}

const KNOWN_BY: readonly (readonly [name: string, program: OtherManager["program"] | "npm"])[] = [
  [".pnp.cjs", "yarn"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
];

/**
 * The package manager of a project, if it is not npm, found by the nearest lock file up to the repository's root. We
 * never run it for the person: each of them loads code of the project, which the person may not have trusted.
 */
export function findOtherManager(directory: string): OtherManager | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const [name, program] = KNOWN_BY.find(([file]) => existsSync(join(folder, file))) ?? [];
    if (program === "npm") return undefined;
    if (name !== undefined && program !== undefined) {
      return { program, file: join(folder, name), plugAndPlay: name === ".pnp.cjs" };
    }
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return undefined;
  }
}

/** The command line that installs a package in a project. */
export function installCommand(name: string, directory: string): string {
  const other = findOtherManager(directory);
  return other === undefined ? `npm install ${name}` : `${other.program} add ${name}`;
}

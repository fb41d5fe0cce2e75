import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { Candidate, Language } from "./languages.js";

/** Where a project keeps programs that it installed for itself. */
const PROJECT_FOLDERS = ["node_modules/.bin", ".venv/bin", "venv/bin"];

export interface FoundProgram {
  readonly program: string;
  readonly args: readonly string[];
}

/** Finds a server: in the project from the directory of the file up to the root, then on the search path. */
export function findProgram(
  { candidates }: Language,
  directory: string,
  root: string,
): FoundProgram | undefined {
  const inProject = upwards(directory, root).flatMap((one) => PROJECT_FOLDERS.map((name) => join(one, name)));
  // A relative entry of the search path would mean whatever directory the agent works in.
  const onMachine = (process.env.PATH ?? "").split(delimiter).filter((one) => isAbsolute(one));
  for (const folders of [inProject, onMachine]) {
    for (const candidate of candidates) {
      const program = isAbsolute(candidate.program)
        ? usable(candidate.program, candidate)
        : first(folders, (folder) => usable(join(folder, candidate.program), candidate));
      if (program !== undefined) return { program, args: candidate.args };
    }
  }
  return undefined;
}

/** The root of the project that a file belongs to. */
export function findRoot(
  { markers = [], outermost = false }: Language,
  directory: string,
  root: string,
): string {
  const marked = upwards(directory, root).filter((one) =>
    markers.some((name) => existsSync(join(one, name))),
  );
  return (outermost ? marked.at(-1) : marked[0]) ?? root;
}

/** A directory and those above it, up to the root. */
function upwards(directory: string, root: string): string[] {
  const found: string[] = [];
  for (let one = directory; one.startsWith(root); one = dirname(one)) {
    found.push(one);
    if (one === root || dirname(one) === one) break;
  }
  return found;
}

function usable(path: string, candidate: Candidate): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    accessSync(path, constants.X_OK);
  } catch {
    return undefined;
  }
  return candidate.package === undefined || hasMajor(path, candidate.package) ? path : undefined;
}

/** Whether a program of an npm package has at least a major version. */
function hasMajor(path: string, { name, major }: { readonly name: string; readonly major: number }): boolean {
  try {
    const file = realpathSync(path);
    // bin/tsc of the package, or the shim of a package manager next to the package.
    const manifests = [
      resolve(dirname(file), "../package.json"),
      resolve(dirname(path), "..", name, "package.json"),
    ];
    return manifests.some((manifest) => {
      if (!existsSync(manifest)) return false;
      const { name: found, version } = JSON.parse(readFileSync(manifest, "utf8"));
      return found === name && Number.parseInt(String(version), 10) >= major;
    });
  } catch {
    return false;
  }
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

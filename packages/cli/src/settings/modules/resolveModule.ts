import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ownAncestors } from "@agent/internal";
import { requireJiti } from "../../process/requireCjs.js";

// In the order in which a loader prefers them.
const ENDINGS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"];
const COMPILED = /\.([mc]?)js(x?)$/;

/** Packages that the CLI depends on. A project that did not install one gets the CLI's copy. */
const OWN_PACKAGES = ["@agent/core/toolkit", "@agent/core", "@agent/cli/config", "@agent/evals"];

/** How a module is requested: the two use different entries of a package. */
export type ModuleKind = "import" | "require";

/**
 * The location of a module. `project` files run only if they were trusted; `installed` ones and Node's own run without
 * a check.
 */
export type ResolvedModule =
  | { readonly from: "node"; readonly name: string }
  | { readonly from: "project" | "installed"; readonly file: string };

/**
 * Resolves a specifier like Node and TypeScript. `root` is the directory of the config: a package counts as installed
 * if its files, with every symlink resolved, are in a `node_modules` as seen from there. A symlink from `node_modules`
 * into the project resolves to a file of the project. Resolves to `undefined` if nothing is found.
 */
export function resolveModule(
  specifier: string,
  parent: string,
  root: string,
  kind: ModuleKind,
): ResolvedModule | undefined {
  if (isBuiltin(specifier)) return { from: "node", name: specifier };
  if (isPath(specifier)) {
    const file = fromPath(specifier, parent, kind);
    return file === undefined ? undefined : { from: "project", file: realpathSync(file) };
  }
  const found = fromPackage(specifier, parent, kind) ?? ownFile(specifier);
  if (found === undefined) return undefined;
  const file = realpathSync(found);
  const installed = isInstalled(file, root) || ownFile(specifier) === file;
  return { from: installed ? "installed" : "project", file };
}

/** Whether a canonical path is in a `node_modules`, as seen from the directory of the config. */
export function isInstalled(file: string, root: string): boolean {
  return relative(realpathSync(root), file).split(sep).includes("node_modules");
}

/** The files a path may mean, best first: `./a` is `a.ts` or `a/index.js`, `./a.js` may be written in `a.ts`. */
export function filesFor(path: string): string[] {
  const variants = [path, ...ENDINGS.map((ending) => path + ending)];
  if (COMPILED.test(path)) variants.push(path.replace(COMPILED, ".$1ts$2"));
  const main = mainOf(path);
  if (main !== undefined && main !== path) variants.push(...filesFor(main));
  // The manifest of a plugin comes last: a folder with code is a module.
  variants.push(...ENDINGS.map((ending) => join(path, `index${ending}`)), join(path, "plugin.json"));
  return variants.filter(isFile);
}

function isPath(specifier: string): boolean {
  return /^\.{0,2}\/|^\.{1,2}$|^file:/.test(specifier) || isAbsolute(specifier);
}

function fromPath(specifier: string, parent: string, kind: ModuleKind): string | undefined {
  // An import is a URL: "./x.ts?a" is the file x.ts. For require it is a file with a question mark in its name.
  const paths = kind === "require" ? [] : [pathOfUrl(specifier, parent)];
  if (!specifier.startsWith("file:")) paths.push(resolve(dirname(parent), specifier));
  return paths.flatMap((path) => (path === undefined ? [] : filesFor(path)))[0];
}

function pathOfUrl(specifier: string, parent: string): string | undefined {
  try {
    return fileURLToPath(new URL(specifier, pathToFileURL(parent)));
  } catch {
    return undefined;
  }
}

function fromPackage(specifier: string, parent: string, kind: ModuleKind): string | undefined {
  if (isInForeignFolder(specifier, dirname(parent))) return undefined;
  const ways = [
    () => createRequire(parent).resolve(specifier),
    () => {
      const loader = requireJiti().createJiti(pathToFileURL(parent).href, { fsCache: false });
      const url = loader.esmResolve(specifier, { try: true });
      return url === undefined ? undefined : fileURLToPath(url);
    },
  ];
  for (const way of kind === "require" ? ways : ways.reverse()) {
    try {
      const file = way();
      if (file !== undefined && isAbsolute(file)) return file;
    } catch {
      // Try the other way: a package may have an entry for `import` only.
    }
  }
  return undefined;
}

/**
 * Whether Node would load a package from a `node_modules` in or above a directory that another user owns or can write.
 */
export function isInForeignFolder(specifier: string, from: string): boolean {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const has = (directory: string): boolean => existsSync(join(directory, "node_modules", name));
  const own = new Set(ownAncestors(from));
  for (let directory = from; ; directory = dirname(directory)) {
    if (has(directory)) return !own.has(directory);
    if (dirname(directory) === directory) return false;
  }
}

/** The CLI's own copy of a package. */
function ownFile(specifier: string): string | undefined {
  if (!OWN_PACKAGES.includes(specifier)) return undefined;
  return realpathSync(createRequire(import.meta.url).resolve(specifier));
}

function mainOf(directory: string): string | undefined {
  try {
    const { main } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    return typeof main === "string" && main !== "" ? join(directory, main) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the path is a file. Also false if a parent is a file: "a.ts/index.ts". */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

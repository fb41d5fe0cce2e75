// Keeps the direction of imports: between packages, between the folders of a package, and without cycles between files.
// Prints every import that goes against it and exits non-zero.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = join(ROOT, "packages");

/** Who may compose: everybody else uses core alone. */
const COMPOSERS = ["@agent/cli", "@agent/preset-default"];

/** Part of every package that uses it: the build bundles it, so it stays out of what a package depends on. */
const BUNDLED = "@agent/internal";

/** Packages that are loaded where a user has installed them; without them, one line says what to install. */
const LOADED_IF_INSTALLED = { "@agent/cli": ["@agent/acp", "@agent/tools-mcp"] };

/** The folders of a package from the ground up: a folder imports values only from those before it, and from files beside them. */
const LAYERS = {
  acp: [["terminal"], ["workers"]],
  cli: [
    ["display", "process"],
    ["permissions", "undo"],
    ["offline", "settings"],
    ["assembly"],
    ["chat"],
    ["run"],
    ["commands", "editor"],
  ],
  core: [["toolkit"], ["conversation"], ["tools"], ["loop"], ["providers"]],
  durable: [["engine"], ["journal"], ["worker"], ["bullmq", "files"], ["testing"]],
  internal: [["text"], ["files"], ["paths"], ["git", "processes", "protection"]],
  "tools-bash": [["helpers"], ["output", "policy", "processes", "sandbox"], ["command"], ["host"], ["tools"]],
  "tools-fs": [["errors", "paths"], ["protect", "read", "write"], ["edit", "tree"], ["tools"]],
  "tools-mcp": [
    ["config", "results", "stdio"],
    ["lock", "oauth", "paste"],
    ["connection"],
    ["tools"],
    ["manage", "server"],
  ],
  "tools-search": [["match"], ["worker"], ["host"], ["tools"]],
  web: [["state"], ["client", "server"]],
};

const IMPORT = /^\s*(?:import|export)\s(?:(type)\s)?(?:[^"';]*?\sfrom\s)?["']([^"']+)["']/gm;
const problems = [];

/** What a source file imports: the specifier, and whether only its types are. */
function importsOf(file) {
  return Array.from(readFileSync(file, "utf8").matchAll(IMPORT), ([, type, specifier]) => ({
    specifier,
    isType: type === "type",
  }));
}

function sourcesOf(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter(
      (file) => /\.(ts|tsx)$/.test(file) && !file.endsWith(".d.ts") && !file.includes("/node_modules/"),
    );
}

/** The file that a relative import means, or `undefined` for one that is made by the build. */
function resolveImport(file, specifier) {
  const target = join(dirname(file), specifier);
  return [target, target.replace(/\.js$/, ".ts"), target.replace(/\.js$/, ".tsx")].find(existsSync);
}

function report(file, specifier, rule) {
  problems.push(`${relative(ROOT, file)} imports ${specifier}: ${rule}`);
}

function checkPackageDirection(file, specifier, manifest, isTest) {
  const [target] = /^@agent\/[^/]+/.exec(specifier) ?? [];
  if (target === undefined || target === manifest.name || isTest) return;
  if (manifest.name === BUNDLED) report(file, specifier, "it lies below all other packages");
  if (target === BUNDLED) {
    if (!(target in { ...manifest.devDependencies, ...manifest.peerDependencies }))
      report(file, specifier, "package.json does not name it in devDependencies");
    return;
  }
  const declared = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  };
  if (!(target in declared) && !LOADED_IF_INSTALLED[manifest.name]?.includes(target))
    report(file, specifier, "package.json does not name it as a dependency");
  if (target !== "@agent/core" && !COMPOSERS.includes(manifest.name) && !manifest.private) {
    report(
      file,
      specifier,
      `only ${COMPOSERS.join(" and ")} compose packages; all others use @agent/core alone`,
    );
  }
}

function checkFolderDirection(file, target, name) {
  const layers = LAYERS[name];
  if (layers === undefined) return;
  const level = (path) => {
    const [folder = ""] = relative(join(PACKAGES, name, "src"), path).split("/");
    return layers.findIndex((folders) => folders.includes(folder));
  };
  const [from, to] = [level(file), level(target)];
  if (from !== -1 && to > from) {
    report(file, relative(dirname(file), target), `the order of folders is ${layers.flat().join(", ")}`);
  }
}

/** Reports each cycle of value imports once. Types alone form none: they are gone when the program runs. */
function checkCycles(graph) {
  const done = new Set();
  const path = [];
  const visit = (file) => {
    const start = path.indexOf(file);
    if (start !== -1) {
      const cycle = [...path.slice(start), file].map((one) => relative(ROOT, one));
      problems.push(`import cycle: ${cycle.join(" → ")}`);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const target of graph.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
}

const graph = new Map();
for (const name of readdirSync(PACKAGES)) {
  const folder = join(PACKAGES, name);
  if (!existsSync(join(folder, "package.json"))) continue;
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const file of [...sourcesOf(join(folder, "src")), ...sourcesOf(join(folder, "test"))]) {
    const isTest = /\.test\.tsx?$/.test(file) || file.startsWith(join(folder, "test"));
    const targets = [];
    for (const { specifier, isType } of importsOf(file)) {
      if (!specifier.startsWith(".")) {
        checkPackageDirection(file, specifier, manifest, isTest);
        continue;
      }
      const target = resolveImport(file, specifier);
      if (target === undefined) continue;
      if (!target.startsWith(`${folder}/`)) report(file, specifier, "a package is imported by its name");
      else if (!isTest && !isType) checkFolderDirection(file, target, name);
      if (!isType) targets.push(target);
    }
    graph.set(file, targets);
  }
}
checkCycles(graph);

for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

// Checks the direction of imports: between packages, between the folders of a package, and without cycles between
// files. Prints every violation and exits non-zero.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = join(ROOT, "packages");

/** Packages that may import several packs; all others may import only core. */
const COMPOSERS = ["@agent/cli", "@agent/hooks", "@agent/preset-default"];

/** The build bundles this package into every package that uses it, so it is not listed as a dependency. */
const BUNDLED = "@agent/internal";

/** Packages that the build of another one bundles: not a dependency of it, although they can also be installed. */
const BUNDLED_INTO = { "@agent/cli": ["@agent/terminal"] };

/** Packs use what third parties can use: @agent/core and its toolkit. */
const PACK = /^@agent\/(?:hooks$|(?:tools|preset)-)/;

/** Optional packages that are loaded if a user has installed them; without them, one line explains what to install. */
const LOADED_IF_INSTALLED = { "@agent/cli": ["@agent/acp", "@agent/tools-mcp"] };

/** Packages that depend on another one besides core. */
const BUILDS_ON = { "@agent/evals": ["@agent/testing"] };

/**
 * The folders of a package in layers: a folder imports values only from those before it, and from files next to them.
 */
const LAYERS = {
  acp: [["terminal"], ["workers"]],
  cli: [
    ["process"],
    ["undo"],
    ["offline", "settings"],
    ["instructions", "permissions", "sessions"],
    ["assembly"],
    ["chat"],
    ["run"],
    ["commands", "editor"],
  ],
  core: [
    ["toolkit"],
    ["sandbox"],
    ["conversation"],
    ["tools"],
    ["isolation", "rules"],
    ["loop"],
    ["providers"],
  ],
  durable: [["engine"], ["journal"], ["worker"], ["bullmq", "files"], ["testing"]],
  internal: [["text"], ["files"], ["paths"], ["git"], ["ignore", "processes", "protection"]],
  "provider-openai": [["chat"], ["responses"]],
  terminal: [
    ["system", "text"],
    ["markdown"],
    ["display"],
    ["approval", "export", "input"],
    ["screen"],
    ["commands"],
    ["chat"],
  ],
  testing: [["probe"], ["checks", "provider"]],
  "tools-bash": [
    ["helpers"],
    ["output", "policy", "processes", "sandbox"],
    ["command"],
    ["host"],
    ["windows"],
    ["tools"],
  ],
  "tools-fs": [
    ["errors", "paths"],
    ["editor", "protect", "read", "write"],
    ["edit", "tree"],
    ["patch"],
    ["tools"],
  ],
  "tools-lsp": [["protocol"], ["server"], ["edits"], ["tools"]],
  "tools-mcp": [
    ["config", "results", "stdio"],
    ["lock", "oauth", "paste"],
    ["http"],
    ["connection"],
    ["tools"],
    ["approved"],
    ["manage", "server"],
  ],
  "tools-search": [["match"], ["worker"], ["host"], ["tools"]],
  "tools-web": [["network"], ["page", "search"], ["tools"]],
  web: [["state"], ["client", "server"]],
};

/** Not checked: types without code, files that tools of the workspace read, and templates that the command writes. */
const NOT_SOURCES = /\.d\.ts$|^[^/]+\.config\.ts$|^(?:build|templates)\//;

const IMPORT = /^\s*(?:import|export)\s(?:(type)\s)?(?:[^"';]*?\sfrom\s)?["']([^"']+)["']/gm;
const problems = [];

/** The imports of a source file: the specifier, and whether it is type-only. */
function importsOf(file) {
  return Array.from(readFileSync(file, "utf8").matchAll(IMPORT), ([, type, specifier]) => ({
    specifier,
    isType: type === "type",
  }));
}

/** Packages, examples and the tests of the packages together: every folder with a package.json and its own sources. */
function projects() {
  const below = (folder) => readdirSync(join(ROOT, folder)).map((name) => join(ROOT, folder, name));
  return [...below("packages"), ...below("examples"), join(ROOT, "test")].filter((folder) =>
    existsSync(join(folder, "package.json")),
  );
}

/** The files that git knows, or will know: what a build or a test run leaves behind is not checked. */
function sourcesOf(folder) {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx"];
  return execFileSync("git", list, { cwd: folder, encoding: "utf8" })
    .split("\n")
    .filter((name) => name !== "" && !NOT_SOURCES.test(name))
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file));
}

/** The file of a relative import, or `undefined` for one that the build creates. */
function resolveImport(file, specifier) {
  const target = join(dirname(file), specifier);
  return [target, target.replace(/\.js$/, ".ts"), target.replace(/\.js$/, ".tsx")].find(existsSync);
}

function report(file, specifier, rule) {
  problems.push(`${relative(ROOT, file)} imports ${specifier}: ${rule}`);
}

function checkPackageDirection(file, specifier, manifest, isTest) {
  const [target] = /^@agent\/[^/]+/.exec(specifier) ?? [];
  if (target === BUNDLED && PACK.test(manifest.name))
    report(file, specifier, "a pack uses @agent/core and @agent/core/toolkit, as packs of third parties do");
  if (target === undefined || target === manifest.name || isTest) return;
  if (manifest.name === BUNDLED) report(file, specifier, "it is below all other packages");
  if (target === BUNDLED || BUNDLED_INTO[manifest.name]?.includes(target)) {
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
  const isAllowed = target === "@agent/core" || BUILDS_ON[manifest.name]?.includes(target);
  if (!isAllowed && !COMPOSERS.includes(manifest.name) && !manifest.private) {
    report(
      file,
      specifier,
      `only ${COMPOSERS.join(" and ")} compose packages; all others use @agent/core alone`,
    );
  }
}

function checkFolderDirection(file, target, project) {
  const layers = LAYERS[relative(PACKAGES, project)];
  if (layers === undefined) return;
  const level = (path) => {
    const [folder = ""] = relative(join(project, "src"), path).split("/");
    return layers.findIndex((folders) => folders.includes(folder));
  };
  const [from, to] = [level(file), level(target)];
  if (from !== -1 && to > from) {
    report(file, relative(dirname(file), target), `the order of folders is ${layers.flat().join(", ")}`);
  }
}

/** Reports folders without a layer: their imports would not be checked. */
function checkLayersComplete(project) {
  const source = join(project, "src");
  if (dirname(project) !== PACKAGES || !existsSync(source)) return;
  const known = LAYERS[relative(PACKAGES, project)]?.flat() ?? [];
  for (const entry of readdirSync(source, { withFileTypes: true }))
    if (entry.isDirectory() && !known.includes(entry.name))
      problems.push(
        `${relative(ROOT, join(source, entry.name))} has no place in the order of folders (LAYERS)`,
      );
}

/** Reports each cycle of value imports once. Type imports form none: they do not exist at run time. */
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
for (const folder of projects()) {
  checkLayersComplete(folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const file of sourcesOf(folder)) {
    const isTest = /\.test\.tsx?$/.test(file) || !file.startsWith(join(folder, "src/"));
    const targets = [];
    for (const { specifier, isType } of importsOf(file)) {
      if (!specifier.startsWith(".")) {
        checkPackageDirection(file, specifier, manifest, isTest);
        continue;
      }
      const target = resolveImport(file, specifier);
      if (target === undefined) continue;
      if (!target.startsWith(`${folder}/`)) report(file, specifier, "a package is imported by its name");
      else if (!isTest && !isType) checkFolderDirection(file, target, folder);
      if (!isType) targets.push(target);
    }
    graph.set(file, targets);
  }
}
checkCycles(graph);

for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isRecord, quote } from "@agent/core/toolkit";
import { hasEnded, processTag, readRegularFile, safeVariables, startableProgram } from "@agent/internal";
import { ensurePrivateDirectory, homeDirectory, ownProgram } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";
import { stateDirectory, userPackagesDirectory } from "../../process/paths.js";
import { isOwnPack } from "../../settings/packs/resolve.js";

const MANIFEST = `${JSON.stringify({ private: true, description: "Packages of the agent command" }, undefined, 2)}\n`;
const MAX_OUTPUT = 8 * 1024 * 1024;
const MAX_NPMRC_BYTES = 1024 * 1024;

/**
 * Settings that no configuration file may change. npm runs no install scripts, links no `bin`, and installs no git
 * dependencies: for those it would start another npm with the `.npmrc` of the cloned repository. They are also in the
 * environment, where that other npm finds them, because npm before 11.10 does not support `allow-git`. `prefix` is not
 * among them: npm would read `etc/npmrc` below it. The working directory decides.
 */
const PINNED: Readonly<Record<string, string>> = {
  "allow-git": "none",
  "bin-links": "false",
  force: "false",
  git: devNull,
  global: "false",
  "ignore-scripts": "true",
  location: "project",
  // npm ignores an empty value.
  "node-options": "--no-warnings",
};

const PROXY_VARIABLE = /^(?:https?_proxy|no_proxy)$/i;
const NPM_SETTING = /^npm_config_/i;
// npm and other package runners set these, and export the settings of the project's .npmrc as npm_config_… with them.
const RUNNER_VARIABLES = ["npm_command", "npm_lifecycle_event", "npm_execpath"];
const REFERENCE = /\$\{([^}?:-]+)[^}]*\}/g;

/** Installs packages with npm into a directory. Creates the directory and its package.json if they are missing. */
export async function installPackages(directory: string, names: readonly string[]): Promise<void> {
  if (!existsSync(join(directory, "package.json"))) {
    ensurePrivateDirectory(directory);
    writeFileSync(join(directory, "package.json"), MANIFEST, { flag: "wx" });
  }
  await runNpm(["install", "--no-audit", "--no-fund", "--", ...names], directory);
}

export async function uninstallPackages(directory: string, names: readonly string[]): Promise<void> {
  await runNpm(["uninstall", "--no-audit", "--no-fund", "--", ...names], directory);
}

/** Searches the registry of the user's own npm configuration, and resolves to npm's JSON. */
export async function searchPackages(words: readonly string[], limit: number): Promise<string> {
  const directory = userPackagesDirectory();
  ensurePrivateDirectory(directory);
  return await runNpm(["search", "--json", `--searchlimit=${limit}`, "--", ...words], directory);
}

/** A registry's data about a version of a package; unknown fields are absent. */
export interface PackageFacts {
  readonly version?: string | undefined;
  readonly publisher?: string | undefined;
  readonly published?: string | undefined;
  readonly bytes?: number | undefined;
  readonly deprecated?: string | undefined;
  /** Whether npm has a provenance attestation for it. */
  readonly hasProvenance: boolean;
}

/** Queries the registry of the user's own npm configuration about a package: `name`, `name@1.2.0` or `name@latest`. */
export async function packageFacts(specifier: string): Promise<PackageFacts> {
  const directory = userPackagesDirectory();
  ensurePrivateDirectory(directory);
  const found: unknown = JSON.parse(await runNpm(["view", "--json", "--", specifier], directory));
  const view = Array.isArray(found) ? found.at(-1) : found;
  if (!isRecord(view)) return { hasProvenance: false };
  const { version, time, dist, _npmUser: publisher, deprecated } = view;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return {
    version: text(version),
    publisher: isRecord(publisher) ? text(publisher.name) : text(publisher)?.replace(/\s*<.*>$/, ""),
    published: isRecord(time) ? text(time[String(version)])?.slice(0, 10) : undefined,
    bytes: isRecord(dist) && typeof dist.unpackedSize === "number" ? dist.unpackedSize : undefined,
    deprecated: text(deprecated),
    hasProvenance: isRecord(dist) && isRecord(dist.attestations),
  };
}

/** Passes a private directory to `use`, and removes it afterwards. Also removes directories of killed processes. */
export async function withStagingDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const all = join(stateDirectory(), "staged");
  ensurePrivateDirectory(all);
  for (const tag of readdirSync(all)) {
    if (hasEnded(tag)) rmSync(join(all, tag), { recursive: true, force: true });
  }
  const directory = join(all, processTag());
  rmSync(directory, { recursive: true, force: true });
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Installs a package into a separate empty directory. No file of a project is used. */
export async function stagePackage(
  specifier: string,
  directory: string,
): Promise<{ readonly name: string; readonly folder: string }> {
  await installPackages(directory, [specifier]);
  checkInstalledNames(directory, specifier);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const [name = ""] = Object.keys(manifest.dependencies ?? {});
  return { name, folder: join(directory, "node_modules", name) };
}

/** `refuseBorrowedNames` for all packages that npm installed in a directory. */
export function checkInstalledNames(directory: string, specifier: string): void {
  // npm keeps this list in every layout, and with it what a registry says, which may differ from the package.json of a package.
  const { packages } = JSON.parse(
    readFileSync(join(directory, "node_modules", ".package-lock.json"), "utf8"),
  );
  for (const manifest of Object.values(Object(packages))) refuseBorrowedNames(manifest, specifier);
}

/**
 * Throws for a package whose dependencies give the name of one of our packs to something else (`npm:other@1`, an address). npm
 * would install that in the project, where a pack of such a name runs with the rights of the user.
 */
export function refuseBorrowedNames(manifest: unknown, specifier: string): void {
  for (const kind of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    const wanted: Record<string, unknown> = Object(Object(manifest)[kind]);
    const name = Object.keys(wanted).find(
      (one) => isOwnPack(one, { file: "", local: false, own: false }) && /[:/]/.test(String(wanted[one])),
    );
    if (name === undefined) continue;
    throw new CliError(
      `${quote(specifier)} is refused: it would install ${quote(String(wanted[name]))} under the name ${quote(name)}. A pack of that name runs with your rights, so only the one from the registry may have it.`,
      EXIT.refused,
    );
  }
}

/** The path of the user's own npm configuration. */
export function userNpmrc(): string {
  const env = Object.entries(npmVariables()).find(([name]) => name.toLowerCase() === "npm_config_userconfig");
  return env?.[1] ?? join(homeDirectory(), ".npmrc");
}

/**
 * Runs npm in a directory and resolves to its standard output. Its messages go to standard error. The caller makes sure
 * that the directory's `.npmrc` is safe. Throws a `CliError` if npm is missing or fails.
 */
async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const program = ownProgram("npm");
  if (program === undefined)
    throw new CliError("npm is not installed, or not on the PATH. It comes with Node.");
  const [command = "", ...rest] = args;
  const pinned = Object.entries(PINNED).map(([name, value]) => `--${name}=${value}`);
  return await new Promise((resolve, reject) => {
    // On Windows npm is a batch file.
    const start = startableProgram(program, [command, ...pinned, ...rest]);
    const child = spawn(start.file, start.args, {
      ...start.options,
      cwd,
      env: npmEnvironment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (output.length < MAX_OUTPUT) output += chunk;
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(new CliError(`npm cannot be started: ${error.message}`)),
    );
    child.on("close", (code) => {
      if (code === 0) return resolve(output);
      reject(
        new CliError(`npm ${args[0]} failed with exit code ${code}; its messages are above.`, EXIT.tool),
      );
    });
  });
}

/**
 * The environment of npm: an allow list, plus variables that the user's own `.npmrc` names, such as a registry token.
 */
function npmEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...safeVariables(process.env), ...npmVariables() };
  for (const [name, value] of Object.entries(process.env)) if (PROXY_VARIABLE.test(name)) env[name] = value;
  const npmrc = readRegularFile(userNpmrc(), MAX_NPMRC_BYTES)?.toString() ?? "";
  for (const [, name = ""] of npmrc.matchAll(REFERENCE)) env[name] = process.env[name];
  for (const [name, value] of Object.entries(PINNED)) {
    env[`npm_config_${name.replaceAll("-", "_")}`] = value;
  }
  // If npm is Corepack's, it must not run the npm version in a project's package.json or .corepack.env.
  env.COREPACK_ENABLE_PROJECT_SPEC = env.COREPACK_ENV_FILE = "0";
  // npm is a script: run it with this Node, not with the first one in PATH, which may belong to a project.
  env.PATH = [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
  return env;
}

/** The user's `npm_config_…` variables. Empty if a package runner may have set them from a project's configuration. */
function npmVariables(): NodeJS.ProcessEnv {
  if (RUNNER_VARIABLES.some((name) => process.env[name] !== undefined)) return {};
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => NPM_SETTING.test(name)));
}

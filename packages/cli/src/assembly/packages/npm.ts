import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";
import { ownProgram } from "../../process/ownProgram.js";
import { ensurePrivateDirectory } from "../../process/paths.js";

const MANIFEST = `${JSON.stringify({ private: true, description: "Packages of the agent command" }, undefined, 2)}\n`;
const MAX_OUTPUT = 8 * 1024 * 1024;

/** Installs packages with npm into a directory. Makes the directory and its package.json if they are missing. */
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

/**
 * The person's own npm, and an environment in which this same Node runs it: npm is a script and would take the first
 * `node` on the PATH, which may belong to a project. Throws a `CliError` if there is no npm.
 */
function ownNpm(): { readonly program: string; readonly env: NodeJS.ProcessEnv } {
  const program = ownProgram("npm");
  if (program === undefined)
    throw new CliError("npm is not installed, or not on the PATH. It comes with Node.");
  const PATH = [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
  return { program, env: { ...process.env, PATH } };
}

/**
 * Settings that the `.npmrc` and the package.json of an untrusted project must not change: npm runs no install scripts,
 * neither of a pack before it was approved nor of anything else it installs, and uses the person's own git for
 * dependencies that are repositories.
 */
function safeOptions(): string[] {
  return ["--ignore-scripts", `--git=${ownProgram("git") ?? devNull}`];
}

/** Runs npm and resolves to what it printed. Its messages go to standard error. Throws a `CliError` if it fails. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const { program, env } = ownNpm();
    const [command = "", ...rest] = args;
    const child = spawn(program, [command, ...safeOptions(), ...rest], {
      cwd,
      env,
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

import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";
import { ensurePrivateDirectory } from "../../process/paths.js";

const MANIFEST = `${JSON.stringify({ private: true, description: "Packages of the agent command" }, undefined, 2)}\n`;
const MAX_OUTPUT = 8 * 1024 * 1024;

/** Installs packages with npm into a directory, which is made with a package.json of its own where there is none. */
export async function installPackages(directory: string, names: readonly string[]): Promise<void> {
  if (!existsSync(join(directory, "package.json"))) {
    ensurePrivateDirectory(directory);
    writeFileSync(join(directory, "package.json"), MANIFEST, { flag: "wx" });
  }
  // No install scripts: they would run with the person's rights before the pack was approved.
  await runNpm(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--", ...names], directory);
}

export async function uninstallPackages(directory: string, names: readonly string[]): Promise<void> {
  await runNpm(["uninstall", "--no-audit", "--no-fund", "--", ...names], directory);
}

/** Runs npm and resolves to what it printed. Its messages go to standard error. Throws a `CliError` if it fails. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = spawn("npm", args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (output.length < MAX_OUTPUT) output += chunk;
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new CliError("npm is not installed, or not on the PATH. It comes with Node.")
          : new CliError(`npm cannot be started: ${error.message}`),
      ),
    );
    child.on("close", (code) => {
      if (code === 0) return resolve(output);
      reject(
        new CliError(`npm ${args[0]} failed with exit code ${code}; its messages are above.`, EXIT.tool),
      );
    });
  });
}

import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { quote, quotePath } from "@agent/core/toolkit";
import { CliError } from "../../errors.js";
import { EXIT, type ExitCode } from "../../exitCodes.js";
import { entryOf } from "./entry.js";
import { findInstalledPacks } from "./installed.js";

const NO_CALLS =
  "No tool was called for real. Give samples to describePack() in a test to check that, too.\n";

export interface PackCheckParameters {
  /** A pack's folder or file, or the name of an installed one. Default: the directory itself. */
  readonly target?: string | undefined;
  readonly directory: string;
  readonly json?: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack check [DIR|NAME]`: runs the conformance kit on a pack, without calling its tools for real. */
export async function packCheck({
  target = ".",
  directory,
  json = false,
  print,
}: PackCheckParameters): Promise<ExitCode> {
  const file = locatePack(target, directory);
  if (!existsSync(file))
    throw new CliError(`${quotePath(file)} does not exist. Build the pack first: npm run build`);
  const { checkPack, formatReport } = await import("@agent/testing");
  const report = await checkPack(file);
  if (json) print(`${JSON.stringify({ v: 1, ...report }, undefined, 2)}\n`);
  else print(`${formatReport(report)}${report.ok ? NO_CALLS : ""}`);
  return report.ok ? EXIT.done : EXIT.config;
}

function locatePack(target: string, directory: string): string {
  const path = resolve(directory, target);
  if (existsSync(path)) {
    if (statSync(path).isFile()) return path;
    if (existsSync(join(path, "package.json"))) return entryOf(path);
    throw new CliError(`${quotePath(path)} has no package.json, so it is not a pack's folder.`);
  }
  const installed = findInstalledPacks(directory).find(({ name }) => name === target);
  if (installed) return entryOf(installed.directory);
  throw new CliError(
    `${quote(target)} is neither a folder nor an installed pack. Run "agent pack list" to see what is installed, or: npm install ${target}`,
  );
}

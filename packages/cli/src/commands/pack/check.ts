import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { quote } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import { installCommand } from "../../assembly/packages/manualInstall.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { entryOf } from "../../settings/packs/entry.js";
import { requireTrust, type TrustPolicy } from "../../settings/trust/trust.js";
import { findInstalledPacks } from "./installed.js";
import { packFiles } from "./trusted.js";

const NO_CALLS =
  "No tool was called for real. Give samples to describePack() in a test to check that, too.\n";

export interface PackCheckParameters {
  /** A pack's folder or file, or the name of an installed one. Default: the directory itself. */
  readonly target?: string | undefined;
  readonly directory: string;
  readonly json?: boolean;
  readonly trust: TrustPolicy;
  readonly print: (text: string) => void;
}

/** `agent pack check [DIR|NAME]`: runs the conformance kit on a pack, without calling its tools for real. */
export async function packCheck({
  target = ".",
  directory,
  json = false,
  trust,
  print,
}: PackCheckParameters): Promise<ExitCode> {
  const { entry, besideCli } = locatePack(target, directory);
  if (!existsSync(entry))
    throw new CliError(`${quotePath(entry)} does not exist. Build the pack first: npm run build`);
  const file = realpathSync(entry);
  if (!besideCli && !(await mayRun(file, trust))) {
    throw new CliError(`${quotePath(file)} was not checked: it was not trusted.`, EXIT.refused);
  }
  const { checkPack, formatReport } = await import("@agent/testing");
  const report = await checkPack(file);
  if (json) print(`${JSON.stringify({ v: 1, ...report }, undefined, 2)}\n`);
  else print(`${formatReport(report)}${report.ok ? NO_CALLS : ""}`);
  return report.ok ? EXIT.done : EXIT.config;
}

/** The kit loads the pack in its own process, so after the question the files are compared once more. */
async function mayRun(file: string, trust: TrustPolicy): Promise<boolean> {
  const asked = packFiles(file);
  if (!(await requireTrust(file, asked, trust, "pack"))) return false;
  if (isDeepStrictEqual(packFiles(file).hashes, asked.hashes)) return true;
  throw new CliError(`${quotePath(file)}: the pack changed while the question stood.`, EXIT.refused);
}

function locatePack(target: string, directory: string): { entry: string; besideCli: boolean } {
  const path = resolve(directory, target);
  if (existsSync(path)) {
    if (statSync(path).isFile()) return { entry: path, besideCli: false };
    if (existsSync(join(path, "package.json"))) return { entry: entryOf(path), besideCli: false };
    throw new CliError(`${quotePath(path)} has no package.json, so it is not a pack's folder.`);
  }
  const installed = findInstalledPacks(directory).find(({ name }) => name === target);
  if (installed) return { entry: entryOf(installed.directory), besideCli: installed.besideCli };
  throw new CliError(
    `${quote(target)} is neither a folder nor an installed pack. Run "agent pack list" to see what is installed, or: ${installCommand(target, directory)}`,
  );
}

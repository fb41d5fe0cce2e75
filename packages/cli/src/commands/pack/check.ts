import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { quote } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import type { PackReport } from "@agent/testing";
import { installCommand } from "../../assembly/packages/manualInstall.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { entryOf, PACK_KEYWORD } from "../../settings/packs/entry.js";
import { requireTrust, type TrustPolicy } from "../../settings/trust/trust.js";
import { findInstalledPacks } from "./installed.js";
import { SCAFFOLD_DESCRIPTION } from "./new.js";
import { packFiles } from "./trusted.js";

const NO_CALLS =
  "No tool was called outside of the sandbox. Give samples to describePack() in a test to check calls, too.\n";

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
  const { entry, besideCli, folder } = locatePack(target, directory);
  if (!existsSync(entry))
    throw new CliError(`${quotePath(entry)} does not exist. Build the pack first: npm run build`);
  const file = realpathSync(entry);
  if (!besideCli && !(await mayRun(file, trust))) {
    throw new CliError(`${quotePath(file)} was not checked: it was not trusted.`, EXIT.refused);
  }
  const { checkPack, formatReport } = await import("@agent/testing");
  const checked = await checkPack(file, { sandboxed: true });
  const manifest = checkManifest(folder, entry, checked);
  const checks = [...checked.checks, ...(manifest ? [manifest] : [])];
  const report = { ...checked, checks, ok: checked.ok && manifest?.status !== "failed" };
  if (json) print(`${JSON.stringify({ v: 1, ...report }, undefined, 2)}\n`);
  else print(`${formatReport(report)}${report.ok ? NO_CALLS : ""}`);
  return report.ok ? EXIT.done : EXIT.config;
}

/** The kit loads the pack in its own process, so after the question the files are compared again. */
async function mayRun(file: string, trust: TrustPolicy): Promise<boolean> {
  const asked = packFiles(file);
  if (!(await requireTrust(file, asked, trust, "pack"))) return false;
  if (isDeepStrictEqual(packFiles(file).hashes, asked.hashes)) return true;
  throw new CliError(`${quotePath(file)}: the pack changed while you were asked.`, EXIT.refused);
}

/** A result of `checkPack` about one aspect of a pack. */
type PackCheck = PackReport["checks"][number];

/**
 * Whether users can find the package, may use it and get its files. `undefined` for a file without a separate package.
 */
function checkManifest(
  folder: string | undefined,
  entry: string,
  { tools }: PackReport,
): PackCheck | undefined {
  if (folder === undefined) return undefined;
  const { description, license, files, keywords, private: isPrivate } = readManifest(folder);
  const check = { id: "package", title: "has a package.json by which users can find and judge it" };
  if (isPrivate === true) {
    return { ...check, status: "not_checked", findings: [], notes: ["the package is private"] };
  }
  const findings: PackCheck["findings"][number][] = [];
  const expect = (isGood: boolean, expected: string, got: unknown, hint: string): void => {
    if (!isGood) findings.push({ expected, got: got === undefined ? "nothing" : JSON.stringify(got), hint });
  };
  const isScaffold =
    description === SCAFFOLD_DESCRIPTION && !tools.some(({ name }) => name.endsWith("_greet"));
  expect(
    typeof description === "string" && description.trim() !== "" && !isScaffold,
    "a description of this pack",
    description,
    'Say in "description" what the pack does: agent pack search and npm show it.',
  );
  expect(
    typeof license === "string" && license !== "",
    "a license",
    license,
    'Add "license": "MIT", or yours.',
  );
  const isPacked = Array.isArray(files) && files.some((one) => covers(String(one), relative(folder, entry)));
  expect(isPacked, 'the entry in "files"', files, 'List what is published: "files": ["dist"].');
  expect(
    Array.isArray(keywords) && keywords.includes(PACK_KEYWORD),
    `the keyword "${PACK_KEYWORD}"`,
    keywords,
    `Add it to "keywords": agent pack search and agent pack list go by it.`,
  );
  return { ...check, status: findings.length > 0 ? "failed" : "passed", findings, notes: [] };
}

/** Whether a pattern of `files` includes a file: by its folder or its name. Other patterns are assumed to match. */
function covers(pattern: string, file: string): boolean {
  const plain = pattern.replace(/^\.?\//, "").replace(/\/(?:\*\*?)?$/, "");
  const path = file.split(sep).join("/");
  return (
    plain.includes("*") || plain === "" || plain === "." || path === plain || path.startsWith(`${plain}/`)
  );
}

function readManifest(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function locatePack(
  target: string,
  directory: string,
): { entry: string; besideCli: boolean; folder?: string } {
  const path = resolve(directory, target);
  if (existsSync(path)) {
    if (statSync(path).isFile()) return { entry: path, besideCli: false };
    if (existsSync(join(path, "package.json"))) {
      return { entry: entryOf(path), besideCli: false, folder: path };
    }
    throw new CliError(`${quotePath(path)} has no package.json, so it is not a pack's folder.`);
  }
  const installed = findInstalledPacks(directory).find(({ name }) => name === target);
  if (installed) return { entry: entryOf(installed.directory), besideCli: installed.besideCli };
  throw new CliError(
    `${quote(target)} is neither a folder nor an installed pack. Run "agent pack list" to see what is installed, or: ${installCommand(target, directory)}`,
  );
}

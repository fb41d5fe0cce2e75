import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { canonicalPath, countOf, ownAncestors, quote, quotePath, readRegularFile } from "@agent/internal";
import { userNpmrc } from "./npm.js";

/** A project in which the user must install packages: its package manager would apply settings of the project. */
export interface ManualInstall {
  /** The reason, as a sentence that names the file. */
  readonly reason: string;
  /** The commands to run, without the package's name. */
  readonly install: string;
  readonly uninstall: string;
  /** Whether packages are in archives that only programs started by Yarn can read. */
  readonly plugAndPlay: boolean;
}

const LOCK_FILES: readonly (readonly [name: string, program: string])[] = [
  [".pnp.cjs", "yarn"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
];

/** `.npmrc` settings that neither load nor send anything, and do not change where packages come from or go. */
const HARMLESS_SETTINGS: ReadonlySet<string> = new Set([
  "access",
  "audit",
  "audit-level",
  "color",
  "engine-strict",
  "fund",
  "ignore-scripts",
  "init-author-email",
  "init-author-name",
  "init-author-url",
  "init-license",
  "init-version",
  "legacy-peer-deps",
  "lockfile-version",
  "loglevel",
  "package-lock",
  "progress",
  "save-exact",
  "save-prefix",
  "strict-peer-deps",
  "tag-version-prefix",
  "unicode",
  "update-notifier",
]);
const PLAIN_LINE = /^\s*([a-z-]+)\s*(?:=\s*[\w.^~@ -]*)?$/;
const COMMENT_OR_BLANK = /^\s*(?:[;#].*)?$/;
const MAX_FILE_BYTES = 1024 * 1024;
const MOST_NAMED = 5;

/**
 * Whether, and why, the user must install packages in a project. pnpm, Yarn and Bun load code of the project, and npm
 * applies its `.npmrc`: the user may not have trusted either.
 */
export function findManualInstall(directory: string): ManualInstall | undefined {
  return byLockFile(directory) ?? byWorkspace(directory) ?? bySettings(directory);
}

/** The command line that installs a package in a project. */
export function installCommand(name: string, directory: string): string {
  return `${findManualInstall(directory)?.install ?? "npm install"} ${name}`;
}

/** A package manager other than npm, detected by the nearest lock file up to the repository's root. */
function byLockFile(directory: string): ManualInstall | undefined {
  for (const folder of ownAncestors(directory)) {
    const [name, program] = LOCK_FILES.find(([file]) => existsSync(join(folder, file))) ?? [];
    if (program === "npm") return undefined;
    if (name !== undefined && program !== undefined) {
      return {
        reason: `${quotePath(join(folder, name))} says that ${program} installs this project.`,
        install: `${program} add`,
        uninstall: `${program} remove`,
        plugAndPlay: name === ".pnp.cjs",
      };
    }
    if (existsSync(join(folder, ".git"))) return undefined;
  }
  return undefined;
}

/** A package of an npm workspace: npm installs it from the workspace's root, and applies the `.npmrc` there. */
function byWorkspace(directory: string): ManualInstall | undefined {
  if (!existsSync(join(directory, "package.json"))) return undefined;
  for (let folder = dirname(directory); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (declaresWorkspaces(file)) return byNpm(`${quotePath(file)} may have this directory as a workspace.`);
    if (dirname(folder) === folder) return undefined;
  }
}

/** Also true for a file that cannot be parsed: npm may parse it differently. */
function declaresWorkspaces(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    const manifest: unknown = JSON.parse(readWhole(file) ?? "");
    return !isRecord(manifest) || manifest.workspaces !== undefined;
  } catch {
    return true;
  }
}

/** A project whose `.npmrc` has settings that are not harmless. */
function bySettings(directory: string): ManualInstall | undefined {
  const file = join(directory, ".npmrc");
  if (!existsSync(file) || canonicalPath(file) === canonicalPath(userNpmrc())) return undefined;
  const lines = readWhole(file)?.split(/[\r\n]+/);
  if (lines === undefined) return byNpm(`npm would apply ${quotePath(file)}, which cannot be read.`);
  const unsafe = lines.filter((line) => !COMMENT_OR_BLANK.test(line) && !isHarmless(line));
  if (unsafe.length === 0) return undefined;
  // Only the names: a value may be a token.
  const names = unsafe.slice(0, MOST_NAMED).map((line) => quote(line.split("=")[0]?.trim() ?? ""));
  const more =
    unsafe.length > MOST_NAMED ? ` and ${countOf(unsafe.length - MOST_NAMED, "more setting")}` : "";
  return byNpm(`npm would apply ${quotePath(file)}, which sets ${names.join(", ")}${more}.`);
}

function isHarmless(line: string): boolean {
  const name = PLAIN_LINE.exec(line)?.[1];
  return name !== undefined && HARMLESS_SETTINGS.has(name);
}

/** A small regular file; `undefined` if it cannot be read or is larger. */
function readWhole(file: string): string | undefined {
  const bytes = readRegularFile(file, MAX_FILE_BYTES);
  return bytes === undefined || bytes.length === MAX_FILE_BYTES ? undefined : bytes.toString();
}

function byNpm(reason: string): ManualInstall {
  return { reason, install: "npm install", uninstall: "npm uninstall", plugAndPlay: false };
}

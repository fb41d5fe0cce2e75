import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { quote } from "@agent/core/toolkit";
import { escapeToLine, quotePath } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { templatePath } from "../../process/templates.js";

// The names npm accepts for a new package.
const PACKAGE_NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const LONGEST_NAME = 214;
// npm refuses these, and an import of a Node module never reaches a package of that name.
const isTaken = (name: string): boolean =>
  name === "node_modules" || name === "favicon.ico" || isBuiltin(name);
const LONGEST_PREFIX = 40;

/** The default description of a pack. `agent pack check` asks for another one once the tools differ. */
export const SCAFFOLD_DESCRIPTION = "Greets people and appends lines to a file of notes.";

export interface PackNewParameters {
  /** The npm name of the new package, with or without a scope. */
  readonly name: string;
  /** What the pack does, in one sentence. Default: what the tools of the scaffold do. */
  readonly description?: string | undefined;
  /** Where its folder is created. */
  readonly directory: string;
  readonly print: (text: string) => void;
}

/** `agent pack new NAME`: writes a pack that builds, passes its tests and can be published unchanged. */
export async function packNew({
  name,
  description = SCAFFOLD_DESCRIPTION,
  directory,
  print,
}: PackNewParameters): Promise<ExitCode> {
  if (!PACKAGE_NAME.test(name) || name.length > LONGEST_NAME) {
    throw new CliError(
      `${quote(name)} is not a name npm accepts: lower-case letters, digits, "-", "." and "_", with or without a scope, as in "@me/agent-pack-weather".`,
    );
  }
  if (isTaken(name)) {
    throw new CliError(
      `${quote(name)} is taken by Node or npm, so no package can have it. Choose another, such as "agent-pack-${name.replace(/[^a-z]+/g, "-")}".`,
    );
  }
  const target = join(directory, name.replace(/^@[^/]*\//, ""));
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new CliError(
      `${quotePath(target)} exists and is not empty. Choose another name or empty it first.`,
    );
  }
  const files = renderTemplate({
    // First, because a value may contain a name.
    DESCRIPTION_JSON: JSON.stringify(description).slice(1, -1),
    DESCRIPTION: escapeToLine(description),
    NAME: name,
    PREFIX: toolPrefix(name),
    YEAR: String(new Date().getFullYear()),
    CORE_RANGE: `^${installedVersion("@agent/core")}`,
    EVALS_RANGE: `^${installedVersion("@agent/evals")}`,
    TESTING_RANGE: `^${installedVersion("@agent/testing")}`,
  });
  for (const { path, content } of files) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await writeFile(join(target, path), content, { flag: "wx" });
  }
  const shown = relative(directory, target);
  print(`Created ${shown} with ${files.length} files. Next:\n  cd ${shown}\n  npm install\n  npm test\n`);
  return EXIT.done;
}

/** Tool names include the pack's own word, so that two packs do not collide: `weather` of `@me/agent-pack-weather`. */
export function toolPrefix(name: string): string {
  const word = name
    .replace(/^@[^/]*\//, "")
    .replace(/^((agent|pack|tools)[._~-])+/, "")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, LONGEST_PREFIX);
  return word === "" ? "pack" : word;
}

function installedVersion(name: string): string {
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return JSON.parse(readFileSync(file, "utf8")).version;
}

// npm does not publish ".gitignore" and reads every "package.json", so the template has these under other names.
const HIDDEN = /^_(github|gitignore|changeset)$/;
const RENAMED = /^_(package|tsconfig)\.json$/;

/** One file of the scaffold, ready to write. */
interface ScaffoldFile {
  readonly path: string;
  readonly content: string;
}

/** The template's files with `__KEY__` replaced by its value. */
function renderTemplate(values: Readonly<Record<string, string>>): ScaffoldFile[] {
  const root = templatePath("pack");
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
    .map((path) => ({
      path: path.split(sep).map(realName).join(sep),
      content: alignTables(fill(readFileSync(join(root, path), "utf8"), values)),
    }));
}

function realName(name: string): string {
  if (HIDDEN.test(name)) return `.${name.slice(1)}`;
  return RENAMED.test(name) ? name.slice(1) : name;
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce(
    (filled, [key, value]) => filled.replaceAll(`__${key}__`, value),
    text,
  );
}

/** Makes the columns of Markdown tables as wide as their widest cell: the values are not as long as their keys. */
function alignTables(text: string): string {
  return text.replace(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table
      .trimEnd()
      .split("\n")
      .map((row) => row.slice(1, -1).split("|"));
    const [head = []] = rows;
    const widths = head.map((_, at) => Math.max(...rows.map((cells) => contentOf(cells[at]).length)));
    const line = (cells: readonly string[]): string => {
      const padded = widths.map((width, at) =>
        contentOf(cells[at]).padEnd(width, isRule(cells[at]) ? "-" : " "),
      );
      return `| ${padded.join(" | ")} |\n`;
    };
    return rows.map(line).join("");
  });
}

function isRule(cell = ""): boolean {
  return /^ *-+ *$/.test(cell);
}

function contentOf(cell = ""): string {
  return isRule(cell) ? "---" : cell.trim();
}

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { templatePath } from "../../process/templates.js";

// npm does not publish ".gitignore" and reads every "package.json", so the template has these under other names.
const HIDDEN = /^_(github|gitignore|changeset)$/;
const RENAMED = /^_(package|tsconfig)\.json$/;

/** One file of the scaffold, ready to write. */
export interface ScaffoldFile {
  readonly path: string;
  readonly content: string;
}

/** The template's files with `__KEY__` replaced by its value. */
export function renderTemplate(values: Readonly<Record<string, string>>): ScaffoldFile[] {
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

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
      content: fill(readFileSync(join(root, path), "utf8"), values),
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

import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type CodeBlock, fencedBlocks } from "./markdown.js";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Every page a user reads, by its path in the repository: the guides, and the README of each package and example. */
export function pages(): string[] {
  const below = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => join(ROOT, folder, name));
  return [
    join(ROOT, "README.md"),
    join(ROOT, "action", "README.md"),
    ...below("docs").filter((path) => path.endsWith(".md")),
    ...[...below("packages"), ...below("examples")].map((path) => join(path, "README.md")),
  ]
    .filter((path) => existsSync(path))
    .map((path) => relative(ROOT, path));
}

/** A code block of a page. Its id is the page, the heading above it, and its number if it is not the first there. */
export interface Snippet extends CodeBlock {
  readonly id: string;
  readonly page: string;
}

/** Every code block of every page, in order. */
export function snippets(): Snippet[] {
  return pages().flatMap((page) => {
    const seen = new Map<string, number>();
    return fencedBlocks(join(ROOT, page)).map((block) => {
      const anchor = `${page}#${block.heading.toLowerCase().replaceAll(/[^\w]+/g, "-")}`;
      const count = (seen.get(anchor) ?? 0) + 1;
      seen.set(anchor, count);
      return { ...block, page, id: count === 1 ? anchor : `${anchor}:${count}` };
    });
  });
}

import { readFileSync } from "node:fs";

/** A fenced block of code. */
export interface CodeBlock {
  /** The heading above it. */
  readonly heading: string;
  /** The text after the opening fence; "" for plain text. */
  readonly language: string;
  readonly code: string;
}

/** The fenced code blocks of a Markdown file, in order. */
export function fencedBlocks(file: string | URL): CodeBlock[] {
  return blocksOf(readFileSync(file, "utf8"));
}

/** The code of the blocks in one language, in order. */
export function codeBlocks(file: string | URL, language: string): string[] {
  return codeIn(readFileSync(file, "utf8"), language);
}

/** The text after each `@example` in the doc comments of a source file: its TypeScript, or "" if there is none. */
export function exampleBlocks(file: string): string[] {
  const [, ...examples] = readFileSync(file, "utf8").split(/^ *\* @example\b/m);
  return examples.map((example) => {
    const [comment = ""] = example.split("*/", 1);
    return codeIn(comment.replaceAll(/^ *\* ?/gm, ""), "ts")[0] ?? "";
  });
}

function codeIn(text: string, language: string): string[] {
  return blocksOf(text).flatMap((block) => (block.language === language ? [block.code] : []));
}

function blocksOf(text: string): CodeBlock[] {
  let heading = "";
  const blocks: CodeBlock[] = [];
  // A heading, or a block; a "#" inside a block is part of the block. A block in a list is indented with it.
  for (const match of text.matchAll(/^#+ (.*)$|^( *)```(\w*)\n([\s\S]*?)^\2```$/gm)) {
    const [, title, indent = "", language = "", code = ""] = match;
    if (title !== undefined) heading = title;
    else blocks.push({ heading, language, code: code.replaceAll(new RegExp(`^${indent}`, "gm"), "") });
  }
  return blocks;
}

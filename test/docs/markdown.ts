import { readFileSync } from "node:fs";

/** The fenced code blocks of a Markdown file in one language, in order. */
export function codeBlocks(file: string | URL, language: string): string[] {
  return blocksOf(readFileSync(file, "utf8"), language);
}

/** What follows each `@example` in the doc comments of a source file: its TypeScript, or "" where there is none. */
export function exampleBlocks(file: string): string[] {
  const [, ...examples] = readFileSync(file, "utf8").split(/^ *\* @example\b/m);
  return examples.map((example) => {
    const [comment = ""] = example.split("*/", 1);
    return blocksOf(comment.replaceAll(/^ *\* ?/gm, ""), "ts")[0] ?? "";
  });
}

function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code]) =>
    found === language && code !== undefined ? [code] : [],
  );
}

import { readFileSync } from "node:fs";

/** The fenced code blocks of a Markdown file in one language, in order. */
export function codeBlocks(file: string | URL, language: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code]) =>
    found === language && code !== undefined ? [code] : [],
  );
}

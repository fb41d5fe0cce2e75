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

/** The commands that a Markdown file shows after `$ ` in blocks without a language, each with the output below it. */
export function transcripts(file: string): { readonly command: string; readonly output: string }[] {
  const blocks = readFileSync(file, "utf8").matchAll(/^```\n(\$ [\s\S]*?)^```$/gm);
  return Array.from(blocks, ([, block = ""]) => block.split(/^\$ /m).slice(1))
    .flat()
    .map((text) => {
      const [command = "", ...lines] = text.split("\n");
      return { command, output: lines.join("\n") };
    });
}

function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code]) =>
    found === language && code !== undefined ? [code] : [],
  );
}

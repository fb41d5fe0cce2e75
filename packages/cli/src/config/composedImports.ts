import { readFileSync } from "node:fs";

const CODE = /\.[mc]?[jt]s$/;
// What follows is no plain string: a variable, a sum, a template with a hole. Also code made from text. Comments are
// looked at too: telling them from strings takes a parser, and to say too much does less harm than to say too little.
const COMPOSED =
  /\b(?:import|require(?:\.resolve)?)\s*\(\s*(?!\s|["'][^"'\n]*["']\s*[,)]|`[^`$]*`\s*[,)])|\beval\s*\(|\bnew\s+Function\s*\(|\bcreateRequire\s*\(/;

/**
 * Whether a file loads code whose place it puts together while it runs: `import(name)`, `require(a + b)`, `eval`.
 * Nothing can be said about that code beforehand, so the person is told. It sees the plain forms, not a file that
 * hides them: a config that is trusted can do anything, and reads its own code from wherever it likes.
 */
export function composesImports(file: string): boolean {
  if (!CODE.test(file)) return false;
  try {
    return COMPOSED.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

// Prints every text that a user may read, so that they can be edited in one list: strings and templates that are
// sentences. `node scripts/messages.mjs core cli` prints those of two packages.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const packages = process.argv.slice(2);
const folders = packages.length > 0 ? packages.map((name) => `packages/${name}/src/*`) : ["packages/*/src/*"];

const files = execFileSync("git", ["ls-files", ...folders], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$/.test(file));

/** The text of a literal, with `…` for interpolations; `undefined` for other nodes. */
function textOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
}

/** At least three words of letters: not a name, a path or a format. */
function isSentence(text) {
  return (
    /[A-Za-z…]+[,:]? [a-z…]+[,:]? [\w…"`(]+/.test(text) &&
    !/^\s*(?:SELECT|INSERT|UPDATE|CREATE|WITH|DELETE)\b/.test(text)
  );
}

for (const file of files) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(ROOT, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const text = textOf(node);
    if (text !== undefined && isSentence(text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const shown = text
        .replace(/\s+/g, " ")
        .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
      console.log(`${file}:${line + 1}: ${shown.trim()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

// Reports private vocabulary that docs/contributing/README.md replaces with standard terms. Prints each line that uses
// a term and exits non-zero.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Packages in which further terms are gone. */
const REWRITTEN = /^packages\/(?:core|internal|provider-[a-z-]+)\//;

/** The term, its replacement, and where it applies, if not everywhere. */
const TERMS = [
  [/\b(?:the|a) person\b/i, "the user, a user"],
  [/\bnobody\b/, "no one"],
  [/\bsomebody\b/i, "someone"],
  [/\bwhoever\b/i, "anyone who, the caller"],
  [/\bgoes on\b/i, "continues"],
  [/\bfor good\b/i, "permanently"],
  [/\b(?:gives?|takes?) back\b/i, "returns, reverts, releases"],
  [/\b(?:after|without|needs?) a yes\b/i, "approval"],
  [/\b(?:refused|told|an error) in words\b/i, "with a message"],
  [/\bputs? back\b/i, "restores"],
  [/\bof (?:its|their) own\b/, "its own …, a separate …", REWRITTEN],
  [/\b(?:is|are|was|were) told\b/, "is notified, receives", REWRITTEN],
  [/\bat once\b/, "immediately, at the same time", REWRITTEN],
  [/\bin words\b/, "as text, with a message"],
  [/\bsigns? of life\b/i, "heartbeat, keep-alive"],
  [/\bvouch\b/i, "check, guarantee"],
  [/\b(?:meets|obeys)\b/, "handles, follows", REWRITTEN],
];

/** The offline assistant parses what users write, and the corpora are what models write. */
const NOT_OURS = /^(?:packages\/cli\/src\/offline|bench\/corpora|bench\/results)\/|^scripts\/language\.mjs$/;

const files = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs", "*.md"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && !NOT_OURS.test(file));
let count = 0;
for (const file of files) {
  const lines = readFileSync(`${ROOT}/${file}`, "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    for (const [term, instead, where] of TERMS) {
      if (where && !where.test(file)) continue;
      const found = term.exec(line)?.[0];
      if (found === undefined) continue;
      count++;
      console.log(`${file}:${index + 1}: write "${instead}" instead of "${found}"`);
    }
  }
}
process.exitCode = count === 0 ? 0 : 1;

// Reports private vocabulary that docs/contributing/README.md replaces with standard terms. Prints each line that uses
// a term and exits non-zero.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The term and its replacement. */
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
  [/\bof (?:its|their) own\b(?! \w)/, "its own …, a separate …"],
  [/\b(?:is|are|was|were) told\b/, "is notified, receives"],
  [/\bat once\b/i, "immediately, at the same time"],
  [/\bin words\b/, "as text, with a message"],
  [/\bsigns? of life\b/i, "heartbeat, keep-alive"],
  [/\bvouch\b/i, "check, guarantee"],
  [/\b(?:meets|obeys)\b/, "handles, follows"],
  [/\b(?:is|are|was|were|be) ended\b/, "is stopped, killed, closed (say which)"],
  [/\bfor ever\b/, "forever"],
  [/(?:'s|said) yes\b/, "approval, approved"],
  [/\bunasked\b/, "without being asked"],
  [/\blies (?:in|on|below|inside|outside)\b/, "is in"],
  [/\bso that (?:it|they) can (?:no|none)\b/, "so it cannot"],
  [/\bbrings\b/, "provides, adds, contains"],
  [/\bgo(?:ing)? on with\b|\bothers go on\b/, "continue"],
  [/\beverybody\b/i, "everyone, every user"],
  [/\b(?:gives?|takes?) (?:it|them|(?:the|its|a|an) \w+) back\b/, "returns, reverts, releases"],
  [
    /\b(?:it|which|that|this|what|they) (?:is|was|are|were) no (?!longer|one\b|more\b|less\b|different)/,
    "is not a",
  ],
  [/\bleads? (?:elsewhere|nowhere)\b/, "points elsewhere, has no effect"],
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
    for (const [term, instead] of TERMS) {
      const found = term.exec(line)?.[0];
      if (found === undefined) continue;
      count++;
      console.log(`${file}:${index + 1}: write "${instead}" instead of "${found}"`);
    }
  }
}
process.exitCode = count === 0 ? 0 : 1;

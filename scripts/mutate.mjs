// pnpm mutate [options] [file or folder…]: mutation testing of the files that guard data and rights. Changes one expression of
// a source file at a time and runs the tests of its package that import the file: a mutant that no test notices is printed.
//   --sample N    mutants for each file, chosen by --seed (default 10; 0 for all)
//   --seed N      another choice (default: the day, so that the nightly runs add up)
//   --shard I/N   every Nth file, starting at the Ith
//   --min P       fails if less than P per cent are killed (default 0)
// The file is changed in place and restored. Needs a build (`pnpm build`), for tests import other packages from `dist`.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";

const ROOT = dirname(import.meta.dirname);
const GUARDS = [
  "packages/core/src/loop",
  "packages/core/src/tools",
  "packages/core/src/conversation",
  "packages/core/src/rules",
  "packages/tools-fs/src/protect",
  "packages/tools-fs/src/write",
  "packages/tools-fs/src/edit",
  "packages/tools-bash/src/policy",
  "packages/tools-bash/src/sandbox",
  "packages/cli/src/permissions",
  "packages/cli/src/undo",
  "packages/durable/src/journal",
];
// A mutant may loop forever. It counts as killed, as in every other tool for this.
const TIMEOUT_MS = 180_000;
const SWAPPED = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "-": "+",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string", default: "10" },
    seed: { type: "string", default: `${Math.floor(Date.now() / 86_400_000)}` },
    shard: { type: "string", default: "0/1" },
    min: { type: "string", default: "0" },
  },
});

/** All changes to a source file: where, and the text that takes its place. */
function mutantsOf(text) {
  const found = [];
  const source = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true);
  const replace = (node, by) => found.push({ start: node.getStart(), end: node.end, by });
  const visit = (node) => {
    // Types have no effect, and the text of a message is not behaviour.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isNewExpression(node) && /Error|Refused|Unresolvable/.test(node.expression.getText())) return;
    if (ts.isBinaryExpression(node)) {
      const by = SWAPPED[node.operatorToken.getText()];
      if (by) replace(node.operatorToken, by);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      replace(node, `(${node.operand.getText()})`);
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, "true");
    else if (ts.isStringLiteral(node) && isCompared(node)) replace(node, '"mutated"');
    else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
      const condition = ts.isIfStatement(node) ? node.expression : node.condition;
      replace(condition, `(${condition.getText()}, true)`);
      replace(condition, `(${condition.getText()}, false)`);
    } else if (ts.isThrowStatement(node)) replace(node, ";");
    else if (ts.isExpressionStatement(node) && !ts.isStringLiteral(node.expression)) {
      const isSuper = node.expression.getText().startsWith("super(");
      if (!isSuper) replace(node, ";");
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A string that decides: in a list, next to a comparison, or as the argument of a test. */
function isCompared({ parent }) {
  if (ts.isArrayLiteralExpression(parent)) return true;
  if (ts.isBinaryExpression(parent)) return /^[!=]==$/.test(parent.operatorToken.getText());
  return (
    ts.isCallExpression(parent) && /\.(has|includes|startsWith|endsWith)$/.test(parent.expression.getText())
  );
}

function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function sampleOf(list, count, seed) {
  if (count === 0 || list.length <= count) return list;
  const random = seededRandom(seed);
  const rest = [...list];
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]);
}

/** The tests that run now. They are a process group, which Ctrl-C in the terminal does not reach. */
let running;

function killTests() {
  try {
    if (running?.pid !== undefined) process.kill(-running.pid, "SIGKILL");
  } catch {
    // They have ended already.
  }
}

/** Whether the tests fail. Rejects if they cannot be started. */
async function fails(directory, args) {
  running = spawn("pnpm", ["exec", "vitest", ...args, "--bail=1", "--reporter=dot", "--passWithNoTests"], {
    cwd: directory,
    stdio: "ignore",
    detached: true,
  });
  const timer = setTimeout(killTests, TIMEOUT_MS);
  try {
    const [code] = await once(running, "exit");
    return code !== 0;
  } finally {
    clearTimeout(timer);
    running = undefined;
  }
}

/** The tests that most likely notice come first; the others run only for a mutant that these let live. */
async function isKilled(directory, file) {
  const own = join(dirname(file), basename(file).replace(/\.ts$/, ".test.ts"));
  const beside = existsSync(own) ? own : dirname(file);
  if (await fails(directory, ["run", relative(directory, beside)])) return true;
  return await fails(directory, ["related", "--run", relative(directory, file)]);
}

const wanted = positionals.length > 0 ? positionals : GUARDS;
const [shard, shards] = values.shard.split("/").map(Number);
const files = wanted
  .map((path) => resolve(ROOT, path))
  .flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).map((name) => join(path, name))
      : [path],
  )
  .filter((path) => /(?<!\.test|\.d)\.ts$/.test(path))
  .sort()
  .filter((_, index) => index % shards === shard);

let all = 0;
let killed = 0;
for (const file of files) {
  const name = relative(ROOT, file);
  if (spawnSync("git", ["diff", "--quiet", "HEAD", "--", file], { cwd: ROOT }).status !== 0) {
    console.error(
      `${name} has changes that are not committed. Commit them first: the file is changed in place.`,
    );
    process.exit(2);
  }
  const text = readFileSync(file, "utf8");
  const restore = () => writeFileSync(file, text);
  const stop = () => {
    killTests();
    restore();
    process.exit(130);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const directory = join(ROOT, ...name.split("/").slice(0, 2));
  const mutants = sampleOf(mutantsOf(text), Number(values.sample), Number(values.seed));
  const survivors = [];
  if (await isKilled(directory, file)) {
    console.error(`The tests of ${name} fail without a mutant. Build the packages and fix the tests first.`);
    process.exit(2);
  }
  try {
    for (const mutant of mutants) {
      writeFileSync(file, text.slice(0, mutant.start) + mutant.by + text.slice(mutant.end));
      if (!(await isKilled(directory, file))) survivors.push(mutant);
    }
  } finally {
    restore();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  all += mutants.length;
  killed += mutants.length - survivors.length;
  console.log(`${name}: ${mutants.length - survivors.length} of ${mutants.length} killed`);
  for (const { start, end, by } of survivors) {
    const line = text.slice(0, start).split("\n").length;
    const [was, is] = [text.slice(start, end), by].map((part) => part.replace(/\s+/g, " ").slice(0, 80));
    console.log(`  survived, line ${line}: ${was}  →  ${is}`);
  }
}
const share = all === 0 ? 100 : (killed / all) * 100;
console.log(`${killed} of ${all} mutants killed (${share.toFixed(0)} %), seed ${values.seed}`);
process.exitCode = share < Number(values.min) ? 1 : 0;

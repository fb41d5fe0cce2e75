// pnpm mutate [options] [file or folder…]: mutation testing of the files that guard data and rights. Changes one expression of
// a source file at a time and runs the tests of its package that reach the change: a mutant that no test notices is printed.
//   --sample N    mutants for each file, chosen by --seed (default 10; 0 for all)
//   --seed N      another choice (default: the day, so that the nightly runs add up)
//   --shard I/N   every Nth file, starting at the Ith
//   --min P       fails if less than P per cent are killed (default 90)
//   --tests TEXT  only the test files whose path contains this text (repeatable)
//   --unreached   only prints the mutants that no test reaches, which needs a single run of the tests
// Needs a build (`pnpm build`), for tests import other packages from `dist`. No file is changed: vitest loads each source file
// with all its mutants, of which a run switches one on.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { createVitest } from "vitest/node";

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
/** Survivors that have been read: `{ file, line, change, reason }`, where `line` is the text of the source line. */
const ACCEPTED = JSON.parse(readFileSync(join(import.meta.dirname, "mutateAccepted.json"), "utf8"));
// A mutant that hangs counts as killed, as in every other tool for this.
const HANGING_TEST_MS = 30_000;
const HANGING_RUN_MS = 60_000;
// In a test file that takes longer than this, only the tests that reach the mutant run.
const LONG_FILE_MS = 3_000;
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
    min: { type: "string", default: "90" },
    tests: { type: "string", multiple: true, default: [""] },
    unreached: { type: "boolean", default: false },
  },
});

/** The mutants of a source file, and its text with a switch at each of them. */
function mutate(name, text) {
  const mutants = [];
  const add = (change) => {
    const id = `${name}#${mutants.length}`;
    mutants.push({ id, name, ...describe(text, change) });
    return `__mutant("${id}")`;
  };
  /** The text of a node, with the comments before it, and a switch at each mutant inside. */
  const print = (node) => {
    if (isWithoutMutants(node)) return text.slice(node.pos, node.end);
    let inner = "";
    let at = node.pos;
    ts.forEachChild(node, (child) => {
      inner += text.slice(at, child.pos) + print(child);
      at = child.end;
    });
    inner += text.slice(at, node.end);
    const start = node.getStart();
    const comments = inner.slice(0, start - node.pos);
    inner = inner.slice(start - node.pos);
    if (isRemovable(node)) return `${comments}{ if (!${add({ start, end: node.end, by: ";" })}) ${inner} }`;
    for (const change of changesOf(node)) {
      const changed = text.slice(start, change.start) + change.by + text.slice(change.end, node.end);
      inner = `(${add(change)} ? ${changed} : ${inner})`;
    }
    return comments + inner;
  };
  return { switched: print(ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true)), mutants };
}

/** The changes to an expression that are mutants: where, and the text that takes its place. */
function changesOf(node) {
  const changes = [];
  const replace = (part, by, shown = by) =>
    changes.push({ start: part.getStart(), end: part.end, by, shown });
  if (ts.isBinaryExpression(node)) {
    const by = SWAPPED[node.operatorToken.getText()];
    if (by) replace(node.operatorToken, by);
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    replace(node, `(${node.operand.getText()})`);
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, "false");
  else if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, "true");
  else if (ts.isStringLiteral(node) && isCompared(node)) replace(node, '"mutated"');
  if (isCondition(node)) {
    // Evaluated, for it may have an effect.
    replace(node, `(${node.getText()}, true)`, "true");
    replace(node, `(${node.getText()}, false)`, "false");
  }
  return changes;
}

/** Types have no effect, and the text of a message is not behaviour. */
function isWithoutMutants(node) {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  return ts.isNewExpression(node) && /Error|Refused|Unresolvable/.test(node.expression.getText());
}

/** A statement that is run for its effect. `unref` has none in a test: it lets a process end earlier. */
function isRemovable(node) {
  if (ts.isThrowStatement(node)) return true;
  if (!ts.isExpressionStatement(node) || ts.isStringLiteral(node.expression)) return false;
  const text = node.expression.getText();
  return !text.startsWith("super(") && !/\.unref(\?\.)?\(\)$/.test(text);
}

function isCondition(node) {
  const { parent } = node;
  if (parent === undefined) return false;
  if (ts.isIfStatement(parent)) return parent.expression === node;
  return ts.isConditionalExpression(parent) && parent.condition === node;
}

/** A string that decides: in a list, next to a comparison, or as the argument of a test. */
function isCompared({ parent }) {
  if (ts.isArrayLiteralExpression(parent)) return !isMessage(parent);
  if (ts.isBinaryExpression(parent)) return /^[!=]==$/.test(parent.operatorToken.getText());
  return (
    ts.isCallExpression(parent) && /\.(has|includes|startsWith|endsWith)$/.test(parent.expression.getText())
  );
}

function isMessage({ parent }) {
  return ts.isPropertyAccessExpression(parent) && parent.name.text === "join";
}

function describe(text, { start, end, by, shown = by }) {
  const lines = text.slice(0, start).split("\n");
  const short = (part) => part.replace(/\s+/g, " ").slice(0, 80);
  return {
    number: lines.length,
    line: text.split("\n")[lines.length - 1].trim(),
    change: `${short(text.slice(start, end))}  →  ${short(shown)}`,
  };
}

function isSame(accepted, mutant) {
  return accepted.file === mutant.name && accepted.line === mutant.line && accepted.change === mutant.change;
}

function seededRandom(seed) {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
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

function sourceFiles(path) {
  const paths = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true }).map((name) => join(path, name))
    : [path];
  return paths.filter((name) => /(?<!\.test|\.d)\.ts$/.test(name)).sort();
}

const hashOf = (...parts) => createHash("sha256").update(parts.join("\0")).digest("hex");

/** The tests of one package, in a vitest that stays warm. */
class PackageTests {
  #directory;
  #files = new Map();
  #vitest;
  #scratch = mkdtempSync(join(tmpdir(), "mutate-"));
  /** Test files, each with the mutants that its tests reach. */
  #reached = new Map();

  /** `files`: absolute path → text with switches. */
  constructor(directory, files) {
    this.#directory = directory;
    this.#files = files;
  }

  async open(related) {
    this.#vitest = await createVitest(
      "test",
      {
        root: this.#directory,
        watch: false,
        related,
        reporters: [{}],
        silent: true,
        maxWorkers: 1,
        setupFiles: [join(import.meta.dirname, "mutateSetup.mjs")],
        retry: 0,
      },
      {
        plugins: [{ name: "mutants", enforce: "pre", load: (id) => this.#files.get(id.split("?")[0]) }],
        server: { watch: null },
      },
    );
    const specifications = (await this.#vitest.getRelevantTestSpecifications()).filter(({ moduleId }) =>
      values.tests.some((text) => moduleId.includes(text)),
    );
    const failed = await this.#runWithout(specifications);
    for (const { config } of this.#vitest.projects) {
      config.bail = 1;
      config.testTimeout = HANGING_TEST_MS;
      config.hookTimeout = HANGING_TEST_MS;
    }
    return failed;
  }

  /** Runs the tests without a mutant. Test files that have not changed since the last time are not run again. */
  async #runWithout(specifications) {
    const cacheFile = join(
      ROOT,
      "node_modules/.cache/mutate",
      `${relative(ROOT, this.#directory).replace("/", "-")}.json`,
    );
    let cache = {};
    try {
      cache = JSON.parse(readFileSync(cacheFile, "utf8"));
    } catch {
      // The first run.
    }
    const sources = sourceFiles(join(this.#directory, "src")).map((path) => readFileSync(path, "utf8"));
    const sourcesKey = hashOf(readFileSync(import.meta.filename, "utf8"), ...sources);
    const keys = new Map(
      specifications.map(({ moduleId }) => [moduleId, hashOf(sourcesKey, readFileSync(moduleId, "utf8"))]),
    );
    const failed = [];
    const fresh = specifications.filter(({ moduleId }) => cache[moduleId]?.key !== keys.get(moduleId));
    if (fresh.length > 0) {
      console.error(
        `Running ${fresh.length} test files of ${relative(ROOT, this.#directory)} without a mutant.`,
      );
      await this.#run(fresh, undefined);
    }
    for (const specification of fresh) {
      const module = specification.testModule;
      const name = relative(ROOT, specification.moduleId);
      if (module === undefined || !["passed", "skipped"].includes(module.state())) failed.push(name);
      else cache[specification.moduleId] = { key: keys.get(specification.moduleId), ...reachedBy(module) };
    }
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify(cache));
    for (const specification of specifications) {
      const entry = cache[specification.moduleId];
      if (entry?.key === keys.get(specification.moduleId)) this.#reached.set(specification, entry);
    }
    return failed;
  }

  /** Runs tests, with one mutant switched on. Kills them after `timeout`, if there is one. */
  async #run(specifications, active, timeout) {
    const pidFile = join(this.#scratch, "pid");
    this.#vitest.provide("mutant", { active, pidFile });
    const kill = () => {
      try {
        process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
      } catch {
        // It has ended already.
      }
    };
    const timer = timeout === undefined ? undefined : setTimeout(kill, timeout);
    try {
      return await this.#vitest.runTestSpecifications(specifications);
    } finally {
      clearTimeout(timer);
      process.exitCode = undefined;
    }
  }

  /** The tests that reach a mutant: those next to the source file first, then the short ones. */
  #reaching({ id, name }) {
    const own = join(ROOT, name.replace(/\.ts$/, ".test.ts"));
    const found = [];
    for (const [specification, { milliseconds, outside, tests }] of this.#reached) {
      const ids = Object.keys(tests).filter((test) => tests[test].includes(id));
      const isWhole = outside.includes(id) || (ids.length > 0 && milliseconds < LONG_FILE_MS);
      if (!isWhole && ids.length === 0) continue;
      const { moduleId, project } = specification;
      const rank = moduleId === own ? 0 : dirname(moduleId) === dirname(own) ? 1 : 2;
      const chosen = isWhole ? specification : project.createSpecification(moduleId, { testIds: ids });
      found.push({ rank, milliseconds, chosen });
    }
    return found.sort((a, b) => a.rank - b.rank || a.milliseconds - b.milliseconds);
  }

  isReached(mutant) {
    return this.#reaching(mutant).length > 0;
  }

  async isKilled(mutant) {
    // One after the other: a test process that crashes does not count for `bail`.
    for (const { chosen, milliseconds } of this.#reaching(mutant)) {
      const { unhandledErrors } = await this.#run([chosen], mutant.id, HANGING_RUN_MS + 10 * milliseconds);
      if (unhandledErrors.length > 0 || chosen.testModule?.ok() === false) return true;
    }
    return false;
  }

  async close() {
    await this.#vitest.close();
    rmSync(this.#scratch, { recursive: true });
  }
}

function reachedBy(module) {
  const all = [...module.children.allTests()];
  const tests = Object.fromEntries(all.map((test) => [test.id, test.meta().reached ?? []]));
  // Tests that run at the same time cannot be told apart.
  const isShared = all.some((test) => test.options.concurrent);
  const outside = [...(module.meta().reached ?? []), ...(isShared ? Object.values(tests).flat() : [])];
  return { milliseconds: module.diagnostic().duration, outside, tests };
}

const wanted = (positionals.length > 0 ? positionals : GUARDS).flatMap((path) =>
  sourceFiles(resolve(ROOT, path)),
);
const [shard, shards] = values.shard.split("/").map(Number);
const files = wanted.filter((_, index) => index % shards === shard);
const packageOf = (file) => join(ROOT, ...relative(ROOT, file).split("/").slice(0, 2));

const folders = new Map();
let hasFailed = false;
for (const directory of new Set(files.map(packageOf))) {
  const own = files.filter((file) => packageOf(file) === directory);
  // All guards of the package get switches, whatever is asked for, so that the next call finds its tests in the cache.
  const guarded = GUARDS.map((path) => join(ROOT, path)).filter((path) => packageOf(path) === directory);
  const paths = [...new Set([...own, ...guarded.flatMap(sourceFiles)])].sort();
  const mutated = new Map(
    paths.map((path) => [path, mutate(relative(ROOT, path), readFileSync(path, "utf8"))]),
  );
  const tests = new PackageTests(
    directory,
    new Map([...mutated].map(([path, { switched }]) => [path, switched])),
  );
  const failed = await tests.open(own);
  if (failed.length > 0) {
    hasFailed = true;
    console.error(
      `These fail without a mutant and are left out. Build the packages and fix them first:\n  ${failed.join("\n  ")}`,
    );
  }
  for (const file of own) {
    const name = relative(ROOT, file);
    for (const one of ACCEPTED.filter((one) => one.file === name)) {
      if (mutated.get(file).mutants.some((mutant) => isSame(one, mutant))) continue;
      hasFailed = true;
      console.error(
        `scripts/mutateAccepted.json lists a mutant that ${name} does not have: ${one.change} in "${one.line}"`,
      );
    }
    const mutants = sampleOf(mutated.get(file).mutants, Number(values.sample), Number(values.seed));
    const counts = { killed: 0, accepted: 0, survived: 0 };
    const lines = [];
    for (const mutant of mutants) {
      if (ACCEPTED.some((one) => isSame(one, mutant))) {
        counts.accepted++;
        continue;
      }
      const isReached = tests.isReached(mutant);
      if (isReached && (values.unreached || (await tests.isKilled(mutant)))) counts.killed++;
      else {
        counts.survived++;
        lines.push(`  ${isReached ? "survived" : "no test reaches"} line ${mutant.number}: ${mutant.change}`);
      }
    }
    console.log([`${name}: ${summaryOf(counts)}`, ...lines].join("\n"));
    const folder = GUARDS.find((path) => name.startsWith(`${path}/`)) ?? dirname(name);
    const sum = folders.get(folder) ?? { killed: 0, accepted: 0, survived: 0 };
    for (const key of Object.keys(sum)) sum[key] += counts[key];
    folders.set(folder, sum);
  }
  await tests.close();
}

function summaryOf({ killed, accepted, survived }) {
  const all = killed + survived;
  const share = all === 0 ? 100 : Math.floor((killed / all) * 100);
  return `${killed} of ${all} killed (${share} %)${accepted > 0 ? `, ${accepted} accepted` : ""}`;
}

console.log(`\nSeed ${values.seed}${values.unreached ? ", reached instead of killed" : ""}`);
const total = { killed: 0, accepted: 0, survived: 0 };
for (const [folder, counts] of folders) {
  console.log(`${folder}: ${summaryOf(counts)}`);
  for (const key of Object.keys(total)) total[key] += counts[key];
}
console.log(`Together: ${summaryOf(total)}`);
if (total.killed * 100 < (total.killed + total.survived) * Number(values.min)) hasFailed = true;
process.exit(hasFailed ? 1 : 0);

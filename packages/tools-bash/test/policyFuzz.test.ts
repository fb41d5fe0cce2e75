import { expect, test } from "vitest";
import { describeCommands } from "../src/policy/commands.js";
import { shellLanguage } from "../src/policy/language.js";
import { type CommandWord, simpleCommands } from "../src/policy/parser.js";
import { createPolicy } from "../src/policy/policy.js";
import { generateScript, seededRandom } from "./fuzz/generate.js";
import { type Executed, execute, installedShells, type Shell } from "./fuzz/shells.js";

// FUZZ_SECONDS makes a long run, with its own seed unless FUZZ_SEED gives one.
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const seed = Number(process.env.FUZZ_SEED ?? (seconds > 0 ? Date.now() % 2 ** 31 : 20_261_116));
const SCRIPTS_PER_BATCH = 1500;
const DENIED_RAN = "ran the denied command";

const denies = createPolicy({ deny: ["denied"] });
const allows = createPolicy({ allow: ["ok_1", "ok_2", "ok_3"] });

/** Whether the policy read a command that may be the one that ran. */
function matches(words: readonly CommandWord[], ran: Executed): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return ran.length === 0;
  if (first.text !== undefined) return first.text === ran[0] && matches(rest, ran.slice(1));
  if (first.splits !== true) return ran.length > 0 && matches(rest, ran.slice(1));
  return Array.from({ length: ran.length + 1 }, (_, count) => ran.slice(count)).some((left) =>
    matches(rest, left),
  );
}

/** What is wrong with a script that the policy accepted, in view of what a shell ran. */
function problem(script: string, ran: readonly Executed[]): string | undefined {
  if (ran.some(([name]) => name === "denied")) return DENIED_RAN;
  // What these are given is read as its own script.
  if (/eval|trap|command|exec|builtin|time/.test(script)) return undefined;
  const read = simpleCommands(script);
  const unread = ran.find((words) => !read.some((command) => matches(command.words, words)));
  return unread && `ran ${JSON.stringify(unread)}, which the policy did not read`;
}

/**
 * The problem, if it is there every time. Two commands in the background that write to the log at the same moment can mix
 * their lines: that is a fault of the log.
 */
async function confirm(script: string, shell: Shell): Promise<string | undefined> {
  const runs = await Promise.all(Array.from({ length: 3 }, () => execute(shell, [script])));
  const found = runs.map(([ran = []]) => problem(script, ran));
  return found.includes(undefined) ? undefined : found[0];
}

test(
  `what the policy accepts, every shell reads as the policy did (seed ${seed})`,
  async () => {
    const end = Date.now() + seconds * 1000;
    const random = seededRandom(seed);
    const problems: string[] = [];
    const counts = { scripts: 0, accepted: 0, ran: 0 };
    do {
      const scripts = Array.from({ length: SCRIPTS_PER_BATCH }, () => generateScript(random));
      const accepted = scripts.filter(
        (script) => denies?.check(script).allowed === true || allows?.check(script).allowed === true,
      );
      const runs = await Promise.all(installedShells.map((shell) => execute(shell, accepted)));
      counts.scripts += scripts.length;
      counts.accepted += accepted.length;
      for (const [index, shell] of installedShells.entries()) {
        for (const [at, script] of accepted.entries()) {
          const ran = runs[index]?.[at] ?? [];
          counts.ran += ran.length;
          const first = problem(script, ran);
          const found = first === undefined || first === DENIED_RAN ? first : await confirm(script, shell);
          if (found !== undefined) problems.push(`${shell.join(" ")} ${found}: ${JSON.stringify(script)}`);
        }
      }
    } while (Date.now() < end && problems.length < 100);
    if (seconds > 0)
      process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}, ${problems.length} problems\n`);
    expect(problems).toEqual([]);
    // Otherwise the generator makes nothing that the policy judges, and the test nothing that can fail.
    expect(counts.accepted).toBeGreaterThan(counts.scripts / 20);
    expect(counts.ran).toBeGreaterThan(counts.accepted);
  },
  seconds * 1000 + 300_000,
);

test(`rules about each command are no weaker than the policy for the whole script (seed ${seed})`, async () => {
  const random = seededRandom(seed + 1);
  const counts = { covered: 0, none: 0 };
  for (let index = 0; index < SCRIPTS_PER_BATCH; index++) {
    const script = generateScript(random);
    const targets = describeCommands(script) ?? [];
    const [denied = [], ...oks] = await shellLanguage.match(["denied", "ok_1", "ok_2", "ok_3"], targets);
    if (targets.length > 0 && denied.every((match) => match === "none")) {
      counts.none++;
      expect(denies?.check(script), script).toEqual({ allowed: true });
    }
    const isCovered = targets.every((_, at) => oks.some((row) => row[at] === "covers"));
    if (targets.length === 0 || !isCovered) continue;
    counts.covered++;
    expect(allows?.check(script), script).toEqual({ allowed: true });
  }
  expect(counts.none).toBeGreaterThan(50);
  expect(counts.covered).toBeGreaterThan(10);
});

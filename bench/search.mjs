// pnpm bench search [name…]: @agent/tools-search against ripgrep, GNU grep, fast-glob and the plain design of
// the first specification, interleaved in one run, warm, medians of wall and CPU time.
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import fastGlob from "fast-glob";
import { searchFilesTool, searchTextTool } from "../packages/tools-search/dist/index.js";
import {
  linuxTree,
  log,
  millionFiles,
  npmTree,
  oneLineFiles,
  smallDirectory,
  smallFiles,
} from "./corpora/search.mjs";
import { createReport } from "./support/report.mjs";
import { median } from "./support/statistics.mjs";
import { createV8Search } from "./support/v8Search.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const only = process.argv.slice(2);
const report = createReport("search", "Search compared with ripgrep");
// A search ends soon after the last result that is shown: with fewer it would not search what rg searches.
const text = searchTextTool({ timeoutMs: 120_000, maxResults: 100_000 });
const files = searchFilesTool({ timeoutMs: 120_000 });
const v8Search = createV8Search();

/** What each measurement does: our arguments, and the same question for the others. */
const RG = ["--hidden", "--glob=!.git", "--no-config", "-n"];
const GREP = ["-rnI", "--exclude-dir=.git"];
const search = (query, options = {}) => ({ query, ...options });

const MEASUREMENTS = [
  text_("linux-literal", linuxTree, search("EXPORT_SYMBOL_GPL"), {
    grep: ["-F"],
    plain: true,
    v8: { literal: "EXPORT_SYMBOL_GPL" },
  }),
  text_("linux-absent", linuxTree, search("zqxwv_no_such"), {
    grep: ["-F"],
    v8: { literal: "zqxwv_no_such" },
  }),
  text_("linux-ignore-case", linuxTree, search("pm_resume", { ignore_case: true }), {
    v8: { pattern: "pm_resume", flags: "i" },
  }),
  text_("linux-regex-literal", linuxTree, search("kmalloc\\(\\w+,\\s*GFP_ATOMIC", { regex: true }), {
    v8: { pattern: "kmalloc\\(\\w+,\\s*GFP_ATOMIC", literal: "GFP_ATOMIC" },
  }),
  ...[
    ["linux-words-4", "TODO|FIXME|XXX|HACK"],
    [
      "linux-words-9",
      "kmalloc|kfree|mutex_lock|spin_lock|copy_from_user|list_add|memcpy|printk|EXPORT_SYMBOL",
    ],
  ].map(([name, query]) =>
    text_(name, linuxTree, search(query, { regex: true, count: true }), { v8: { pattern: query } }),
  ),
  text_("linux-regex-class", linuxTree, search("[A-Z]{4,}_[0-9]{5,}", { regex: true }), {
    v8: { pattern: "[A-Z]{4,}_[0-9]{5,}" },
  }),
  text_(
    "linux-regex-hard",
    linuxTree,
    search("\\w+\\s+=\\s+\\w+\\(\\w+,\\s*\\w+\\)\\s*\\?", { regex: true }),
  ),
  ...[
    ["linux-class-run", "[a-z]{14,}"],
    ["linux-class-words", "[A-Z][a-z]+[A-Z][a-z]+\\w+\\("],
    ["linux-class-snake", "[a-z]+_[a-z]+_[a-z]+_[a-z]+"],
    ["linux-class-line", "^\\s*[a-z]+\\s+\\w+;$"],
    ["linux-class-call", "\\w+\\s*\\(\\s*\\)"],
    ["linux-class-quoted", '"[^"]{60,}"'],
    ["linux-class-trailing", "\\s+$"],
    ["linux-class-long-line", ".{120,}"],
    // Without an automaton: the engine of the language backtracks. rg needs --pcre2 for it.
    ["linux-look-around", "(?<=\\w)[A-Z]{3,}(?=\\d)", ["--pcre2"]],
    // More lines than a result may have: counted by file, by both.
  ].map(([name, query, rg]) => text_(name, linuxTree, search(query, { regex: true, count: true }), { rg })),
  text_("linux-common-cap-100", linuxTree, search("return", { max_results: 100 })),
  text_("hundred-files", smallDirectory, search("needle")),
  text_("100k-small-files", smallFiles, search("needle here")),
  text_("500mb-log", log, search("ERROR timeout")),
  text_("500mb-log-absent", log, search("FATAL panic")),
  text_("one-line-4mb", oneLineFiles, search("needleInTheMiddle")),
  files_("files-100k", smallFiles, "**/*.ts"),
  files_("files-npm", npmTree, "node_modules/**/*.ts"),
];

function text_(name, corpus, args, others = {}) {
  return { name, create: () => textContenders(corpus(), args, others) };
}

function textContenders(path, args, { grep, plain, v8, rg = [] }) {
  const flags = [
    rg,
    args.regex ? [] : ["-F"],
    args.ignore_case ? ["-i"] : [],
    args.count ? ["--count"] : [],
  ].flat();
  return {
    ours: () => text.execute({ ...args, paths: [path] }),
    others: {
      rg: () => program("rg", [...RG, ...flags, "-e", args.query, path]),
      ...(grep && { grep: () => program("grep", [...GREP, ...grep, "-e", args.query, path]) }),
      ...(plain && { plain: () => plainDesign(args.query, path) }),
      ...(v8 && { "V8 in a worker + Buffer.indexOf": () => v8Search({ flags: "", ...v8, path }) }),
    },
  };
}

function files_(name, corpus, pattern) {
  return { name, create: () => fileContenders(corpus(), pattern) };
}

function fileContenders(path, pattern) {
  return {
    ours: () => files.execute({ pattern, path, include_ignored: true }),
    others: {
      "rg --files": () =>
        program("rg", ["--files", "--no-ignore", "--hidden", "--no-config", "-g", pattern, path]),
      "fast-glob": () => fastGlob(pattern, { cwd: path, dot: true, followSymbolicLinks: false }),
    },
  };
}

/** The design of the first specification: fast-glob, fs/promises, split, includes. */
async function plainDesign(query, path) {
  const found = [];
  for (const file of await fastGlob("**/*", { cwd: path, absolute: true, followSymbolicLinks: false })) {
    const lines = (await readFile(file, "utf8")).split("\n");
    for (const [index, line] of lines.entries())
      if (line.includes(query)) found.push(`${file}:${index + 1}:${line}`);
  }
  return found.slice(0, 200).join("\n");
}

/** Runs a program with its output thrown away, and returns the CPU time it took in milliseconds. */
function program(command, args) {
  const { stderr, error } = spawnSync(
    "bash",
    ["-c", 'TIMEFORMAT="cpu %U %S"; time "$@" >/dev/null', "bash", command, ...args],
    { encoding: "utf8" },
  );
  if (error) throw error;
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(stderr.trim()) ?? [];
  return { cpu: (Number(user) + Number(system)) * 1000 };
}

async function measure(run) {
  const before = process.cpuUsage();
  const start = performance.now();
  const result = await run();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: result?.cpu ?? (user + system) / 1000 };
}

/** The goal of each measurement: our CPU time divided by rg's. */
const REACH = [
  [/^linux-(literal|absent|ignore-case|regex-literal|words)/, 1.25],
  [/^linux-(regex-)?class/, 1.5],
  [/^linux-common-cap/, 1.0],
  [/^hundred-files/, 0.5],
  [/^100k-small-files/, 1.15],
  [/^500mb-log/, 1.3],
  [/^one-line/, 1.0],
  [/^files-100k/, 1.0],
];

function addRows(name, times, others) {
  for (const key of Object.keys(others)) {
    const bound = REACH.find(([pattern]) => pattern.test(name))?.[1];
    const isMain = key.startsWith("rg");
    const ratio = (kind) => times[key].map((theirs, round) => times.ours[round][kind] / theirs[kind]);
    const wall = `wall ${median(ratio("wall")).toFixed(2)}, ${median(times.ours.map((time) => time.wall)).toFixed(0)} ms`;
    report.add({
      work: name,
      unit: `× ${key}, CPU`,
      ...(isMain && bound !== undefined && { reach: `≤ ${bound}` }),
      ...(key === "fast-glob" && { reach: "≤ 0.7" }),
      values: ratio("cpu"),
      note: wall,
    });
  }
}

const entry = new URL("../packages/tools-search/dist/index.js", import.meta.url).href;

/** The minimum, for start-up times: other load on the machine only adds to them. */
const best = (values) => Math.min(...values);
for (const { name, create } of MEASUREMENTS) {
  if (only.length > 0 && !only.some((part) => name.includes(part))) continue;
  // Create corpora only when needed, so that one measurement does not wait for the corpora of all.
  const { ours, others } = create();
  const contenders = { ours, ...others };
  const times = Object.fromEntries(Object.keys(contenders).map((key) => [key, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [key, run] of Object.entries(contenders)) {
      // The plain design takes most of a minute, and V8 without a literal as long: once is enough.
      if (/^(plain|V8)/.test(key) && round !== 0) continue;
      const time = await measure(run);
      if (round >= 0) times[key].push(time);
    }
  }
  addRows(name, times, others);
}

if (only.length === 0 || only.includes("host")) await hostFigures();
if (only.length === 0 || only.includes("first-call")) firstCall();
if (only.length === 0 || only.includes("million")) millionFigures();
report.save({ isPartial: only.length > 0 });

/** What a search costs the program it runs in. */
async function hostFigures() {
  const path = linuxTree();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await text.execute({ query: "EXPORT_SYMBOL_GPL", paths: [path] });
  delay.disable();
  report.add({
    work: "longest event-loop stall during a search",
    unit: "ms",
    reach: "≤ 20",
    values: [delay.max / 1e6],
  });
  const memory = script(`const { searchTextTool } = await import("${entry}");
    for (const query of ["EXPORT_SYMBOL_GPL", "return"]) await searchTextTool().execute({ query, paths: ["${path}"] });
    console.log(process.resourceUsage().maxRSS);`);
  report.add({
    work: "peak memory of a program that searches the Linux tree",
    unit: "MB",
    reach: "≤ 150",
    values: [Number(memory) / 1024],
  });
  const starts = Array.from({ length: 9 }, () => [time("0"), time(`await import("${entry}")`)]);
  report.add({
    work: "import of the package over bare node, fastest",
    unit: "ms",
    reach: "≤ 10",
    values: [best(starts.map((pair) => pair[1])) - best(starts.map((pair) => pair[0]))],
  });
  const small = smallDirectory();
  const first = Array.from({ length: 7 }, () =>
    script(`const { searchTextTool } = await import("${entry}"); const tool = searchTextTool();
      const run = async () => { const start = performance.now(); await tool.execute({ query: "needle", paths: ["${small}"] }); return performance.now() - start; };
      const first = await run(); await run(); console.log(first - (await run()));`),
  );
  report.add({ work: "first call over a warm one", unit: "ms", reach: "≤ 150", values: first.map(Number) });
}

/** The first search of a new process, from the call to its result, compared with rg from its start to its end. */
function firstCall() {
  const path = linuxTree();
  const run = (query, prepare = "") =>
    Number(
      script(`const { searchTextTool, register } = await import("${entry}"); ${prepare}
        const start = performance.now(); await searchTextTool().execute({ query: "${query}", paths: ["${path}"] });
        console.log(performance.now() - start); process.exit();`),
    );
  // As in an agent: the pack gets ready when the model is asked, and the first call comes when it has answered.
  const warmed = `register({ register() {}, provide: (services) => services.warmUp() });
    await new Promise((resolve) => setTimeout(resolve, 500));`;
  const rg = (query) => wallOf(() => program("rg", [...RG, "-F", "-e", query, path]));
  for (const [work, prepare] of [
    ["first search of a process", ""],
    ["first search of a process, workers started while the model thinks", warmed],
  ]) {
    const values = Array.from({ length: ROUNDS }, () => {
      const theirs = rg("zqxwv_no_such");
      return run("zqxwv_no_such", prepare) / theirs;
    });
    report.add({ work, unit: "× rg, wall", reach: "≤ 1.3", values });
  }
}

/** The memory that the process needs to find files among a million. */
function millionFigures() {
  const path = millionFiles();
  for (const [work, args] of [
    ["newest of a million files", { pattern: "**/*.ts", sort: "newest" }],
    ["a glob over a million files", { pattern: "d4*/**/f1?.json" }],
  ]) {
    const memory = script(`const { searchFilesTool } = await import("${entry}");
      const found = await searchFilesTool({ timeoutMs: 600_000 }).execute(${JSON.stringify({ ...args, path })});
      if (!found.includes("/f")) throw new Error(found);
      console.log(process.resourceUsage().maxRSS); process.exit();`);
    report.add({ work: `peak memory: ${work}`, unit: "MB", reach: "≤ 200", values: [Number(memory) / 1024] });
  }
}

function script(body) {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", body], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function wallOf(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function time(body) {
  const start = performance.now();
  spawnSync(process.execPath, ["--input-type=module", "-e", body]);
  return performance.now() - start;
}

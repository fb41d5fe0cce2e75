import { execFileSync } from "node:child_process";
import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Pool } from "../src/host/pool/pool.js";
import { openLocalExecutor } from "../src/host/pool/shared.js";
import { formatTextResult } from "../src/host/report.js";
import { searchText } from "../src/host/textSearch.js";
import { searchFilesTool } from "../src/index.js";
import { FirstItems } from "../src/worker/glob/task.js";
import { makeTree, randomNumbers, run } from "./tree.js";

const name = (number: number): string => `f${String(number).padStart(5, "0")}.txt`;

test("continues counting only for the configured time once all wanted results are found", async () => {
  const files = Array.from({ length: 3000 }, (_, number) => [name(number), "foo\nfoo\n"] as const);
  const root = makeTree(Object.fromEntries(files));
  const open = (events: Parameters<typeof openLocalExecutor>[1]) => openLocalExecutor(true, events);
  const query = {
    ...{ text: "foo", regex: false, ignoreCase: false, mode: "lines" as const, context: 0 },
    ...{ maxLineLength: 100, maxCharacters: 10_000 },
  };
  const scope = { cwd: root, root: undefined, secret: [], granted: [], includeIgnored: false };
  const walk = { kind: "walk" as const, scope, paths: ["."], glob: undefined };
  const search = (countOnMs: number) =>
    searchText(new Pool(1, open, open), { query, walk, maxResults: 3, countOnMs }, { timeoutMs: 60_000 });
  const shown = { ...query, timeoutMs: 60_000 };

  const stopped = await search(0);
  expect(stopped.matches).toBeLessThan(6000);
  expect(formatTextResult(stopped, shown)).toBe(
    [
      ...["f00000.txt:1:foo", "f00000.txt:2:foo", "f00001.txt:1:foo"],
      `[3 of more than ${stopped.matches} matching lines shown (${stopped.matchedFiles} files); for the rest raise max_results or narrow paths, glob or query; ${stopped.searched} files searched; the others were not searched, because enough was found]`,
    ].join("\n"),
  );
  const whole = await search(60_000);
  expect(formatTextResult(whole, shown)).toContain("[3 of 6000 matching lines shown (3000 files)");
});

test("sorts by time and counts all in search_files, with patterns that find a file twice", async () => {
  const random = randomNumbers(7);
  const paths = Array.from(
    { length: 300 },
    (_, number) => `${["a", "a/b", "c"][number % 3]}/${name(number)}`,
  );
  const root = makeTree(Object.fromEntries(paths.map((path) => [path, ""])));
  const times = new Map(paths.map((path) => [path, 1_000_000 + random(200)]));
  for (const [path, time] of times) utimesSync(join(root, path), time, time);
  const newest = [...paths].sort((x, y) => (times.get(y) ?? 0) - (times.get(x) ?? 0) || (x < y ? -1 : 1));
  for (const pattern of ["**/*.txt", "{a/**,a/b/**,c/*}"]) {
    for (const max_results of [7, 1000]) {
      const found = await run(searchFilesTool(), root, {
        pattern,
        path: root,
        sort: "newest",
        max_results,
      });
      expect(found.lines).toEqual(newest.slice(0, max_results));
      expect(found.account).toContain("300 files");
    }
  }
});

test("keeps only the first items, in order, however many are added", () => {
  const random = randomNumbers(9);
  const all = Array.from({ length: 10_000 }, () => random(1_000_000));
  const first = new FirstItems<number>(20, (a, b) => a - b);
  for (const item of all) first.add(item);
  expect(first.sorted()).toEqual(all.sort((a, b) => a - b).slice(0, 20));
});

// The system's own list of threads: a worker that lets the process end is not in Node's list of what is active.
test.skipIf(!existsSync("/proc/self/task"))(
  "starts workers once the model is asked, and does not keep the process alive with them",
  () => {
    const pack = new URL("../dist/index.js", import.meta.url).href;
    const script = `
    const { register } = await import(${JSON.stringify(pack)});
    const { readdirSync } = await import("node:fs");
    const threads = () => readdirSync("/proc/self/task").length;
    const before = threads();
    const services = [];
    const registry = { register() {}, unregister() {}, enable() {}, disable() {}, hasTool() {}, isToolEnabled() {}, getToolNames() {} };
    register({ ...registry, provide: (given) => services.push(given) }, { context: {}, options: { workers: 2 } });
    if (process.argv[1] !== "registered") for (const { warmUp } of services) warmUp();
    if (process.argv[1] === "disposed") for (const { dispose } of services) dispose();
    const { setTimeout: wait } = await import("node:timers/promises");
    const deadline = process.argv[1] === "asked" ? 10_000 : 200;
    for (let waited = 0; waited < deadline && threads() === before; waited += 5) await wait(5);
    console.log(threads() > before);`;
    const node = (mode: string): string =>
      execFileSync(process.execPath, ["--input-type=module", "-e", script, mode], {
        encoding: "utf8",
      }).trim();
    expect(node("asked")).toBe("true");
    expect(node("registered")).toBe("false");
    expect(node("disposed")).toBe("false");
  },
);

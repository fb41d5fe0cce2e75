import { execFileSync, spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scanInRanges } from "../src/host/textSearch.js";
import { searchTextTool } from "../src/index.js";
import { makeTree, put, run } from "./tree.js";

const text = searchTextTool();
const call = (signal: AbortSignal) => ({ signal }) as never;

describe("many searches at the same time", () => {
  test("runs 50 searches in parallel and aborts every third: the rest agree and no abort listener leaks", async () => {
    const root = makeTree();
    for (let i = 0; i < 300; i++) put(root, `d${i % 10}/f${i}.txt`, `foo ${i}\n`);
    const controllers = Array.from({ length: 50 }, () => new AbortController());
    const searches = controllers.map(({ signal }) =>
      text.execute({ query: "foo", paths: [root], count: true }, call(signal)),
    );
    for (const [index, controller] of controllers.entries()) if (index % 3 === 0) controller.abort();
    const outcomes = await Promise.allSettled(searches);
    const finished = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(finished).toHaveLength(33);
    expect(new Set(finished).size).toBe(1);
    for (const { signal } of controllers) expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("stops a waiting search immediately on an abort while all executors are busy, also one from before the call", async () => {
    const root = makeTree({ "a.txt": `${"a".repeat(60)}!\n`, "b.txt": "foo\n" });
    const endless = new AbortController();
    const busy = Array.from({ length: 3 }, () =>
      text
        .execute({ query: "^(?=(a+)+$)\\1?(a+)+$", regex: true, paths: [root] }, call(endless.signal))
        .catch((error: Error) => error.message),
    );
    const waiting = new AbortController();
    const search = text.execute({ query: "foo", paths: [root] }, call(waiting.signal));
    waiting.abort();
    await expect(search).rejects.toThrow(/aborted/);
    await expect(text.execute({ query: "foo", paths: [root] }, call(AbortSignal.abort()))).rejects.toThrow(
      /aborted/,
    );
    endless.abort();
    expect(await Promise.all(busy)).toEqual(Array(3).fill("This operation was aborted"));
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual(["b.txt:1:foo"]);
  });
});

test("lets a process exit while a search is pending if it wants to, and by itself when all are done", () => {
  const root = makeTree({ "a.txt": `${"a".repeat(60)}!\n` });
  const dist = new URL("../dist/index.js", import.meta.url).href;
  const start = `const { searchTextTool } = await import(${JSON.stringify(dist)}); const tool = searchTextTool();`;
  const end = (script: string) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", start + script], { encoding: "utf8" });
  const endless = `tool.execute({ query: "^(?=(a+)+$)\\\\1?(a+)+$", regex: true, paths: [${JSON.stringify(root)}] })`;
  const pending = end(`${endless}.catch(() => 0); setTimeout(() => process.exit(7), 300);`);
  expect([pending.status, pending.stderr]).toEqual([7, ""]);
  const done = end(
    `console.log(await tool.execute({ query: "!", paths: [${JSON.stringify(root)}], count: true }));`,
  );
  expect([done.status, done.stdout]).toEqual([
    0,
    `${root}/a.txt:1\n[1 matching file (1 matching line); 1 file searched]\n`,
  ]);
});

describe("what is named", () => {
  test("is searched once if it is named twice, inside another path or through a link", async () => {
    const root = makeTree({ "d/a.txt": "foo\n", "d/e/b.txt": "foo\n", "c.txt": "foo\n" });
    symlinkSync(join(root, "d"), join(root, "link"));
    const paths = ["d", "d/", "link", "d/a.txt", "d/../d/a.txt", "link/a.txt", ".", "d/e"];
    const { lines } = await run(text, root, { query: "foo", paths: paths.map((path) => `${root}/${path}`) });
    expect([...lines].sort()).toEqual(["c.txt:1:foo", "d/a.txt:1:foo", "d/e/b.txt:1:foo"]);
  });

  test("counts as vanished, not as searched, if a large file is replaced while its ranges are searched", async () => {
    const root = makeTree({ "big.log": "line\n".repeat(5_000_000), "other.log": "foo\n".repeat(5_000_000) });
    const { sharedPool } = await import("../src/host/pool/shared.js");
    const job = sharedPool().createJob();
    const query = {
      ...{ text: "foo", regex: false, ignoreCase: false, mode: "lines" as const, context: 0 },
      ...{ maxLineLength: 100, maxCharacters: 10_000 },
    };
    const file = { index: 0, path: join(root, "big.log"), label: "big.log", size: 25_000_000, identity: "" };
    const scope = { cwd: root, root: undefined, secret: [], granted: [], includeIgnored: false };
    let identity = "";
    const batch = { base: `${root}/`, shown: "", paths: "big.log", named: false };
    await job.run({ kind: "scan", query, scope, batch, budget: 5, splitLarge: true }, (reply) => {
      if (reply.kind === "scanned") identity = reply.large[0]?.identity ?? "";
    });
    expect(identity).toMatch(/^\d+:\d+$/);
    renameSync(join(root, "other.log"), join(root, "big.log"));
    const options = { query, scope, maxResults: 5, named: false };
    const scan = await scanInRanges(job, { ...file, identity }, options);
    expect(scan.failed).toEqual({ status: "vanished", reason: "was replaced while it was searched" });
  });

  test.skipIf(!existsSync("/proc/kallsyms"))("is read to its end if it is a file of procfs", async () => {
    // Larger than the page that one read of such a file gives.
    const last = readFileSync("/proc/kallsyms", "utf8").trimEnd().split("\n").at(-1) ?? "";
    for (const paths of [["/proc/kallsyms"], ["/proc"]]) {
      const found = await text.execute({ query: last, paths, glob: "kallsyms" });
      expect(found).toMatch(/^\/proc\/kallsyms:/);
    }
  });
});

test("ignores directories, pipes, binary data and dangling links named like ignore files", async () => {
  const root = makeTree({
    "dir/x": "foo\n",
    "pipe/x": "foo\n",
    "binary/.gitignore": Buffer.from([0xff, 0, 0xfe, 10, 0x78, 10]),
    "binary/x": "foo\n",
    "binary/y": "foo\n",
    "dangling/x": "foo\n",
    "worktree/.git": "gitdir: /no/such/place\n",
    "worktree/.gitignore": "x\n",
    "worktree/x": "foo\n",
    "worktree/nested/.git/HEAD": "",
    "worktree/nested/x": "foo\n",
  });
  mkdirSync(join(root, "dir/.gitignore"));
  execFileSync("mkfifo", [join(root, "pipe/.gitignore")]);
  symlinkSync("/no/such/file", join(root, "dangling/.gitignore"));
  const { lines } = await run(text, root, { query: "foo", paths: [root], files_only: true });
  expect(lines).toEqual(["binary/y", "dangling/x", "dir/x", "pipe/x", "worktree/nested/x"]);
});

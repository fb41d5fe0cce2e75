// File tools against the programs and calls they replace, side by side in one run.
// Build first, then: pnpm bench fs [list|window|read|write|import]
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { comparePairs, wallTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";

const PACK = new URL("../packages/tools-fs/dist/index.js", import.meta.url);
const { listDirTool, readFileTool, Workspace, writeFileTool } = await import(PACK.href);

const base = mkdtempSync(join(tmpdir(), "bench-fs-"));
process.on("exit", () => rmSync(base, { recursive: true, force: true }));
const wanted = process.argv.slice(2);

const report = createReport("fs", "File tools");

/** Adds the ratio of ours to theirs, both measured in turn `rounds` times, each time `repeat` calls. */
async function addRatio({ work, against, reach, rounds, repeat = 1, ours, theirs }) {
  const times = (call) => async () => {
    for (let index = 0; index < repeat; index++) await call();
  };
  const { ratios } = await comparePairs({ rounds, ours: times(ours), theirs: times(theirs) });
  report.add({ work, unit: `× ${against}`, ...(reach !== undefined && { reach }), values: ratios });
}

const parts = {
  async list() {
    const directory = join(base, "many");
    mkdirSync(directory);
    for (let index = 0; index < 100_000; index++) {
      writeFileSync(join(directory, `file-${(index * 7919) % 100_000}.txt`), "");
    }
    const all = listDirTool(new Workspace({ maxEntries: 200_000 }));
    const capped = listDirTool();
    const theirs = () => spawnSync("ls", ["-1p", directory], { maxBuffer: 1e9 });
    const common = { against: "ls -1p", reach: "≤ 1.0", rounds: 9, theirs };
    await addRatio({
      ...common,
      work: "list_dir, 100k entries, all shown",
      ours: () => all.execute({ path: directory }),
    });
    await addRatio({
      ...common,
      work: "list_dir, 100k entries, first 1000",
      ours: () => capped.execute({ path: directory }),
    });
  },

  async window() {
    const path = join(base, "big.log");
    const file = openSync(path, "w");
    const lines = Array.from({ length: 4200 }, (_, index) => `${index} ${"lorem ipsum dolor ".repeat(6)}\n`);
    const block = Buffer.from(lines.map((line) => line.slice(-119)).join(""));
    for (let index = 0; index < 1000; index++) writeSync(file, block);
    closeSync(file);
    const line = 4_000_000;
    const sed = (script) => spawnSync("sed", ["-n", script, path], { maxBuffer: 1e9 });
    const work = "read_file, 100 lines at line 4,000,000 of 500 MB";
    const ours = () => readFileTool().execute({ path, offset: line, limit: 100 });
    await addRatio({
      work,
      against: "sed -n",
      reach: "≤ 0.5",
      rounds: 5,
      ours,
      theirs: () => sed(`${line},${line + 99}p`),
    });
    await addRatio({
      work: `${work}, against sed that stops there`,
      against: "sed -n …;q",
      rounds: 5,
      ours,
      theirs: () => sed(`${line},${line + 99}p;${line + 99}q`),
    });
    const tool = readFileTool();
    await tool.execute({ path, offset: line, limit: 100 });
    const next = [];
    for (let round = 0; round < 21; round++) {
      next.push(await wallTime(() => tool.execute({ path, offset: line + 100, limit: 100 })));
    }
    report.add({ work: "the next window", unit: "ms", reach: "≤ 5", values: next });
    const script = `
      const { readFileTool } = await import(${JSON.stringify(PACK.href)});
      const tool = readFileTool();
      await tool.execute({ path: ${JSON.stringify(path)}, offset: ${line}, limit: 100 });
      await tool.execute({ path: ${JSON.stringify(path)}, offset: ${line + 100}, limit: 100 });
      console.log(process.resourceUsage().maxRSS / 1024);`;
    const peak = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    report.add({
      work: "peak memory of a process that reads both windows",
      unit: "MB",
      reach: "≤ 100",
      values: [Number(peak)],
    });
  },

  async read() {
    const tool = readFileTool();
    for (const size of [1000, 4096, 65_536]) {
      const path = join(base, `small-${size}`);
      // Use few lines: `read_file` would cut a file of more than 2,000.
      writeFileSync(path, `${"some text of a small file ".repeat(3)}\n`.repeat(size / 79));
      await addRatio({
        work: `read_file, ${size} bytes`,
        against: "fs.readFile",
        reach: "≤ 1.3",
        rounds: 31,
        repeat: 50,
        ours: () => tool.execute({ path }),
        theirs: () => readFile(path, "utf8"),
      });
    }
  },

  async write() {
    const tool = writeFileTool();
    for (const size of [4096, 65_536, 1_048_576]) {
      const content = "x".repeat(size);
      const [own, plain] = ["own", "plain"].map((name) => join(base, `${name}-${size}`));
      const common = {
        work: `write_file, ${size} bytes, replacing`,
        rounds: 31,
        repeat: 5,
        ours: () => tool.execute({ path: own, content }),
      };
      await addRatio({
        ...common,
        against: "fs.writeFile",
        reach: "≤ 2.5",
        theirs: () => writeFile(plain, content),
      });
      await addRatio({
        ...common,
        work: `${common.work}, against a flushed write`,
        against: "fs.writeFile with flush",
        theirs: () => writeFile(plain, content, { flush: true }),
      });
    }
  },

  async import() {
    const [bare, pack] = ["bare.mjs", "pack.mjs"].map((name) => join(base, name));
    writeFileSync(bare, "");
    writeFileSync(pack, `import ${JSON.stringify(fileURLToPath(PACK))};`);
    const run = (path) => () => spawnSync(process.execPath, [path]);
    const { ours, theirs } = await comparePairs({ rounds: 41, ours: run(pack), theirs: run(bare) });
    report.add({
      work: "import of the pack over bare node",
      unit: "ms",
      reach: "≤ 10",
      values: ours.map((time, round) => time - theirs[round]),
    });
  },
};

for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
report.save({ isPartial: wanted.length > 0 });

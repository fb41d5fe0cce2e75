// File tools against the programs and calls they stand in for, side by side in one run.
// Build first, then: node bench/fs.mjs [list|window|read|write|import]
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACK = new URL("../packages/tools-fs/dist/index.js", import.meta.url);
const { ListDirTool, ReadFileTool, Workspace, WriteFileTool } = await import(PACK.href);

const base = mkdtempSync(join(tmpdir(), "bench-fs-"));
process.on("exit", () => rmSync(base, { recursive: true, force: true }));
const wanted = process.argv.slice(2);

/** Runs every contestant in turn, `rounds` times, and gives the median of each in milliseconds. */
async function compare(rounds, contestants, repeat = 1) {
  const times = new Map(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < rounds + 1; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = performance.now();
      for (let index = 0; index < repeat; index++) await run(index);
      // The first round warms caches and compilers.
      if (round > 0) times.get(name).push((performance.now() - start) / repeat);
    }
  }
  return Object.fromEntries([...times].map(([name, list]) => [name, median(list)]));
}

function median(list) {
  return list.sort((a, b) => a - b)[list.length >> 1];
}

function report(work, reach, measured) {
  console.log(`| ${work} | ${reach} | ${measured} |`);
}

function ratio(own, other, name) {
  return `${(own / other).toFixed(2)} × ${name} (${own.toFixed(2)} ms against ${other.toFixed(2)} ms)`;
}

const parts = {
  async list() {
    const directory = join(base, "many");
    mkdirSync(directory);
    for (let index = 0; index < 100_000; index++) {
      writeFileSync(join(directory, `file-${(index * 7919) % 100_000}.txt`), "");
    }
    const all = new ListDirTool(new Workspace({ maxEntries: 200_000 }));
    const capped = new ListDirTool();
    const times = await compare(9, {
      ls: () => spawnSync("ls", ["-1p", directory], { maxBuffer: 1e9 }),
      all: () => all.execute({ path: directory }),
      capped: () => capped.execute({ path: directory }),
    });
    report("list_dir, 100k entries, all shown", "≤ 1.0 × ls -1p", ratio(times.all, times.ls, "ls -1p"));
    report("list_dir, 100k entries, first 1000", "≤ 1.0 × ls -1p", ratio(times.capped, times.ls, "ls -1p"));
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
    const times = await compare(5, {
      sed: () => sed(`${line},${line + 99}p`),
      quit: () => sed(`${line},${line + 99}p;${line + 99}q`),
      first: () => new ReadFileTool().execute({ path, offset: line, limit: 100 }),
    });
    const tool = new ReadFileTool();
    await tool.execute({ path, offset: line, limit: 100 });
    const next = await compare(21, { next: () => tool.execute({ path, offset: line + 100, limit: 100 }) });
    const script = `
      const { ReadFileTool } = await import(${JSON.stringify(PACK.href)});
      const tool = new ReadFileTool();
      await tool.execute({ path: ${JSON.stringify(path)}, offset: ${line}, limit: 100 });
      await tool.execute({ path: ${JSON.stringify(path)}, offset: ${line + 100}, limit: 100 });
      console.log(process.resourceUsage().maxRSS / 1024);`;
    const peak = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    report("read_file, line 4,000,000 of 500 MB", "≤ 0.5 × sed -n", ratio(times.first, times.sed, "sed -n"));
    report("the same against sed that quits there", "", ratio(times.first, times.quit, "sed -n …;q"));
    report("the next window", "≤ 5 ms", `${next.next.toFixed(2)} ms`);
    report("peak memory of the whole process", "≤ 100 MB", `${Number(peak).toFixed(0)} MB`);
  },

  async read() {
    const tool = new ReadFileTool();
    for (const size of [1000, 4096, 65_536]) {
      const path = join(base, `small-${size}`);
      writeFileSync(path, "some text of a small file\n".repeat(size / 26));
      const times = await compare(
        31,
        { own: () => tool.execute({ path }), plain: () => readFile(path, "utf8") },
        50,
      );
      report(`read_file, ${size} bytes`, "≤ 1.3 × fs.readFile", ratio(times.own, times.plain, "fs.readFile"));
    }
  },

  async write() {
    const tool = new WriteFileTool();
    for (const size of [4096, 65_536, 1_048_576]) {
      const content = "x".repeat(size);
      const [own, plain, flushed] = ["own", "plain", "flushed"].map((name) => join(base, `${name}-${size}`));
      const times = await compare(
        31,
        {
          own: () => tool.execute({ path: own, content }),
          plain: () => writeFile(plain, content),
          flushed: () => writeFile(flushed, content, { flush: true }),
        },
        5,
      );
      report(
        `write_file, ${size} bytes, replacing`,
        "≤ 2.5 × fs.writeFile",
        ratio(times.own, times.plain, "fs.writeFile"),
      );
      report(
        "the same against a flushed write",
        "",
        ratio(times.own, times.flushed, "fs.writeFile with flush"),
      );
    }
  },

  async import() {
    const [bare, pack] = ["bare.mjs", "pack.mjs"].map((name) => join(base, name));
    writeFileSync(bare, "");
    writeFileSync(pack, `import ${JSON.stringify(fileURLToPath(PACK))};`);
    const run = (path) => () => spawnSync(process.execPath, [path]);
    const times = await compare(41, { bare: run(bare), pack: run(pack) });
    report(
      "import of the pack over bare node",
      "≤ 10 ms",
      `${(times.pack - times.bare).toFixed(1)} ms (bare node took ${times.bare.toFixed(0)} ms in the same run)`,
    );
  },
};

console.log("| work | reach | measured |\n|---|---|---|");
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}

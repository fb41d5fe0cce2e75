import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileTools, temporaryDirectory } from "../test/support.js";

// Two thousand are enough to catch a check that is not repeated after opening; RACE_TRIES=10000 takes its time.
const RACE_TRIES = Number(process.env.RACE_TRIES ?? 2000);

/** A root, with a directory next to it that no tool may reach. */
function scene() {
  const base = temporaryDirectory();
  const [root, outside] = [join(base, "ws"), join(base, "outside")];
  for (const directory of [root, outside, join(base, "ws-evil")]) mkdirSync(directory);
  writeFileSync(join(outside, "secret"), "the secret");
  return { root, outside, base, run: fileTools({ root }) };
}

/** A call of every tool with the same path. */
function everyTool(path: string): [string, Record<string, unknown>][] {
  return [
    ["read_file", { path }],
    ["write_file", { path, content: "x" }],
    ["edit_file", { path, old_text: "the secret", new_text: "x" }],
    ["list_dir", { path }],
    ["mkdir", { path: join(path, "made") }],
    ["move", { source: join(path, "secret"), destination: "moved" }],
    ["remove", { path: join(path, "secret") }],
  ];
}

test("never leaves the root through a link with any tool", async () => {
  const { root, outside, run } = scene();
  symlinkSync(outside, join(root, "way"));
  symlinkSync(join(outside, "secret"), join(root, "file"));
  for (const [name, args] of everyTool(join(root, "way")))
    expect(await run(name, args), name).toContain("is outside");
  for (const name of ["read_file", "list_dir"]) {
    expect(await run(name, { path: join(root, "file") })).toContain("is outside");
  }
  expect(await run("move", { source: join(root, "file"), destination: join(root, "way") })).toContain(
    "is outside",
  );
  expect(readdirSync(outside)).toEqual(["secret"]);
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("the secret");
});

test("refuses a sibling with the same prefix, .., /proc/self/cwd and file: URLs in every tool", async () => {
  const { root, base, run } = scene();
  for (const path of [
    `${root}-evil`,
    `${root}/../outside`,
    "/proc/self/cwd",
    `file://${root}`,
    join(base, "outside"),
  ]) {
    for (const [name, args] of everyTool(path)) {
      expect(await run(name, args), `${name} ${path}`).toMatch(/is outside|is a URL/);
    }
  }
  expect(readdirSync(base).sort()).toEqual(["outside", "ws", "ws-evil"]);
});

test("creates nothing outside the root when writing through a dangling link", async () => {
  const { root, outside, run } = scene();
  symlinkSync(join(outside, "new"), join(root, "dangling"));
  expect(await run("write_file", { path: join(root, "dangling"), content: "x" })).toContain("is outside");
  expect(await run("write_file", { path: join(root, "dangling/deep/x"), content: "x" })).toContain(
    "is outside",
  );
  expect(await run("mkdir", { path: join(root, "dangling") })).toContain("is outside");
  expect(readdirSync(outside)).toEqual(["secret"]);
});

test("follows and keeps a link inside the root, and can remove a link that points outside", async () => {
  const { root, outside, run } = scene();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "link"));
  await run("write_file", { path: join(root, "link/a"), content: "x" });
  expect(readdirSync(join(root, "real"))).toEqual(["a"]);
  symlinkSync(outside, join(root, "way"));
  expect(await run("remove", { path: join(root, "way") })).toContain("(link)");
  expect(readdirSync(outside)).toEqual(["secret"]);
});

test("allows everything inside the root, with paths relative to the working directory too", async () => {
  const run = fileTools({ root: process.cwd() });
  expect(await run("read_file", { path: "package.json" })).toContain('"name": "@agent/tools-fs"');
  expect(await run("read_file", { path: "../core/package.json" })).toContain("is outside");
});

/** Swaps a directory for a link to another one and back, as fast as it can, until it is stopped. */
function swapForever(directory: string, outside: string): ChildProcess {
  const script = `
    import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
    const [directory, outside] = process.argv.slice(1);
    const aside = directory + ".aside";
    process.stdout.write("ready");
    for (;;) {
      try {
        renameSync(directory, aside);
        symlinkSync(outside, directory);
        unlinkSync(directory);
        renameSync(aside, directory);
      } catch {
        // A tool created the directory while it was renamed: start again from there.
        for (const heal of [() => unlinkSync(directory), () => rmSync(aside, { recursive: true }), () => mkdirSync(directory)]) {
          try { heal(); } catch {}
        }
      }
      // Now and then the directory must be there long enough for a call to begin.
      for (let turn = 0; turn < 20; turn++) existsSync(directory);
    }`;
  return spawn(process.execPath, ["--input-type=module", "-e", script, directory, outside], {
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test.skipIf(process.platform !== "linux")(
  "never follows a parent swapped for a link between check and use, in thousands of tries (Linux only)",
  { timeout: 120_000 },
  async () => {
    const { root, outside, run } = scene();
    mkdirSync(join(root, "d"));
    mkdirSync(join(outside, "victim"));
    writeFileSync(join(root, "source"), "x");
    const swapper = swapForever(join(root, "d"), outside);
    onTestFinished(() => void swapper.kill("SIGKILL"));
    await new Promise((resolve) => swapper.stdout?.once("data", resolve));
    // Repeat until both outcomes of the race have occurred, however the two processes are scheduled.
    let [succeeded, refused] = [0, 0];
    for (let round = 0; round < RACE_TRIES / 8 || succeeded === 0 || refused === 0; round++) {
      const texts = await Promise.all([
        run("write_file", { path: join(root, "d/new"), content: "x" }),
        run("write_file", { path: join(root, "d/deep/er"), content: "x" }),
        run("mkdir", { path: join(root, "d/made") }),
        run("read_file", { path: join(root, "d/secret") }),
        run("list_dir", { path: join(root, "d") }),
        run("remove", { path: join(root, "d/secret") }),
        run("remove", { path: join(root, "d/victim") }),
        run("move", { source: join(root, "source"), destination: join(root, "d/moved"), overwrite: true }),
      ]);
      expect(texts.filter((text) => /the secret|victim\//.test(text))).toEqual([]);
      succeeded += texts.filter((text) => !text.startsWith("Error")).length;
      refused += texts.filter((text) => text.includes("is outside")).length;
      writeFileSync(join(root, "source"), "x");
    }
    expect(readdirSync(outside).sort()).toEqual(["secret", "victim"]);
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("the secret");
  },
);

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  asOrdinaryUser,
  canMount,
  fileTools,
  MEMORY,
  onDiskOf,
  temporaryDirectory,
} from "../../test/support.js";
import { removeTool } from "../index.js";

test("removes files and directories, with everything in them", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "d/sub"), { recursive: true });
  writeFileSync(join(directory, "d/sub/a"), "");
  writeFileSync(join(directory, "f"), "");
  const run = fileTools();
  expect(await run("remove", { path: join(directory, "f") })).toBe(`Removed ${join(directory, "f")} (file)`);
  expect(await run("remove", { path: join(directory, "d") })).toBe(
    `Removed ${join(directory, "d")} (directory with 2 entries)`,
  );
  expect(readdirSync(directory)).toEqual([]);
});

test("does nothing for a missing path and reports it", async () => {
  const path = join(temporaryDirectory(), "nothing");
  expect(await fileTools()("remove", { path })).toBe(`Nothing to remove: ${path} does not exist`);
  expect(await fileTools()("remove", { path: `${path}/deeper` })).toContain("Nothing to remove");
});

test.each(["", "/", "//", "/."])(
  "removes a link, never its target (written with %j at the end)",
  async (suffix) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "target"));
    writeFileSync(join(directory, "target/precious"), "x");
    symlinkSync("target", join(directory, "link"));
    expect(await fileTools()("remove", { path: `${directory}/link${suffix}` })).toContain("(link)");
    expect(readdirSync(directory)).toEqual(["target"]);
    expect(readFileSync(join(directory, "target/precious"), "utf8")).toBe("x");
  },
);

test("links inside a removed directory are not followed", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "d"));
  mkdirSync(join(directory, "outside"));
  writeFileSync(join(directory, "outside/precious"), "x");
  symlinkSync(join(directory, "outside"), join(directory, "d/link"));
  await fileTools()("remove", { path: join(directory, "d") });
  expect(readdirSync(join(directory, "outside"))).toEqual(["precious"]);
});

test("refuses root, home, the working directory and their ancestors, however they are written", async () => {
  const directory = temporaryDirectory();
  symlinkSync(dirname(process.cwd()), join(directory, "way"));
  const run = fileTools();
  const forms = [
    "/",
    "//",
    "/.",
    ".",
    "./",
    "..",
    "../",
    "src/..",
    process.cwd(),
    `${process.cwd()}/`,
    dirname(process.cwd()),
    homedir(),
    `${homedir()}/`,
    `${homedir()}/x/..`,
    join(directory, "way", basename(process.cwd())),
    `/proc/self/root${process.cwd()}`,
  ];
  for (const path of forms) {
    expect(await run("remove", { path }), path).toMatch(/^Error executing remove: .*is never removed\.$/);
  }
  expect(existsSync(join(process.cwd(), "package.json"))).toBe(true);
});

test("refuses the confining root too", async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, "a"), "");
  expect(await fileTools({ root })("remove", { path: root })).toContain(
    "the directory the tools are confined to",
  );
  expect(readdirSync(root)).toEqual(["a"]);
});

test("removes a directory of 20 000 files", { timeout: 120_000 }, async () => {
  const directory = temporaryDirectory(MEMORY);
  mkdirSync(join(directory, "d"));
  for (let index = 0; index < 20_000; index++) writeFileSync(join(directory, "d", String(index)), "");
  expect(await fileTools()("remove", { path: join(directory, "d") })).toContain("20000 entries");
  expect(readdirSync(directory)).toEqual([]);
});

test("reports exactly what cannot be removed, and removes the rest", () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "d/closed"), { recursive: true });
  mkdirSync(join(directory, "d/open"));
  for (const name of ["closed/a", "closed/b", "open/c", "e"]) writeFileSync(join(directory, "d", name), "");
  chmodSync(directory, 0o777);
  chmodSync(join(directory, "d"), 0o777);
  chmodSync(join(directory, "d/open"), 0o777);
  chmodSync(join(directory, "d/closed"), 0o555);
  const [text] = asOrdinaryUser([{ tool: "remove", args: { path: join(directory, "d") } }]);
  expect(text).toContain("3 of 7 entries removed, 4 left");
  expect(text).toContain(`${join(directory, "d/closed/a")}: permission denied (EACCES)`);
  expect(text).toContain(`${join(directory, "d/closed/b")}: permission denied (EACCES)`);
  expect(readdirSync(join(directory, "d"))).toEqual(["closed"]);
  expect(readdirSync(join(directory, "d/closed"))).toEqual(["a", "b"]);
  chmodSync(join(directory, "d/closed"), 0o755);
});

test.skipIf(!canMount)(
  "does not remove a mounted file system and names it in the error, also if the path itself is the mount (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "d/mounted"), { recursive: true });
    writeFileSync(join(directory, "d/a"), "");
    const { results, check } = onDiskOf(
      "256k",
      join(directory, "d/mounted"),
      [
        { tool: "remove", args: { path: join(directory, "d/mounted") } },
        { tool: "remove", args: { path: join(directory, "d") } },
      ],
      // Do not work in the mount itself: the working directory would be refused for another reason.
      { prepare: `echo x > precious; cd ${directory}`, check: "cat d/mounted/precious; ls -A d" },
    );
    expect(results[0]).toContain("d/mounted: another file system is mounted there");
    expect(results[1]).toContain("1 of 3 entries removed, 2 left");
    expect(check).toBe("x\nmounted\n");
  },
);

test.skipIf(!canMount)(
  "leaves alone a directory of the same disk that is mounted inside, with all its content (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    const { results, check } = onDiskOf(
      "256k",
      directory,
      [{ tool: "remove", args: { path: join(directory, "tree") } }],
      {
        prepare:
          "mkdir precious tree tree/inner; echo x > precious/f; touch tree/f; mount --bind precious tree/inner",
        check: "cat precious/f; ls -A tree",
      },
    );
    expect(results[0]).toContain("1 of 3 entries removed, 2 left");
    expect(results[0]).toContain("tree/inner: another file system is mounted there");
    expect(check).toBe("x\ninner\n");
  },
);

test("stops a removal on an abort: entries not removed yet stay", async () => {
  const directory = temporaryDirectory(MEMORY);
  mkdirSync(join(directory, "d"));
  for (let index = 0; index < 5000; index++) writeFileSync(join(directory, "d", String(index)), "");
  const stop = new AbortController();
  const removal = removeTool().execute(
    { path: join(directory, "d") },
    { signal: stop.signal, onOutput: () => undefined },
  );
  setImmediate(() => stop.abort());
  await expect(removal).rejects.toThrow("aborted");
  expect(readdirSync(join(directory, "d")).length).toBeGreaterThan(0);
});

test("removes a tree deeper than the longest allowed path", async () => {
  const directory = temporaryDirectory();
  const deep = join(directory, "deep");
  mkdirSync(deep);
  const name = "d".repeat(200);
  // Build the tree from the inside out: the full path to the innermost directory is too long for the system.
  for (let depth = 0; depth < 30; depth++) {
    mkdirSync(join(directory, "outer"));
    renameSync(deep, join(directory, "outer", name));
    renameSync(join(directory, "outer"), deep);
  }
  expect(await fileTools()("remove", { path: deep })).toContain("30 entries");
  expect(readdirSync(directory)).toEqual([]);
});

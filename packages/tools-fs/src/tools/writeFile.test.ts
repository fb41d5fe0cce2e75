import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  asOrdinaryUser,
  type Call,
  canMount,
  fileTools,
  inAnotherProcess,
  onDiskOf,
  temporaryDirectory,
} from "../../test/support.js";
import { writeFileTool } from "./writeFile.js";

test("Scenario: Write file tool behavior preserved", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  const tool = writeFileTool();
  expect(await tool.execute({ path: file, content: "é\nb" })).toBe(`Created ${file} (4 bytes, 2 lines)`);
  expect(await tool.execute({ path: file, content: "" })).toBe(`Replaced ${file} (0 bytes, 0 lines)`);
  expect(readFileSync(file, "utf8")).toBe("");
});

test("creates missing parents", async () => {
  const directory = temporaryDirectory();
  await fileTools()("write_file", { path: join(directory, "a/b/c.txt"), content: "x" });
  expect(readFileSync(join(directory, "a/b/c.txt"), "utf8")).toBe("x");
});

test("keeps the mode when overwriting", async () => {
  const file = join(temporaryDirectory(), "run.sh");
  writeFileSync(file, "old");
  chmodSync(file, 0o755);
  await fileTools()("write_file", { path: file, content: "new" });
  expect(statSync(file).mode & 0o7777).toBe(0o755);
});

test("respects the umask for a new file and does not make it writable for everyone", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  await fileTools()("write_file", { path: file, content: "x" });
  expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(statSync(file).mode & 0o002).toBe(0);
});

test("writes through a link, which stays a link, also through a linked directory and dangling", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "real/deep"), { recursive: true });
  symlinkSync("real/deep", join(directory, "shortcut"));
  // The target is relative to the real directory of the link, not to the path used to reach it.
  symlinkSync("../target.txt", join(directory, "real/deep/link"));
  await fileTools()("write_file", { path: join(directory, "shortcut/link"), content: "x" });
  expect(readFileSync(join(directory, "real/target.txt"), "utf8")).toBe("x");
  expect(readlinkSync(join(directory, "real/deep/link"))).toBe("../target.txt");
  expect(existsSync(join(directory, "target.txt"))).toBe(false);
});

test("refuses a directory, and leaves nothing in it", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "d"));
  const run = fileTools();
  expect(await run("write_file", { path: join(directory, "d"), content: "x" })).toContain("is a directory");
  expect(await run("write_file", { path: `${join(directory, "new")}/`, content: "x" })).toContain(
    "names a directory",
  );
  expect(await run("read_file", { path: join(directory, "d") })).toContain("is a directory. Use list_dir");
  expect(readdirSync(directory)).toEqual(["d"]);
  expect(readdirSync(join(directory, "d"))).toEqual([]);
});

test.each([
  [{ path: "x" }, "content"],
  [{ path: "x", content: undefined }, "content"],
  [{ path: "x", content: { a: 1 } }, "content"],
  [{ path: "x", content: null }, "content"],
  [{ path: "", content: "x" }, "path"],
  [{ path: 0, content: "x" }, "path"],
  [{ path: "a\0b", content: "x" }, "NUL"],
  [{ path: "a\ud83d", content: "x" }, "half a character"],
  [
    { path: "x", content: "ab\ude00" },
    '"content" holds half a character (\\ude00, an unpaired surrogate) at position 2',
  ],
  [{ path: "x", content: "x", contents: "y" }, "contents"],
])("names bad arguments and creates no file: %j", async (args, named) => {
  const directory = temporaryDirectory();
  const path = typeof args.path === "string" && args.path !== "" ? join(directory, args.path) : args.path;
  const text = await fileTools()("write_file", { ...args, path });
  expect(text).toMatch(/^Error executing write_file: /);
  expect(text).toContain(named);
  expect(readdirSync(directory)).toEqual([]);
});

test("leaves one whole version and nothing else after fifty writers to one path", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "a.txt");
  const run = fileTools();
  const versions = Array.from({ length: 50 }, (_, index) => `${index}\n`.repeat(20_000));
  const texts = await Promise.all(versions.map((content) => run("write_file", { path: file, content })));
  expect(texts.filter((text) => text.startsWith("Created"))).toHaveLength(1);
  expect(texts.filter((text) => text.startsWith("Replaced"))).toHaveLength(49);
  expect(readFileSync(file, "utf8")).toBe(versions.at(-1));
  expect(readdirSync(directory)).toEqual(["a.txt"]);
});

test("never mixes writers of two processes", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "a.txt");
  const calls = (letter: string): Call[] => {
    const args = { path: file, content: letter.repeat(200_000) };
    return Array.from({ length: 50 }, () => ({ tool: "write_file", args }));
  };
  await Promise.all([inAnotherProcess(calls("a")), inAnotherProcess(calls("b"))]);
  expect(readFileSync(file, "utf8")).toMatch(/^(a{200000}|b{200000})$/);
  expect(readdirSync(directory)).toEqual(["a.txt"]);
});

test("shows a reader during overwrites the old or the new, never a part", async () => {
  const file = join(temporaryDirectory(), "a.txt");
  const run = fileTools();
  const whole = (letter: string): string => letter.repeat(300_000);
  writeFileSync(file, whole("a"));
  let done = false;
  const writing = (async () => {
    for (let round = 0; round < 30; round++) {
      await run("write_file", { path: file, content: whole(round % 2 ? "a" : "b") });
    }
    done = true;
  })();
  const seen = new Set<string>();
  while (!done) {
    const text = readFileSync(file, "utf8");
    seen.add(text === whole("a") ? "old" : text === whole("b") ? "new" : `part of ${text.length}`);
    await new Promise(setImmediate);
  }
  await writing;
  expect([...seen].filter((one) => one.startsWith("part"))).toEqual([]);
});

test("leaves the old file or the new one, whole, after a process is killed in the middle of writing", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "a.txt");
  const old = "old".repeat(1000);
  const script = `
    import { writeFileTool } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
    const tool = writeFileTool();
    const content = "new".repeat(3_000_000);
    process.stdout.write("ready");
    for (;;) await tool.execute({ path: ${JSON.stringify(file)}, content });`;
  for (let round = 0; round < 5; round++) {
    writeFileSync(file, old);
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    // Kill a little later in the write each time.
    for (let turn = 0; turn < round * 200; turn++) await new Promise(setImmediate);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const text = readFileSync(file, "utf8");
    expect(text === old || text === "new".repeat(3_000_000)).toBe(true);
  }
});

test.skipIf(!canMount)(
  "keeps the old content and no part of the new on a full disk (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    const { results, check } = onDiskOf(
      "256k",
      directory,
      [
        { tool: "write_file", args: { path: join(directory, "a.txt"), content: "x".repeat(1_000_000) } },
        {
          tool: "write_file",
          args: { path: join(directory, "new/deep/b.txt"), content: "x".repeat(1_000_000) },
        },
        {
          tool: "edit_file",
          args: { path: join(directory, "a.txt"), old_text: "old", new_text: "y".repeat(1_000_000) },
        },
      ],
      { prepare: "echo old > a.txt", check: "cat a.txt; ls -A" },
    );
    for (const text of results) expect(text).toContain("no space is left on the device (ENOSPC)");
    expect(check).toBe("old\na.txt\n");
  },
);

test("reports missing permission, replaces nothing and leaves nothing", () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "closed"));
  mkdirSync(join(directory, "open"));
  writeFileSync(join(directory, "open/readonly.txt"), "old");
  chmodSync(join(directory, "open/readonly.txt"), 0o444);
  chmodSync(join(directory, "closed"), 0o555);
  chmodSync(join(directory, "open"), 0o777);
  chmodSync(directory, 0o755);
  const texts = asOrdinaryUser([
    { tool: "write_file", args: { path: join(directory, "closed/a.txt"), content: "x" } },
    { tool: "write_file", args: { path: join(directory, "closed/b/a.txt"), content: "x" } },
    { tool: "write_file", args: { path: join(directory, "open/readonly.txt"), content: "x" } },
  ]);
  for (const text of texts) expect(text).toContain("permission denied (EACCES)");
  expect(readFileSync(join(directory, "open/readonly.txt"), "utf8")).toBe("old");
  expect(readdirSync(join(directory, "open"))).toEqual(["readonly.txt"]);
  expect(readdirSync(join(directory, "closed"))).toEqual([]);
});

test("does not replace a writable file in a read-only directory, and explains why", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "f"), "old");
  chmodSync(join(directory, "f"), 0o666);
  chmodSync(directory, 0o755);
  const texts = asOrdinaryUser([
    { tool: "write_file", args: { path: join(directory, "f"), content: "new" } },
    { tool: "edit_file", args: { path: join(directory, "f"), old_text: "old", new_text: "new" } },
  ]);
  for (const text of texts) {
    expect(text).toContain("permission denied (EACCES), since no file can be added to its directory.");
  }
  expect(readFileSync(join(directory, "f"), "utf8")).toBe("old");
});

test("writes a name of 250 bytes, and refuses a longer one with a message, leaving nothing", async () => {
  const directory = temporaryDirectory();
  const run = fileTools();
  const longest = "é".repeat(125);
  expect(await run("write_file", { path: join(directory, longest), content: "1" })).toContain("Created");
  expect(await run("write_file", { path: join(directory, longest), content: "2" })).toContain("Replaced");
  const tooLong = await run("write_file", { path: join(directory, "x".repeat(256)), content: "x" });
  expect(tooLong).toContain("the name or the path is too long (ENAMETOOLONG)");
  const deep = `${directory}/${"d/".repeat(2500)}x`;
  for (const name of ["read_file", "list_dir", "mkdir", "remove"]) {
    expect(await run(name, { path: deep })).toMatch(/too long|does not exist|no such file/);
  }
  expect(await run("write_file", { path: deep, content: "x" })).toContain("ENAMETOOLONG");
  expect(readdirSync(directory)).toEqual([longest]);
});

test("removes the parents it created, and no others, if the file cannot be written", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "old"));
  const path = join(directory, "old/new/deep", "x".repeat(256));
  expect(await fileTools()("write_file", { path, content: "x" })).toContain("ENAMETOOLONG");
  expect(readdirSync(directory, { recursive: true })).toEqual(["old"]);
});

const ODD_NAMES = [
  "a\nb",
  "😀",
  "-rf",
  " lead",
  "trail ",
  "it's",
  '"quoted"',
  "*?[x]{y}",
  "back\\slash",
  "back\\",
  "back\\..",
  "e\u0301",
  "%2e%2e",
  "~x",
  "$HOME",
  "file:x",
];

test.each(ODD_NAMES)("keeps the name %j byte for byte", async (name) => {
  const directory = temporaryDirectory();
  const run = fileTools();
  await run("write_file", { path: join(directory, name), content: name });
  expect(readdirSync(directory)).toEqual([name]);
  expect(await run("read_file", { path: join(directory, name) })).toBe(name);
  await run("move", { source: join(directory, name), destination: join(directory, `${name}2`) });
  expect(readdirSync(directory)).toEqual([`${name}2`]);
  await run("remove", { path: join(directory, `${name}2`) });
  expect(readdirSync(directory)).toEqual([]);
});

test("never writes a FIFO or a device", async () => {
  const text = await fileTools()("write_file", { path: "/dev/null", content: "x" });
  expect(text).toContain("is a device, and only regular files can be written");
  expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
});

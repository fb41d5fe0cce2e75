import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeFileAtomic } from "./writeFileAtomic.js";

const CHATTR = "chattr";
const isRoot = process.getuid?.() === 0;

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "atomic-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("creates a file, then replaces it, and leaves nothing else", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "a");
  expect(await writeFileAtomic(path, "one")).toEqual({ created: true });
  expect(await writeFileAtomic(path, Buffer.from("two"))).toEqual({ created: false });
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(readdirSync(directory)).toEqual(["a"]);
});

test("gives a new file the requested mode, less the umask, and keeps the mode of an old one", async () => {
  const path = join(temporaryDirectory(), "a");
  await writeFileAtomic(path, "x", { mode: 0o600 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o751);
  await writeFileAtomic(path, "y");
  expect(statSync(path).mode & 0o777).toBe(0o751);
});

test.skipIf(!isRoot)("keeps the owner (only root can give files away)", async () => {
  const path = join(temporaryDirectory(), "a");
  writeFileSync(path, "x");
  chownSync(path, 1234, 2345);
  chmodSync(path, 0o4755);
  await writeFileAtomic(path, "y");
  const { uid, gid, mode } = statSync(path);
  expect([uid, gid, mode & 0o7777]).toEqual([1234, 2345, 0o4755]);
});

test("writes through a link, relative to its location, also when it dangles", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "real/deep"), { recursive: true });
  symlinkSync("real/deep", join(directory, "shortcut"));
  symlinkSync("../target", join(directory, "real/deep/link"));
  await writeFileAtomic(join(directory, "shortcut/link"), "x");
  expect(readFileSync(join(directory, "real/target"), "utf8")).toBe("x");
  expect(readlinkSync(join(directory, "real/deep/link"))).toBe("../target");
});

test("replaces the link itself without following, and keeps its target", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "target"), "old");
  symlinkSync("target", join(directory, "link"));
  await writeFileAtomic(join(directory, "link"), "new", { follow: false });
  expect(lstatSync(join(directory, "link")).isFile()).toBe(true);
  expect(readFileSync(join(directory, "target"), "utf8")).toBe("old");
});

test("refuses a loop of links, a directory and a device, and leaves nothing", async () => {
  const directory = temporaryDirectory();
  symlinkSync("loop", join(directory, "loop"));
  mkdirSync(join(directory, "d"));
  await expect(writeFileAtomic(join(directory, "loop"), "x")).rejects.toThrow("loop of symbolic links");
  await expect(writeFileAtomic(join(directory, "d"), "x")).rejects.toThrow("is a directory");
  await expect(writeFileAtomic("/dev/null", "x")).rejects.toThrow("not a regular file");
  await expect(writeFileAtomic(join(directory, "missing/a"), "x")).rejects.toThrow("ENOENT");
  expect(readdirSync(directory).sort()).toEqual(["d", "loop"]);
});

test("writes a name as long as names may be", async () => {
  const path = join(temporaryDirectory(), "n".repeat(255));
  await writeFileAtomic(path, "x");
  expect(readFileSync(path, "utf8")).toBe("x");
});

test("removes the temporary file on an orderly exit in the middle of a write", () => {
  const directory = temporaryDirectory();
  const module = new URL("../../../dist/toolkit.js", import.meta.url);
  if (!existsSync(module)) throw new Error("Build the package first: this runs it in its own process.");
  const script = `
    import { watch } from "node:fs";
    import { writeFileAtomic } from ${JSON.stringify(module.href)};
    watch(${JSON.stringify(directory)}).once("change", () => process.exit(0));
    await writeFileAtomic(${JSON.stringify(join(directory, "a"))}, Buffer.alloc(200_000_000));`;
  execFileSync(process.execPath, ["--input-type=module", "-e", script]);
  expect(readdirSync(directory).filter((name) => name !== "a")).toEqual([]);
});

test("names the temporary file that stays in a directory that lets nothing be removed", async ({ skip }) => {
  const directory = temporaryDirectory();
  const target = join(directory, "f");
  writeFileSync(target, "old");
  if (spawnSync(CHATTR, ["+a", directory]).status !== 0)
    return skip("needs chattr +a: root, and a disk that knows it");
  try {
    const error = await writeFileAtomic(target, "new").catch((thrown: unknown) => thrown);
    const [leftBehind] = readdirSync(directory);
    expect(error).toMatchObject({ code: "EPERM", leftBehind });
    expect(String(error)).toContain(`${leftBehind} could not be removed`);
    expect(readFileSync(target, "utf8")).toBe("old");
  } finally {
    execFileSync(CHATTR, ["-a", directory]);
  }
});

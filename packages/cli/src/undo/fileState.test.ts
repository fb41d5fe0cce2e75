import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BlobStore } from "./blobStore.js";
import { type FileState, isSameState, MISSING, readState, readTree } from "./fileState.js";

let folder: string;
let blobs: BlobStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-state-"));
  blobs = new BlobStore(join(folder, "blobs"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

test("reads the kind of a path", async () => {
  writeFileSync(at("file"), "text");
  chmodSync(at("file"), 0o640);
  mkdirSync(at("directory"), { mode: 0o750 });
  symlinkSync("file", at("link"));
  execFileSync("mkfifo", [at("pipe")]);
  writeFileSync(at("large"), "");
  truncateSync(at("large"), 64 * 1024 * 1024 + 1);
  const file = await readState(at("file"), blobs);
  expect(file).toMatchObject({ kind: "file", mode: 0o640 });
  if (file.kind === "file") expect((await blobs.read(file.blob)).toString()).toBe("text");
  expect(await readState(at("directory"), blobs)).toEqual({ kind: "directory", mode: 0o750 });
  expect(await readState(at("link"), blobs)).toEqual({ kind: "link", target: "file" });
  expect(await readState(at("none"), blobs)).toBe(MISSING);
  expect(await readState(at("file/below"), blobs)).toBe(MISSING);
  expect(await readState(at("pipe"), blobs)).toEqual({ kind: "other", reason: "it is not a regular file" });
  expect(await readState(at("large"), blobs)).toEqual({
    kind: "other",
    reason: "it is too large to be saved",
  });
  expect(await readState(at("x".repeat(300)), blobs)).toMatchObject({
    reason: "it cannot be read (ENAMETOOLONG)",
  });
});

// A file of the kernel has the size of a page and holds less.
const SHORTER = "/sys/devices/system/cpu/online";
test.runIf(existsSync(SHORTER) && lstatSync(SHORTER).size > 100)(
  "does not store a file that holds less than its size",
  async () => {
    expect(await readState(SHORTER, blobs)).toEqual({ kind: "other", reason: "it changes while it is read" });
  },
);

test("compares states by everything that is stored of them", () => {
  const states: FileState[] = [
    MISSING,
    { kind: "file", mode: 0o644, blob: "a" },
    { kind: "file", mode: 0o644, blob: "b" },
    { kind: "file", mode: 0o600, blob: "a" },
    { kind: "file", mode: 0o755, blob: "a" },
    { kind: "directory", mode: 0o755 },
    { kind: "directory", mode: 0o700 },
    { kind: "link", target: "a" },
    { kind: "link", target: "b" },
    { kind: "other", reason: "x" },
  ];
  for (const one of states) {
    // A state that cannot be stored equals no other state.
    expect(isSameState(one, { ...one }), JSON.stringify(one)).toBe(one.kind !== "other");
    for (const other of states) if (other !== one) expect(isSameState(one, other)).toBe(false);
  }
});

test("gives up on a directory with more than 20,000 entries", async () => {
  mkdirSync(at("d"));
  for (let count = 0; count < 20_000; count++) symlinkSync("x", join(at("d"), `${count}`));
  expect([...(await readTree(at("d"), blobs))]).toEqual([
    [at("d"), { kind: "other", reason: "it holds more than 20000 files" }],
  ]);
});

test("reads everything below a directory, and follows no link", async () => {
  mkdirSync(at("d/e"), { recursive: true });
  writeFileSync(at("d/e/f"), "x");
  symlinkSync("/etc", at("d/link"));
  const states = await readTree(at("d"), blobs);
  expect([...states.keys()].sort()).toEqual(["d", "d/e", "d/e/f", "d/link"].map(at));
  expect(states.get(at("d/link"))).toEqual({ kind: "link", target: "/etc" });
});

test("stores a content once, copies what is named, and removes what is not used", async () => {
  const [a, b] = [await blobs.add(Buffer.from("a")), await blobs.add(Buffer.from("bb"))];
  expect(await blobs.add(Buffer.from("a"))).toBe(a);
  const copy = new BlobStore(at("copy"));
  await blobs.copyTo(copy, new Set());
  expect(existsSync(at("copy"))).toBe(false);
  await blobs.copyTo(copy, new Set([b]));
  expect(blobs.prune(new Set([a]))).toBe(1);
  await expect(blobs.read(b)).rejects.toThrow("ENOENT");
  expect((await copy.read(b)).toString()).toBe("bb");
  await expect(copy.read(a)).rejects.toThrow("ENOENT");
  expect(new BlobStore(at("none")).prune(new Set())).toBe(0);
});

import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asOrdinaryUser, fileTools, MEMORY, temporaryDirectory } from "../../test/support.js";
import { listDirTool } from "./listDir.js";

test("lists one level, one entry a line, sorted; directories end in /, links show their target", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "sub"));
  writeFileSync(join(directory, "sub/inner"), "");
  for (const name of ["b", "a", "C", ".dot"]) writeFileSync(join(directory, name), "");
  symlinkSync("a", join(directory, "link"));
  symlinkSync("gone/x", join(directory, "dangling"));
  const text = await listDirTool().execute({ path: directory });
  expect(text).toBe(".dot\nC\na\nb\ndangling -> gone/x\nlink -> a\nsub/");
});

test("lists kind, size and time with details, separated by tabs", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "sub"));
  writeFileSync(join(directory, "file"), "12345");
  symlinkSync("gone", join(directory, "dangling"));
  utimesSync(join(directory, "file"), 1e9, 1e9);
  const lines = (await fileTools()("list_dir", { path: directory, details: true })).split("\n");
  expect(lines[0]).toMatch(/^link\t4\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\tdangling -> gone$/);
  expect(lines[1]).toBe("file\t5\t2001-09-09T01:46:40Z\tfile");
  expect(lines[2]).toMatch(/^directory\t\d+\t.*Z\tsub\/$/);
});

test("lists the rest despite an invalid time or an unreadable entry", async () => {
  const directory = temporaryDirectory(MEMORY);
  writeFileSync(join(directory, "far"), "12345");
  utimesSync(join(directory, "far"), 9e12, 9e12);
  mkdirSync(join(directory, "closed"));
  writeFileSync(join(directory, "closed/f"), "");
  chmodSync(join(directory, "closed"), 0o744);
  chmodSync(directory, 0o755);
  const [listed, closed] = asOrdinaryUser(
    [directory, join(directory, "closed")].map((path) => ({
      tool: "list_dir",
      args: { path, details: true },
    })),
  );
  // Some file systems replace a time out of their range by the latest one they can store.
  expect(listed).toMatch(/^directory\t.*\tclosed\/\nfile\t5\t(-|\d{4}-\S+Z)\tfar$/);
  expect(closed).toBe("unreadable\t-\t-\tf");
});

test("lists an entry whose name is not UTF-8 as unreadable, not as missing", async () => {
  const directory = temporaryDirectory();
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/bad`), Buffer.from([0xff])]), "");
  const text = await fileTools()("list_dir", { path: directory, details: true });
  expect(text).toBe("unreadable\t-\t-\tbad\ufffd");
});

test("names with line breaks and escape codes stay on one line, plain ones as they are", async () => {
  const directory = temporaryDirectory();
  for (const name of ["a\nb", "\u001b[31mred", "tab\tx", "żółć 😀", "rtl\u202e"])
    writeFileSync(join(directory, name), "");
  symlinkSync("to\nwhere", join(directory, "z"));
  const text = await fileTools()("list_dir", { path: directory });
  expect(text.split("\n")).toEqual([
    "\\x1b[31mred",
    "a\\nb",
    "rtl\\u202e",
    "tab\\tx",
    "z -> to\\nwhere",
    "żółć 😀",
  ]);
});

test("caps a directory of 50 000 entries, and the notice explains how to get the rest", {
  timeout: 120_000,
}, async () => {
  const directory = temporaryDirectory(MEMORY);
  const names = Array.from({ length: 50_000 }, (_, index) => `f${String(index).padStart(6, "0")}`);
  for (const name of names) writeFileSync(join(directory, name), "");
  const text = await fileTools()("list_dir", { path: directory });
  const lines = text.split("\n");
  expect(lines.slice(0, -1)).toEqual(names.slice(0, 1000));
  expect(lines.at(-1)).toBe(
    `[49000 more of 50000 entries. To read on, call list_dir with ${JSON.stringify({ path: directory, offset: 1001 })}]`,
  );
  const rest = await fileTools({ maxEntries: 100_000 })("list_dir", { path: directory, offset: 1001 });
  expect(rest.split("\n")).toEqual(names.slice(1000));
});

test("reports an empty directory", async () => {
  expect(await fileTools()("list_dir", { path: temporaryDirectory() })).toBe("[The directory is empty.]");
});

test("lists the working directory without a path", async () => {
  expect(await fileTools()("list_dir", {})).toContain("package.json");
});

test("refuses a file with what to use instead, and offers the nearest name for a missing directory", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "file"), "");
  mkdirSync(join(directory, "packages"));
  const run = fileTools();
  expect(await run("list_dir", { path: join(directory, "file") })).toContain(
    "is a file, not a directory. Use read_file",
  );
  expect(await run("list_dir", { path: join(directory, "pakages") })).toContain(
    `Did you mean ${join(directory, "packages")}?`,
  );
});

test("reports a directory or file without read permission as such", () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "closed"));
  writeFileSync(join(directory, "secret"), "x");
  chmodSync(join(directory, "closed"), 0);
  chmodSync(join(directory, "secret"), 0);
  chmodSync(directory, 0o755);
  const texts = asOrdinaryUser([
    { tool: "list_dir", args: { path: join(directory, "closed") } },
    { tool: "read_file", args: { path: join(directory, "closed/x") } },
    { tool: "read_file", args: { path: join(directory, "secret") } },
    { tool: "list_dir", args: { path: directory } },
  ]);
  for (const text of texts.slice(0, 3)) expect(text).toContain("permission denied (EACCES)");
  expect(texts[3]).toBe("closed/\nsecret");
});

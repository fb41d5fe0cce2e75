import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EditorFiles } from "@agent/core";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../test/support.js";

/** An editor with some files open; it saves every text that it is given. */
function editor(buffers: Record<string, string>, format = (text: string) => text) {
  const asked: string[] = [];
  const files: EditorFiles = {
    readText: async (path) => {
      asked.push(`read ${path}`);
      return buffers[path] ?? readFileSync(path, "utf8");
    },
    writeText: async (path, text) => {
      asked.push(`write ${path}`);
      buffers[path] = format(text);
      writeFileSync(path, format(text));
    },
  };
  return { files, asked, buffers };
}

test("shows with read_file what the editor has not saved yet, and reports it", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "one\ntwo\nthree\n");
  const { files } = editor({ [path]: "one\nunsaved\nthree\n" });
  const run = fileTools({}, { editorFiles: files });
  const whole = await run("read_file", { path });
  expect(whole).toMatch(/^one\nunsaved\nthree\n\[This is the text in the user's editor/);
  expect(await run("read_file", { path, offset: 2, limit: 1 })).toMatch(/^unsaved\n\[This/);
  expect(await run("read_file", { path, offset: 9 })).toContain("has 3 lines");
  expect(await run("read_file", { path, encoding: "latin1" })).toBe("one\ntwo\nthree\n");
});

test("cuts a long unsaved text at the same limits as a file", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "");
  const { files } = editor({ [path]: "line\n".repeat(50) });
  const shown = await fileTools({ maxReadLines: 10 }, { editorFiles: files })("read_file", { path });
  expect(shown).toContain("lines 1-10, bytes 0-49 of 50 lines and 250 bytes are shown");
});

test("reads a saved file from the disk, byte for byte, also if the editor drops its carriage returns", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "one\r\ntwo\r\n");
  const { files } = editor({ [path]: "one\ntwo\n" });
  expect(await fileTools({}, { editorFiles: files })("read_file", { path })).toBe("one\r\ntwo\r\n");
});

test("changes the unsaved text through the editor with edit_file", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "one\r\ntwo\r\n");
  const { files, asked } = editor({ [path]: "one\ntwo\nmine\n" });
  const run = fileTools({}, { editorFiles: files });
  expect(await run("edit_file", { path, old_text: "mine", new_text: "ours" })).toContain("Edited");
  expect(asked.at(-1)).toBe(`write ${path}`);
  expect(readFileSync(path, "utf8")).toBe("one\r\ntwo\r\nours\r\n");
});

test("writes through the editor with write_file, also for a new file in a new directory", async () => {
  const path = join(temporaryDirectory(), "new", "a.txt");
  const { files, buffers } = editor({});
  const run = fileTools({}, { editorFiles: files });
  expect(await run("write_file", { path, content: "x\n" })).toMatch(/^Created .*\(2 bytes, 1 line\)$/);
  expect(buffers[path]).toBe("x\n");
  expect(await run("edit_file", { path, old_text: "x", new_text: "y" })).toContain("Edited");
});

test("reports that the editor reformatted the text while saving", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  const { files } = editor({}, (text) => `${text.trim()};\n`);
  const run = fileTools({}, { editorFiles: files });
  expect(await run("write_file", { path, content: "x" })).toContain("Read the file again");
  expect(await run("edit_file", { path, old_text: "x;", new_text: "y" })).toContain("Edited");
});

test("refuses an edit of a file that another program changed after the editor wrote it", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  const { files, buffers } = editor({});
  const run = fileTools({}, { editorFiles: files });
  await run("write_file", { path, content: "one\n" });
  delete buffers[path];
  writeFileSync(path, "one\nby another program\n");
  expect(await run("edit_file", { path, old_text: "one", new_text: "two" })).toMatch(/^Error executing/);
  expect(readFileSync(path, "utf8")).toBe("one\nby another program\n");
});

test("reports a file that the editor did not save, and edits it once it is there", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "old\n");
  const { files, buffers } = editor({});
  const run = fileTools({}, { editorFiles: { ...files, writeText: async () => rmSync(path) } });
  expect(await run("write_file", { path, content: "new\n" })).toContain("Read the file again");
  writeFileSync(path, "one\n");
  const writeText = files.writeText as NonNullable<EditorFiles["writeText"]>;
  await writeText(path, buffers[path] ?? "one\n");
  expect(await run("edit_file", { path, old_text: "one", new_text: "two" })).not.toContain("was changed");
});

test("reads and writes on the disk files that the editor does not accept", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "one");
  const refuse = async () => {
    throw new Error("not in the project");
  };
  const run = fileTools({}, { editorFiles: { readText: refuse, writeText: refuse } });
  expect(await run("read_file", { path })).toBe("one");
  expect(await run("write_file", { path, content: "two" })).toContain("Replaced");
  expect(readFileSync(path, "utf8")).toBe("two");
});

test("never sends text in another encoding and binary files to the editor", async () => {
  const directory = temporaryDirectory();
  const wide = join(directory, "wide.txt");
  writeFileSync(wide, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("one", "utf16le")]));
  const { files, asked } = editor({});
  const run = fileTools({}, { editorFiles: files });
  expect(await run("edit_file", { path: wide, old_text: "one", new_text: "two" })).toContain("Edited");
  expect(readFileSync(wide).subarray(2).toString("utf16le")).toBe("two");
  expect(asked).toEqual([]);
});

test("never asks the editor for what the rules refuse", async () => {
  const directory = temporaryDirectory();
  const outside = join(temporaryDirectory(), "secret");
  writeFileSync(outside, "key");
  symlinkSync(outside, join(directory, "link"));
  mkdirSync(join(directory, ".git", "hooks"), { recursive: true });
  const mine = join(directory, "config.ts");
  const { files, asked } = editor({});
  const access = { writable: [directory], secret: [outside] };
  const run = fileTools({ root: directory }, { editorFiles: files, access, protectedPaths: [mine] });
  const calls = [
    ["read_file", { path: join(directory, "link") }],
    ["read_file", { path: outside }],
    ["write_file", { path: join(directory, "link"), content: "x" }],
    ["write_file", { path: join(directory, ".git", "hooks", "pre-commit"), content: "x" }],
    ["write_file", { path: mine, content: "x" }],
  ] as const;
  for (const [name, args] of calls) expect(await run(name, args)).toMatch(/^Error executing/);
  expect(asked).toEqual([]);
  expect(existsSync(mine)).toBe(false);
});

test("detects a link that replaces the file while the editor works", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "a.txt");
  const outside = join(temporaryDirectory(), "secret");
  writeFileSync(path, "one");
  writeFileSync(outside, "key");
  const swap = (): void => {
    rmSync(path);
    symlinkSync(outside, path);
  };
  const readText = async () => {
    swap();
    return readFileSync(path, "utf8");
  };
  const run = fileTools({ root: directory }, { editorFiles: { readText } });
  const text = await run("read_file", { path });
  expect(text).toContain("was replaced by a link");
  expect(text).not.toContain("key");
});

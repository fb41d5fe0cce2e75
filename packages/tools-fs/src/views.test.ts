import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ResultView, ToolRegistry, type ToolResult } from "@agent/core";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../test/support.js";
import { register } from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

/** Runs an approved call for a host that shows the result. */
async function run(
  name: string,
  args: Record<string, unknown>,
  access: { readonly secret?: readonly string[] } = {},
): Promise<ToolResult> {
  const registry = new ToolRegistry();
  register(registry, { context, access });
  registry.enable("remove");
  const prepared = await registry.prepare(name, args);
  if ("outcome" in prepared) throw new Error(prepared.text);
  const { needs } = await prepared.describe();
  const result = await prepared.run({ granted: needs, wantsView: true });
  expect(result.text).not.toContain("Error");
  return result;
}

const viewOf = async (name: string, args: Record<string, unknown>): Promise<ResultView | undefined> =>
  (await run(name, args)).view;

test("says which side of a diff ends without a line break, and shows a change of nothing else", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  const hunks = async (content: string): Promise<unknown> => {
    const view = await viewOf("write_file", { path, content });
    return view?.type === "diff" ? view.files[0]?.hunks : view;
  };
  const at = { oldStart: 1, newStart: 1 };
  expect(await hunks("a\nb")).toEqual([{ ...at, lines: ["+a", "+b"], noFinalNewline: "new" }]);
  expect(await hunks("a\nc")).toEqual([{ ...at, lines: [" a", "-b", "+c"], noFinalNewline: "both" }]);
  expect(await hunks("a\nc\n")).toEqual([{ ...at, lines: [" a", "-c", "+c"], noFinalNewline: "old" }]);
  expect(await hunks("a\nc")).toEqual([{ ...at, lines: [" a", "-c", "+c"], noFinalNewline: "new" }]);
  expect(await hunks("x\n1\n2\n3\n4\n5\nc")).toMatchObject([{ noFinalNewline: "both" }]);
  expect(await hunks("y\n1\n2\n3\n4\n5\nc")).toEqual([{ ...at, lines: ["-x", "+y", " 1", " 2"] }]);
});

test("says that a file was written with the content it had", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  expect((await run("write_file", { path, content: "" })).summary).toBeUndefined();
  for (const [content, summary] of [
    ["", "nothing changed"],
    ["a\n", undefined],
    ["a\n", "nothing changed"],
  ]) {
    expect((await run("write_file", { path, content })).summary).toBe(summary);
  }
});

test("reports the diff of a created, a replaced and an edited file", async () => {
  const path = join(temporaryDirectory(), "a.txt");
  expect(await viewOf("write_file", { path, content: "a\nb\n" })).toEqual({
    type: "diff",
    files: [
      {
        path,
        change: "created",
        added: 2,
        removed: 0,
        hunks: [{ oldStart: 1, newStart: 1, lines: ["+a", "+b"] }],
      },
    ],
  });
  expect(await viewOf("write_file", { path, content: "a\r\nc\r\n" })).toMatchObject({
    files: [{ change: "edited", added: 2, removed: 2 }],
  });
  expect(await viewOf("edit_file", { path, old_text: "c", new_text: "d\ne" })).toEqual({
    type: "diff",
    files: [
      {
        path,
        change: "edited",
        added: 2,
        removed: 1,
        hunks: [{ oldStart: 1, newStart: 1, lines: [" a", "-c", "+d", "+e"] }],
      },
    ],
  });
});

test("reports moved and deleted files", async () => {
  const directory = temporaryDirectory();
  const [source, folder, link] = ["a.txt", "d", "l"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(source, "one\ntwo\n");
  mkdirSync(folder);
  symlinkSync("d/a.txt", link);
  const moved = { path: join(folder, "a.txt"), oldPath: source, change: "moved", hunks: [] };
  expect(await viewOf("move", { source, destination: folder })).toMatchObject({ files: [moved] });
  expect(await viewOf("remove", { path: link })).toMatchObject({
    files: [{ path: link, change: "deleted", removed: 0, hunks: [] }],
  });
  expect(await viewOf("remove", { path: moved.path })).toMatchObject({
    files: [{ path: moved.path, change: "deleted", removed: 2, hunks: [{ lines: ["-one", "-two"] }] }],
  });
  expect(await viewOf("remove", { path: folder })).toMatchObject({ files: [{ change: "deleted" }] });
});

test("reports the lines that were read, with the number of the first", async () => {
  const path = join(temporaryDirectory(), "a.ts");
  writeFileSync(path, "one\ntwo\nthree\n");
  const { view, summary } = await run("read_file", { path, offset: 2, limit: 1 });
  expect(view).toEqual({ type: "code", text: "two\n", path, startLine: 2 });
  expect(summary).toBe("1 line");
});

test("reports the entries of a directory with their paths", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "sub"));
  writeFileSync(join(directory, "a"), "");
  const { view, summary } = await run("list_dir", { path: directory });
  expect(view).toEqual({
    type: "list",
    items: [
      { text: "a", path: join(directory, "a") },
      { text: "sub/", path: join(directory, "sub") },
    ],
  });
  expect(summary).toBe("2 entries");
  expect(await viewOf("list_dir", { path: join(directory, "sub") })).toEqual({ type: "list", items: [] });
});

test("keeps the text of secret and binary files out of views", async () => {
  const directory = temporaryDirectory();
  const [key, binary] = [join(directory, "key"), join(directory, "b")];
  writeFileSync(key, "secret\n");
  writeFileSync(binary, Buffer.from([0, 1, 2]));
  const { view } = await run("write_file", { path: key, content: "other\n" }, { secret: [key] });
  expect(view).toBeUndefined();
  expect(await viewOf("write_file", { path: binary, content: "text\n" })).toBeUndefined();
});

test("makes no view for a host that shows none", async () => {
  const path = join(temporaryDirectory(), "a");
  const registry = new ToolRegistry();
  register(registry, { context });
  for (const [name, args] of [
    ["write_file", { path, content: "a" }],
    ["edit_file", { path, old_text: "a", new_text: "b" }],
    ["read_file", { path }],
    ["move", { source: path, destination: `${path}2` }],
  ] as const) {
    expect(await registry.run(name, args)).not.toHaveProperty("view");
  }
});

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PackHost, ToolRegistry } from "@agent/core";
import { describeNow } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support.js";
import { applyPatchTool, type FsOptions, register, Workspace } from "../index.js";
import { writesPatches } from "../patch/families.js";

interface Case {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly patch: string;
  /** The files afterwards; `undefined` for one that must not exist. Absent: nothing has changed. */
  readonly after?: Readonly<Record<string, string | undefined>>;
  readonly says: string | RegExp;
}

const patchOf = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;

function project(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

async function apply(
  root: string,
  input: string,
  tool = applyPatchTool(new Workspace({ root }), () => true),
) {
  try {
    return await tool.execute({ input });
  } catch (error) {
    return `Error: ${(error as Error).message}`;
  }
}

const CASES: readonly Case[] = [
  {
    name: "adds a file in new directories",
    patch: patchOf("*** Add File: a/b/new.txt\n+one\n+two"),
    after: { "a/b/new.txt": "one\ntwo\n" },
    says: "Created a/b/new.txt (2 lines)",
  },
  {
    name: "replaces a file that it adds",
    files: { "a.txt": "old\n" },
    patch: patchOf("*** Add File: a.txt\n+new"),
    after: { "a.txt": "new\n" },
    says: "Edited a.txt",
  },
  {
    name: "indents added lines with tabs where the file does",
    files: { Makefile: "all:\n\techo a\n\techo b\n" },
    patch: patchOf("*** Update File: Makefile\n@@\n \techo a\n-\techo b\n+    echo c"),
    after: { Makefile: "all:\n\techo a\n\techo c\n" },
    says: /Spaces that indent added lines were written as tabs/,
  },
  {
    name: "refuses a line of Python that is in no block",
    files: { "a.py": "def a():\n    one()\n    two()\n" },
    patch: patchOf("*** Update File: a.py\n@@\n     one()\n-    two()\n+   two(1)"),
    says: /The line " {3}two\(1\)" would be indented unlike the blocks around it; nothing was changed/,
  },
  {
    name: "adds, updates, moves and deletes with one patch",
    files: { "a.txt": "one\ntwo\n", "b.txt": "b\n", "c.txt": "c\nd\n" },
    patch: patchOf(
      "*** Add File: new.txt\n+new\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: sub/c.txt\n@@\n-d\n+D",
    ),
    after: {
      "new.txt": "new\n",
      "a.txt": "one\n2\n",
      "b.txt": undefined,
      "c.txt": undefined,
      "sub/c.txt": "c\nD\n",
    },
    says: /Created new\.txt[\s\S]*Edited a\.txt[\s\S]*Deleted b\.txt[\s\S]*Moved c\.txt to sub\/c\.txt/,
  },
  {
    name: "moves a file without changing it",
    files: { "a.txt": "one\n" },
    patch: patchOf("*** Update File: a.txt\n*** Move to: b.txt"),
    after: { "a.txt": undefined, "b.txt": "one\n" },
    says: "Moved a.txt to b.txt",
  },
  {
    name: "replaces the file that another is moved to",
    files: { "a.txt": "one\n", "b.txt": "other\n" },
    patch: patchOf("*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+1"),
    after: { "a.txt": undefined, "b.txt": "1\n" },
    says: "which it replaced",
  },
  {
    name: "updates one file twice",
    files: { "a.txt": "one\ntwo\n" },
    patch: patchOf("*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: a.txt\n@@\n-two\n+2"),
    after: { "a.txt": "1\n2\n" },
    says: "Edited a.txt",
  },
  {
    name: "finds the place after a context line",
    files: { "a.py": "def f():\n    return 0\n\ndef g():\n    return 0\n" },
    patch: patchOf("*** Update File: a.py\n@@ def g():\n-    return 0\n+    return 1"),
    after: { "a.py": "def f():\n    return 0\n\ndef g():\n    return 1\n" },
    says: "Edited a.py",
  },
  {
    name: "refuses lines that are at several places",
    files: { "a.py": "def f():\n    return 0\n\ndef g():\n    return 0\n" },
    patch: patchOf("*** Update File: a.py\n@@\n-    return 0\n+    return 1"),
    says: "found at 2 places (lines 2, 5)",
  },
  {
    name: "adds lines without context at the end, and ends the last line",
    files: { "a.txt": "one" },
    patch: patchOf("*** Update File: a.txt\n@@\n+two"),
    after: { "a.txt": "one\ntwo\n" },
    says: "Edited a.txt",
  },
  {
    name: "takes the last place with the marker of the end",
    files: { "a.txt": "x\ny\nx\n" },
    patch: patchOf("*** Update File: a.txt\n@@\n-x\n+z\n*** End of File"),
    after: { "a.txt": "x\ny\nz\n" },
    says: "Edited a.txt",
  },
  {
    name: "keeps CRLF and a byte order mark",
    files: { "a.txt": "\uFEFFone\r\ntwo\r\nthree\r\n" },
    patch: patchOf("*** Update File: a.txt\n@@\n one\n-two\n+2\n+2b\n three"),
    after: { "a.txt": "\uFEFFone\r\n2\r\n2b\r\nthree\r\n" },
    says: "Edited a.txt",
  },
  {
    name: "keeps the text of context lines that differ in blanks",
    files: { "a.txt": "one  \ntwo\n" },
    patch: patchOf("*** Update File: a.txt\n@@\n one\n-two\n+2"),
    after: { "a.txt": "one  \n2\n" },
    says: "Block 1 matched only after ignoring trailing blanks",
  },
  {
    name: "indents added lines like the file",
    files: { "a.py": "class A:\n\tdef f(self):\n\t\treturn 1\n" },
    patch: patchOf(
      "*** Update File: a.py\n@@\n class A:\n     def f(self):\n-        return 1\n+        return 2",
    ),
    after: { "a.py": "class A:\n\tdef f(self):\n\t\treturn 2\n" },
    says: "ignoring indentation",
  },
  {
    name: "reads a patch in a here-document",
    files: { "a.txt": "one\n" },
    patch: `apply_patch <<'EOF'\n${patchOf("*** Update File: a.txt\n@@\n-one\n+1")}\nEOF\n`,
    after: { "a.txt": "1\n" },
    says: "Edited a.txt",
  },
  {
    name: "changes nothing if a later file does not fit",
    files: { "a.txt": "one\n", "b.txt": "b\n" },
    patch: patchOf(
      "*** Add File: new.txt\n+x\n*** Delete File: b.txt\n*** Update File: a.txt\n@@\n-absent\n+x",
    ),
    says: "were not found. Nothing was changed.",
  },
  {
    name: "refuses a placeholder in place of code",
    files: { "a.js": "const a = 1;\nconst b = 2;\nconst c = 3;\n" },
    patch: patchOf(
      "*** Update File: a.js\n@@\n-const a = 1;\n-const b = 2;\n+// ... existing code ...\n const c = 3;",
    ),
    says: "in place of code",
  },
  {
    name: "applies such a text to a document",
    files: { README: "one\ntwo\nthree\n" },
    patch: patchOf("*** Update File: README\n@@\n-one\n-two\n+... existing code ...\n three"),
    after: { README: "... existing code ...\nthree\n" },
    says: "Edited README",
  },
  {
    name: "writes straight quotes in code, as the file has them",
    files: { "a.ts": 'const a = "x";\nf();\n' },
    patch: patchOf("*** Update File: a.ts\n@@\n-const a = “x”;\n+const a = “y”;\n f();\n+g(“z”);"),
    after: { "a.ts": 'const a = "y";\nf();\ng("z");\n' },
    says: "a.ts: Quotes, dashes and spaces were written as the file has them.",
  },
  {
    name: "keeps a typographic apostrophe that a straight one would end the string at",
    files: { "a.ts": "const a = 'it’s';\n" },
    patch: patchOf("*** Update File: a.ts\n@@\n-const a = 'it's';\n+const b = 'it's';"),
    after: { "a.ts": "const b = 'it’s';\n" },
    says: "as the file has them",
  },
  {
    name: "says nothing about the characters of context lines, which it does not change",
    files: { "a.ts": "// it’s\nf();\n" },
    patch: patchOf("*** Update File: a.ts\n@@\n // it's\n-f();\n+g();"),
    after: { "a.ts": "// it’s\ng();\n" },
    says: /quotes, dashes and spaces\.$/,
  },
  {
    name: "refuses a dash that may be two",
    files: { "a.sh": "git log --oneline\n" },
    patch: patchOf("*** Update File: a.sh\n@@\n-git log --oneline\n+git log —oneline —all"),
    says: 'Block 1 has "—" where it is not clear',
  },
  {
    name: "refuses HTML entities in place of characters",
    files: { "a.ts": "f();\n\nif (a < b) g();\n" },
    patch: patchOf("*** Update File: a.ts\n@@\n-f();\n+h();\n \n-if (a < b) g();\n+if (a &lt; c) g();"),
    says: "Block 1 has HTML entities where the lines before have characters",
  },
  {
    name: "refuses line numbers",
    files: { "a.ts": "f();\n" },
    patch: patchOf("*** Update File: a.ts\n@@\n-f();\n+L1: g();\n+L2: h();"),
    says: "Block 1 has line numbers",
  },
  { name: "refuses an empty patch", patch: patchOf(""), says: "it changes no file" },
  {
    name: "refuses an empty update",
    files: { "a.txt": "" },
    patch: patchOf("*** Update File: a.txt"),
    says: "is empty",
  },
  {
    name: "refuses an unknown header",
    patch: patchOf("*** Frob File: a"),
    says: 'line 2 is not a header: "*** Frob File: a"',
  },
  {
    name: "refuses a patch without an end",
    patch: "*** Begin Patch\n*** Add File: a\n+x",
    says: "the last line must be",
  },
  {
    name: "refuses a file that is missing",
    patch: patchOf("*** Update File: a\n@@\n-x\n+y"),
    says: "a does not exist",
  },
  {
    name: "refuses to delete a missing file",
    patch: patchOf("*** Delete File: a"),
    says: "a does not exist",
  },
  {
    name: "refuses to delete a directory",
    files: { "d/x": "" },
    patch: patchOf("*** Delete File: d"),
    says: "d is a directory",
  },
  { name: "refuses a path outside the root", patch: patchOf("*** Add File: ../x\n+x"), says: "is outside" },
  {
    name: "refuses a protected file",
    patch: patchOf("*** Add File: .git/hooks/pre-commit\n+x"),
    says: "Error",
  },
];

test.each(CASES)("$name", async ({ files = {}, patch, after, says }) => {
  const root = project(files);
  const result = await apply(root, patch);
  if (typeof says === "string") expect(result).toContain(says);
  else expect(result).toMatch(says);
  for (const [name, text] of Object.entries({ ...files, ...after })) {
    const now = existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : undefined;
    expect(now, name).toBe(text);
  }
  if (!after) expect(existsSync(join(root, "new.txt"))).toBe(false);
});

test("refuses a file that changed since it was read", async () => {
  const root = project({ "a.txt": "one\n" });
  const workspace = new Workspace({ root });
  const tool = applyPatchTool(workspace);
  const patch = patchOf("*** Update File: a.txt\n@@\n-one\n+1");
  expect(await apply(root, patch, tool)).toContain("Edited");
  writeFileSync(join(root, "a.txt"), "one\nmore\n");
  expect(await apply(root, patch, tool)).toContain("was changed on disk since it was last read");
});

test("refuses a binary file and a link in a circle", async () => {
  const root = project({});
  writeFileSync(join(root, "a.bin"), Buffer.from([0, 1, 2, 0, 255]));
  symlinkSync("loop", join(root, "loop"));
  expect(await apply(root, patchOf("*** Update File: a.bin\n@@\n-x\n+y"))).toContain("not a text file");
  expect(await apply(root, patchOf("*** Update File: loop\n@@\n-x\n+y"))).toContain("Error");
});

test("restores the files before one that cannot be written", async () => {
  const root = project({ "a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n" });
  const editorFiles = {
    readText: async (path: string) => readFileSync(path, "utf8"),
    writeText: async (path: string, text: string) => {
      writeFileSync(path, text);
      // Another program is at work at the same time.
      if (path.endsWith("a.txt") && text === "1\n") writeFileSync(join(root, "b.txt"), "other\n");
    },
  };
  const tool = applyPatchTool(new Workspace({ root }, { editorFiles }), () => true);
  const input = patchOf(
    "*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: new.txt\n+x\n*** Update File: b.txt\n@@\n-b\n+B\n*** Delete File: c.txt",
  );
  expect(await apply(root, input, tool)).toBe(
    "Error: b.txt was changed by another program meanwhile. Nothing was changed.",
  );
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
  expect(existsSync(join(root, "new.txt"))).toBe(false);
  expect(existsSync(join(root, "c.txt"))).toBe(true);
});

describe("before a patch is applied", () => {
  const FILES = { "a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n" };
  const INPUT = patchOf(
    "*** Update File: a.txt\n@@\n-one\n+1\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d.txt",
  );

  test("lists all files as targets, and advises caution about a deletion unless remove is on", () => {
    const root = project(FILES);
    const target = (name: string, access: string) => ({ type: "file", path: join(root, name), access });
    const off = describeNow(applyPatchTool(new Workspace({ root })), { input: INPUT });
    expect(off.targets).toEqual([
      target("a.txt", "read"),
      target("a.txt", "write"),
      target("b.txt", "delete"),
      target("c.txt", "delete"),
      target("d.txt", "write"),
    ]);
    expect(off.title).toBe("a.txt, b.txt, c.txt");
    expect(off.caution).toBe("it deletes files, and the tool remove is off");
    const on = describeNow(
      applyPatchTool(new Workspace({ root }), () => true),
      { input: INPUT },
    );
    expect(on.caution).toBeUndefined();
  });

  test("shows all changes, and refuses if a file has changed since", async () => {
    const root = project(FILES);
    const tool = applyPatchTool(new Workspace({ root }), () => true);
    const { signal } = new AbortController();
    const preview = (await tool.previewCall?.({ input: INPUT }, { signal })) ?? { changes: [] };
    expect(preview.changes.map(({ change, path }) => [change, path])).toEqual([
      ["edited", join(root, "a.txt")],
      ["deleted", join(root, "b.txt")],
      ["deleted", join(root, "c.txt")],
      ["moved", join(root, "d.txt")],
    ]);
    expect(preview.shows).toEqual(["input"]);
    writeFileSync(join(root, "b.txt"), "changed\n");
    const call = { signal, onOutput: () => undefined, basis: preview.basis ?? "" };
    await expect(tool.execute({ input: INPUT }, call)).rejects.toThrow(
      "was changed after the user was shown",
    );
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
  });

  test("reports a patch that does not fit instead of asking", async () => {
    const root = project(FILES);
    const tool = applyPatchTool(new Workspace({ root }), () => true);
    const { signal } = new AbortController();
    const input = patchOf("*** Update File: a.txt\n@@\n-absent\n+x");
    expect((await tool.previewCall?.({ input }, { signal }))?.refusal).toContain("were not found");
  });
});

describe("the tool that a model gets", () => {
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  const offered = (registry: ToolRegistry): string[] => {
    registry.services.refresh();
    const names = registry.getEnabledSchemas().map((tool) => tool.function.name);
    return names.filter((name) => ["edit_file", "apply_patch"].includes(name));
  };
  const create = (options: FsOptions, model?: PackHost["model"]): ToolRegistry => {
    const registry = new ToolRegistry();
    register(registry, { context, options, ...(model && { model }) });
    return registry;
  };

  test.each([
    ["gpt-5.1", true],
    ["openai/gpt-5", true],
    ["gpt-6-mini", true],
    ["gpt-5.1-codex-max", true],
    ["codex-mini-latest", true],
    ["gpt-4.1", false],
    ["gpt-oss-120b", false],
    ["claude-opus-5", false],
    [undefined, false],
  ])("is right for %s", (model, isPatch) => {
    expect(writesPatches(model)).toBe(isPatch);
  });

  test("follows the model, and is never both", async () => {
    const model = { provider: "openai", id: "gpt-5.1" as string | undefined, contextTokens: undefined };
    const registry = create({}, model);
    expect(offered(registry)).toEqual(["apply_patch"]);
    expect((await registry.run("edit_file", { path: "a", old_text: "x", new_text: "y" })).text).toContain(
      "files are changed with apply_patch here",
    );
    model.id = "claude-opus-5";
    expect(offered(registry)).toEqual(["edit_file"]);
    expect((await registry.run("apply_patch", { input: "x" })).text).toContain(
      "files are changed with edit_file here",
    );
    model.id = "gpt-6";
    expect(offered(registry)).toEqual(["apply_patch"]);
  });

  test("can be chosen", () => {
    expect(offered(create({ edit: "patch" }))).toEqual(["apply_patch"]);
    expect(
      offered(create({ edit: "replace" }, { provider: "", id: "gpt-5", contextTokens: undefined })),
    ).toEqual(["edit_file"]);
    expect(() => create({ edit: "diff" as "patch" })).toThrow("edit");
  });
});

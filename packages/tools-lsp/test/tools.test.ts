import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyRename } from "../src/edits/renamePlan.js";
import { createProject, createSession, testServer } from "./harness.js";

test("lists errors and warnings of a file, the worst first", async () => {
  const project = createProject({ "a.tst": "WARN careful\nERR broken\n" });
  const { text } = createSession(project, testServer(project, "pull"));
  expect(await text("lsp_diagnostics", { path: "a.tst" })).toBe(
    "a.tst:2: error: broken (7)\na.tst:1: warning: careful (7)",
  );
});

test("lists the problems of all changed files without a path", async () => {
  const project = createProject();
  const { calls } = createSession(project, testServer(project, "pull"));
  const [, , , end] = await calls(
    ["lsp_diagnostics", {}],
    ["write_file", { path: "a.tst", content: "WARN a\n" }],
    ["write_file", { path: "b.tst", content: "WARN b\n" }],
    ["lsp_diagnostics", {}],
  );
  expect(end?.text).toBe("a.tst:1: warning: a (7)\nb.tst:1: warning: b (7)");
});

test("finds definitions and references by symbol and line, with the code of each place", async () => {
  const project = createProject({ "a.tst": "alpha\n  use(alpha)\n", "b.tst": "see alpha here\n" });
  const { calls } = createSession(project, testServer(project, "pull", { LSP_FILES: project.path("b.tst") }));
  const [references, qualified] = await calls(
    ["lsp_references", { path: "a.tst", line: 2, symbol: "alpha" }],
    ["lsp_definition", { path: "b.tst", line: 1, symbol: "see" }],
  );
  expect(references?.text).toBe("a.tst:1: alpha\na.tst:2: use(alpha)\nb.tst:1: see alpha here");
  expect(references?.view).toMatchObject({ type: "list" });
  expect(qualified?.text).toBe("b.tst:1: see alpha here");
});

test("explains where a symbol is if it is not on the line, and which lines there are", async () => {
  const project = createProject({ "a.tst": "one\ntwo\nthree two\nalphabet\n" });
  const { text } = createSession(project, testServer(project, "pull"));
  expect(await text("lsp_definition", { path: "a.tst", line: 1, symbol: "two" })).toContain(
    '"two" is not on line 1, but on line 2, 3. Line 1 is: "one"',
  );
  expect(await text("lsp_definition", { path: "a.tst", line: 4, symbol: "alpha" })).toContain(
    "nor on any other line",
  );
  expect(await text("lsp_definition", { path: "a.tst", line: 40, symbol: "alpha" })).toContain(
    "the file has 5 lines",
  );
});

test("treats letters beyond the basic plane as parts of words", async () => {
  const project = createProject({ "a.tst": "𝐱a a𝐱\nsee a\n" });
  const { text } = createSession(project, testServer(project, "pull"));
  expect(await text("lsp_definition", { path: "a.tst", line: 1, symbol: "a" })).toContain(
    '"a" is not on line 1, but on line 2.',
  );
});

test("finds symbols of a project whose path the server encodes differently", async () => {
  const project = createProject({ "@scope/c++/a.tst": "def first\n" });
  const root = project.path("@scope/c++");
  const { text } = createSession(project, { ...testServer(project, "encoded-uris"), root });
  expect(await text("lsp_symbols", { query: "first" })).toMatch(/a\.tst:1: function first/);
});

test("lists the problems of changed files after one of them was removed", async () => {
  const project = createProject();
  const { calls } = createSession(project, testServer(project, "pull"));
  await calls(
    ["write_file", { path: "a.tst", content: "WARN a\n" }],
    ["write_file", { path: "b.tst", content: "WARN b\n" }],
  );
  rmSync(project.path("a.tst"));
  const [end] = await calls(["lsp_diagnostics", {}]);
  expect(end?.text).toBe("b.tst:1: warning: b (7)");
});

test("finds symbols of a file and of the project", async () => {
  const project = createProject({ "a.tst": "def first\ndef second\n" });
  const { calls } = createSession(project, testServer(project, "pull"));
  const [project1, file, none, neither] = await calls(
    ["lsp_symbols", { query: "sec" }],
    ["lsp_symbols", { path: "a.tst" }],
    ["lsp_symbols", { query: "third" }],
    ["lsp_symbols", {}],
  );
  expect(project1?.text).toBe("a.tst:2: function second");
  expect(file?.text).toBe("a.tst:1: function first\na.tst:2: function second");
  expect(none?.text).toBe("No symbols were found.");
  expect(neither?.text).toContain('Pass "query", "path" or both');
});

test("explains what to install, or that no server is known", async () => {
  const project = createProject({ "a.zig": "", "a.go": "package a\n" });
  const { text } = createSession(project, {
    root: project.root,
    servers: { go: ["no-such-gopls"].join() },
  });
  expect(await text("lsp_diagnostics", { path: "a.zig" })).toContain(
    'No language server is configured for files like "a.zig". Known: go, typescript, python, rust, c.',
  );
  expect(await text("lsp_diagnostics", { path: "a.go" })).toContain(
    "There is no go language server here. Install one: the program no-such-gopls.",
  );
});

test.each([
  ["a directory", "."],
  ["a file that is missing", "missing.tst"],
  ["a path outside the root", "../outside.tst"],
  ["a binary file", "binary.tst"],
  ["a link in a circle", "loop.tst"],
])("refuses %s", async (_, path) => {
  const project = createProject();
  writeFileSync(project.path("binary.tst"), Buffer.from([0xff, 0xfe, 0x00, 0xd8]));
  symlinkSync("loop.tst", project.path("loop.tst"));
  const { calls } = createSession(project, testServer(project, "pull"));
  const [end] = await calls(["lsp_diagnostics", { path }]);
  expect(end?.outcome).toBe("error");
});

describe("lsp_rename", () => {
  const ALPHA = ["lsp_rename", { path: "a.tst", line: 1, symbol: "alpha", new_name: "beta" }] as const;
  const FILES = { "a.tst": "alpha\r\nuse(alpha)\r\n", "b.tst": "\uFEFFsee alpha here" };

  test("changes all files, keeping line breaks and byte order marks, and lists them as targets", async () => {
    const project = createProject(FILES);
    const requests: unknown[] = [];
    const { calls } = createSession(
      project,
      testServer(project, "pull", { LSP_FILES: project.path("b.tst") }),
      {},
      {
        approve: (request) => {
          requests.push(request);
          return "allow";
        },
      },
    );
    const [end] = await calls(ALPHA);
    expect(end?.text).toBe("Renamed alpha to beta: 3 places in 2 files.\na.tst: 2 places\nb.tst: 1 place");
    expect(project.read("a.tst")).toBe("beta\r\nuse(beta)\r\n");
    expect(project.read("b.tst")).toBe("\uFEFFsee beta here");
    expect(requests).toMatchObject([
      {
        description: {
          targets: [
            { type: "file", path: project.path("a.tst"), access: "write" },
            { type: "file", path: project.path("b.tst"), access: "write" },
          ],
        },
        preview: {
          changes: [
            {
              path: project.path("a.tst"),
              added: 2,
              removed: 2,
              hunks: [{ oldStart: 1, newStart: 1, lines: ["-alpha", "-use(alpha)", "+beta", "+use(beta)"] }],
            },
            { hunks: [{ lines: ["-see alpha here", "+see beta here"] }] },
          ],
        },
      },
    ]);
  });

  test("refuses what changed after it was shown", async () => {
    const project = createProject(FILES);
    const { calls } = createSession(
      project,
      testServer(project, "pull"),
      {},
      {
        approve: () => {
          project.write("a.tst", "alpha\nalpha\nalpha\n");
          return "allow";
        },
      },
    );
    const [end] = await calls(ALPHA);
    expect(end?.text).toContain("have changed since the rename was shown");
    expect(project.read("a.tst")).toBe("alpha\nalpha\nalpha\n");
  });

  test.each([
    ["deletes a file", "deletes", "wants to delete a file"],
    ["sends edits that overlap", "overlaps", "does not know the current text"],
    ["edits behind the end", "behind-the-end", "does not know the current text"],
    ["answers for another version", "other-version", "does not know the current text"],
    ["replaces other text than the symbol", "rewrites", "does not know the current text"],
    ["joins the new name with another", "joins", "does not know the current text"],
    ["replaces more than the symbol", "whole-file", "does not know the current text"],
  ])("changes nothing with a server that %s", async (_, mode, reason) => {
    const project = createProject({ "a.tst": "run alpha\n" });
    const { text } = createSession(project, testServer(project, mode));
    expect(await text(...ALPHA)).toContain(reason);
    expect(project.read("a.tst")).toBe("run alpha\n");
  });

  test.each([
    ["adds to the name", "inserts", "beta", "make { alpha: beta }\n"],
    ["replaces a part of the name", "minimal", "alpine", "make { alpine }\n"],
  ])("accepts a server that %s", async (_, mode, newName, expected) => {
    const project = createProject({ "a.tst": "make { alpha }\n" });
    const { text } = createSession(project, testServer(project, mode));
    await text("lsp_rename", { path: "a.tst", line: 1, symbol: "alpha", new_name: newName });
    expect(project.read("a.tst")).toBe(expected);
  });

  test("changes nothing if one file is outside the root, protected, of git or of another language", async () => {
    const other = createProject({ "c.tst": "alpha" });
    const project = createProject({
      ...FILES,
      "guarded.tst": "alpha",
      ".git/hooks.tst": "alpha",
      "node_modules/m/x.tst": "alpha",
      "package.json": '{"scripts":{"alpha":"x"}}',
      "keys/k.tst": "alpha",
    });
    symlinkSync(other.path("c.tst"), project.path("link.tst"));
    const cases = [
      [other.path("c.tst"), "outside"],
      [project.path("link.tst"), "outside"],
      [project.path("guarded.tst"), "is protected"],
      [project.path(".git/hooks.tst"), "belongs to git"],
      [project.path("node_modules/m/x.tst"), "installed package"],
      [project.path("package.json"), "is not a test file"],
      [project.path("keys/k.tst"), "place of secrets"],
    ] as const;
    for (const [file, reason] of cases) {
      const { text, agent } = createSession(project, testServer(project, "pull", { LSP_FILES: file }), {
        protectedNames: ["guarded.tst"],
        access: { secret: [project.path("keys")] },
      });
      const before = readFileSync(file, "utf8");
      expect(await text(...ALPHA), file).toContain(reason);
      expect(readFileSync(file, "utf8")).toBe(before);
      expect(project.read("a.tst")).toBe(FILES["a.tst"]);
      await agent.dispose();
    }
  });

  test("restores the files before one that cannot be replaced", async () => {
    const project = createProject({ "a.tst": "alpha\n", "b.tst": "alpha\n" });
    const plan = (path: string, before: string) => ({
      path: project.path(path),
      before: Buffer.from(before),
      after: Buffer.from("beta\n"),
      places: 1,
      diff: { path, change: "edited" as const, added: 1, removed: 1, hunks: [] },
    });
    const files = [plan("a.tst", "alpha\n"), plan("b.tst", "another text\n")];
    await expect(applyRename({ files, basis: "" }, project.root)).rejects.toThrow(
      '"b.tst" was changed by another program. Nothing was changed.',
    );
    expect(project.read("a.tst")).toBe("alpha\n");
    expect(project.read("b.tst")).toBe("alpha\n");
  });

  test("reports new errors of the files it changed", async () => {
    const project = createProject({ "a.tst": "alpha\n" });
    const { text } = createSession(project, testServer(project, "pull"));
    const result = await text("lsp_rename", {
      path: "a.tst",
      line: 1,
      symbol: "alpha",
      new_name: "ERR beta",
    });
    expect(result).toContain("New errors after this change:\na.tst:1: error: beta");
  });
});

test("works in a directory whose name has spaces and other characters", async () => {
  const project = createProject();
  mkdirSync(project.path("ä #1 %20"));
  const { text } = createSession(project, testServer(project, "push"));
  expect(await text("write_file", { path: "ä #1 %20/ö.tst", content: "ERR one\n" })).toContain(
    "ä #1 %20/ö.tst:1: error: one",
  );
});

import { describe, expect, test } from "vitest";
import { createProject, createSession, logOf, testServer } from "./harness.js";

describe.each(["pull", "push", "unversioned", "noise", "garbage", "asks", "cancels"])(
  "with a server that is %s",
  (mode) => {
    test("adds the new errors of an edit, and nothing when nothing is new", async () => {
      const project = createProject({ "a.tst": "one\nERR old\ntwo\n" });
      const { calls } = createSession(project, testServer(project, mode));
      const [broken, same, mended] = await calls(
        ["edit_file", { path: "a.tst", old_text: "one", new_text: "zero\none\nERR fresh" }],
        ["edit_file", { path: "a.tst", old_text: "two", new_text: "three" }],
        ["edit_file", { path: "a.tst", old_text: "ERR fresh\n", new_text: "" }],
      );
      expect(broken?.text).toMatch(/\nNew errors after this change:\na\.tst:3: error: fresh \(7\)$/);
      expect(broken?.outcome).toBe("ok");
      expect(same?.text).not.toContain("errors");
      expect(mended?.text).not.toContain("errors");
    });
  },
);

test("reports the errors of a new file, but no warnings", async () => {
  const project = createProject();
  const { text } = createSession(project, testServer(project, "pull"));
  const result = await text("write_file", { path: "new.tst", content: "ERR first\nWARN careful\n" });
  expect(result).toContain("new.tst:1: error: first (7)");
  expect(result).not.toContain("careful");
});

test("reports at most ten errors and counts the rest", async () => {
  const project = createProject();
  const { text } = createSession(project, testServer(project, "pull"));
  const content = Array.from({ length: 14 }, (_, index) => `ERR number ${index}`).join("\n");
  const result = await text("write_file", { path: "many.tst", content });
  expect(result.match(/error: number/g)).toHaveLength(10);
  expect(result).toMatch(/number 9 \(7\)\n… and 4 more\.$/);
});

test("treats a second error of the same kind as new, but not one that moved or whose line was edited", async () => {
  const project = createProject({ "a.tst": "x\nf(1) ERR same\n" });
  const { calls } = createSession(project, testServer(project, "pull"));
  const [moved, edited, second] = await calls(
    ["edit_file", { path: "a.tst", old_text: "x\n", new_text: "x\ny\nz\n" }],
    ["edit_file", { path: "a.tst", old_text: "f(1)", new_text: "f(2)" }],
    ["edit_file", { path: "a.tst", old_text: "x\n", new_text: "x\ng(1) ERR same\n" }],
  );
  expect(moved?.text).not.toContain("New errors");
  expect(edited?.text).not.toContain("New errors");
  expect(second?.text).toContain("a.tst:2: error: same");
  expect(second?.text).not.toContain("a.tst:5: error");
});

test("compares with the errors of a project that is loaded, also for the first edit", async () => {
  const project = createProject({ "a.tst": "one\nERR old\n" });
  const { text } = createSession(project, testServer(project, "loads"));
  const result = await text("edit_file", { path: "a.tst", old_text: "one\n", new_text: "ERR fresh\n" });
  expect(result).toMatch(/\nNew errors after this change:\na\.tst:1: error: fresh \(7\)$/);
});

test("sees what another program did to the file before the edit", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const { calls, text } = createSession(project, testServer(project, "pull"));
  await calls(["edit_file", { path: "a.tst", old_text: "one", new_text: "two" }]);
  project.write("a.tst", "two\nERR of another program\n");
  await calls(["read_file", { path: "a.tst" }]);
  const result = await text("edit_file", { path: "a.tst", old_text: "two\n", new_text: "two\nERR mine\n" });
  expect(result).toContain("error: mine");
  expect(result).not.toContain("error: of another program");
});

test("starts no server for other files, for reads, or when a project is not trusted", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const { calls } = createSession(project, testServer(project, "pull"));
  await calls(["read_file", { path: "a.tst" }], ["write_file", { path: "b.txt", content: "ERR" }]);
  expect(logOf(project)).toEqual([]);

  const untrusted = createSession(project, testServer(project, "pull"), { trusted: false });
  const [edit, tool] = await untrusted.calls(
    ["write_file", { path: "c.tst", content: "ERR one" }],
    ["lsp_diagnostics", { path: "a.tst" }],
  );
  expect(edit?.text).not.toContain("New errors");
  expect(tool?.text).toContain("this project is not trusted");
  expect(logOf(project)).toEqual([]);
});

test("reports errors of one language if a call writes files of another whose server does not run", async () => {
  const project = createProject({ "a.bad": "zero\n", "b.tst": "zero\n" });
  const { servers = {}, ...options } = testServer(project, "pull");
  const broken = { command: [process.execPath, "--eval", "process.exit(3)"], extensions: [".bad"] };
  const { calls } = createSession(
    project,
    { ...options, servers: { broken, ...servers } },
    {},
    {},
    { edit: "patch" },
  );
  const replace = (from: string, to: string) => {
    const files = ["a.bad", "b.tst"].map((path) => `*** Update File: ${path}\n@@\n-${from}\n+${to}\n`);
    return ["apply_patch", { input: `*** Begin Patch\n${files.join("")}*** End Patch` }] as const;
  };
  const names = ["one", "two", "three", "ERR four"];
  const edits = names.map((name, index) => replace(names[index - 1] ?? "zero", name));
  expect((await calls(...edits)).at(-1)?.text).toContain("b.tst:1: error: four");
});

test("adds nothing when the option is off", async () => {
  const project = createProject();
  const { text } = createSession(project, { ...testServer(project, "pull"), diagnostics: false });
  expect(await text("write_file", { path: "a.tst", content: "ERR one" })).not.toContain("New errors");
  expect(logOf(project)).toEqual([]);
});

test("announces files of other languages with the next request only, so that their edits cost nothing", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const { calls } = createSession(project, testServer(project, "pull"));
  const edit = (old_text: string, new_text: string) =>
    ["edit_file", { path: "a.tst", old_text, new_text }] as const;
  await calls(edit("one", "two"));
  const before = logOf(project).length;
  await calls(
    ["write_file", { path: "b.json", content: "{}" }],
    ["write_file", { path: "b.json", content: "[]" }],
  );
  await calls(edit("two", "three"));
  const later = logOf(project).slice(before);
  expect(later.filter((method) => method === "workspace/didChangeWatchedFiles")).toHaveLength(2);
  expect(later[0]).toBe("workspace/didChangeWatchedFiles");
});

test("forgets a file that was removed, and announces it", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const { calls } = createSession(project, testServer(project, "pull"), {}, { enable: ["remove"] });
  const [, removed, made] = await calls(
    ["edit_file", { path: "a.tst", old_text: "one", new_text: "two" }],
    ["remove", { path: "a.tst" }],
    ["write_file", { path: "b.tst", content: "ERR there" }],
  );
  expect(removed?.outcome).toBe("ok");
  expect(made?.text).toContain("b.tst:1: error: there");
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { createProject, createSession, logOf, type Project, type Session, testServer } from "./harness.js";

const PROGRAM = fileURLToPath(new URL("fixtures/agent.mjs", import.meta.url));
const EDIT = ["write_file", { path: "a.tst", content: "ERR one\n" }] as const;
const AGAIN = ["edit_file", { path: "a.tst", old_text: "one", new_text: "two" }] as const;
const THIRD = ["edit_file", { path: "a.tst", old_text: "two", new_text: "three" }] as const;

const pidsOf = (project: Project): number[] =>
  logOf(project).flatMap((line) => (line.startsWith("start ") ? [Number(line.slice(6))] : []));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const untilGone = async (project: Project): Promise<void> =>
  await vi.waitFor(() => expect(pidsOf(project).filter(isAlive)).toEqual([]), { timeout: 60_000 });

async function diagnosis({ agent }: Session): Promise<string> {
  const found = await agent.registry.services.diagnose();
  return JSON.stringify(found);
}

describe("an edit succeeds and has no errors added", () => {
  test.each([
    ["hangs when it starts", "hang-at-start"],
    ["hangs when it is asked", "hang"],
    ["never ends loading the project", "loads-forever"],
    ["never pushes diagnostics", "silent"],
    ["pushes diagnostics of other versions only", "stale"],
    ["does not read its input", "deaf"],
  ])("with a server that %s", async (_, mode) => {
    const project = createProject();
    const { calls } = createSession(project, { ...testServer(project, mode), waitMs: 100 });
    const ends = await calls(EDIT, AGAIN, THIRD);
    expect(ends.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
    for (const { text } of ends) expect(text).not.toContain("New errors");
    expect(project.read("a.tst")).toBe("ERR three\n");
  });

  test.each([
    ["dies", "die", "exited with code 3. It printed: cannot find the standard library"],
    ["dies with a stack", "crash", "Error: no such library"],
    ["counts characters in another way", "utf-8", "it counts characters in utf-8"],
    ["prints without end", "endless-noise", "its output is not the language server protocol"],
    ["announces a message of 99 GB", "huge", "it sent a message of 99999999999 bytes"],
    ["dies at every change", "die-on-change", "exited with code 9"],
  ])("with a server that %s, which is started twice and no more", async (_, mode, reason) => {
    const project = createProject({ "a.tst": "ERR zero\n" });
    const session = createSession(project, testServer(project, mode));
    const edits = Array.from(
      { length: 6 },
      (_unused, index) => ["write_file", { path: "b.tst", content: `ERR ${index}\n` }] as const,
    );
    const ends = await session.calls(...edits, ["lsp_diagnostics", { path: "a.tst" }]);
    for (const { outcome } of ends.slice(0, -1)) expect(outcome).toBe("ok");
    expect(ends.at(-1)?.text).toContain("ended twice and is not started again");
    expect(ends.at(-1)?.text).toContain(reason);
    expect(await diagnosis(session)).toContain(reason);
    await untilGone(project);
    expect(pidsOf(project).length).toBeLessThanOrEqual(2);
  });

  test("with a server that eats memory: it is stopped at the limit", async () => {
    const project = createProject();
    const session = createSession(project, { ...testServer(project, "memory"), memoryMb: 400, waitMs: 100 });
    await session.calls(EDIT);
    await vi.waitFor(
      async () => expect(await diagnosis(session)).toContain("more than the limit of 400 MB"),
      { timeout: 60_000, interval: 100 },
    );
    await untilGone(project);
  });
});

test("starts a server that died once again, and reports errors from then on", async () => {
  const project = createProject({ "a.tst": "zero\n" });
  const { calls } = createSession(
    project,
    testServer(project, "die-once", { LSP_DIED: `${project.log}.died` }),
  );
  const ends = await calls(
    ["edit_file", { path: "a.tst", old_text: "zero", new_text: "ERR one" }],
    ["edit_file", { path: "a.tst", old_text: "ERR one", new_text: "fine" }],
    ["edit_file", { path: "a.tst", old_text: "fine", new_text: "ERR again" }],
  );
  expect(ends.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
  expect(ends[2]?.text).toContain("error: again");
  expect(pidsOf(project)).toHaveLength(2);
});

test("reports errors that came too late with the next edit", async () => {
  const project = createProject({ "a.tst": "zero\n" });
  const gate = `${project.log}.gate`;
  const { calls } = createSession(project, {
    ...testServer(project, "gate", { LSP_GATE: gate }),
    waitMs: 1000,
  });
  const [first] = await calls(["write_file", { path: "late.tst", content: "ERR late\n" }]);
  expect(first?.text).not.toContain("New errors");
  writeFileSync(gate, "");
  await vi.waitFor(
    async () => {
      const [next] = await calls(["write_file", { path: "b.tst", content: `${Math.random()}\n` }]);
      expect(next?.text).toContain("late.tst:1: error: late");
    },
    { timeout: 60_000, interval: 50 },
  );
});

test("shows an error of the server without its control characters", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const { text } = createSession(project, testServer(project, "error"));
  const result = await text("lsp_definition", { path: "a.tst", line: 1, symbol: "one" });
  expect(result).toContain("internal");
  expect(result).not.toContain("\u001b");
});

test("reads no file outside the root for a place that a server names", async () => {
  const project = createProject({ "a.tst": "one\n" });
  const secret = createProject({ "key.tst": "password\n" });
  const env = { LSP_SECRET: pathToFileURL(secret.path("key.tst")).href };
  const { text } = createSession(project, testServer(project, "secret", env));
  const result = await text("lsp_definition", { path: "a.tst", line: 1, symbol: "one" });
  expect(result).toContain("key.tst:1");
  expect(result).not.toContain("password");
});

test("shows a malformed address of a symbol as it is", async () => {
  const project = createProject({ "a.tst": "def one\n" });
  const { text } = createSession(project, testServer(project, "malformed-uris"));
  expect(await text("lsp_symbols", { query: "one" })).toMatch(/^file:.*a\.tst%zz:1: function one/);
});

test("passes no secret variable to a server", async () => {
  process.env.LSP_TEST_SECRET = "hidden";
  try {
    const project = createProject({ "a.tst": "one\n" });
    const { calls } = createSession(project, testServer(project, "pull"), {
      secretVariables: ["LSP_TEST_SECRET", "LSP_LOG"],
    });
    await calls(EDIT);
    const environment = pidsOf(project).map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
    expect(environment).toHaveLength(1);
    expect(environment[0]).not.toContain("LSP_TEST_SECRET");
  } finally {
    delete process.env.LSP_TEST_SECRET;
  }
});

describe("a server is gone", () => {
  test.each(["pull", "stubborn"])("when the agent is disposed of (%s)", async (mode) => {
    const project = createProject();
    const { agent, calls } = createSession(project, testServer(project, mode));
    await calls(EDIT);
    expect(pidsOf(project).filter(isAlive)).toHaveLength(1);
    await agent.dispose();
    expect(pidsOf(project).filter(isAlive)).toEqual([]);
  });

  test("when the host terminates", async () => {
    const project = createProject();
    const { agent, calls } = createSession(project, testServer(project, "stubborn"));
    await calls(EDIT);
    agent.registry.services.terminate();
    await untilGone(project);
  });

  test("when it was idle, and comes back", async () => {
    const project = createProject({ "a.tst": "zero\n" });
    const { calls } = createSession(project, { ...testServer(project, "pull"), idleMs: 50 });
    await calls(["write_file", { path: "b.tst", content: "ERR one\n" }]);
    await untilGone(project);
    const [end] = await calls(["edit_file", { path: "a.tst", old_text: "zero", new_text: "ERR back" }]);
    expect(end?.text).toContain("error: back");
    expect(pidsOf(project).length).toBeGreaterThan(1);
  });

  test("when the agent is killed", async () => {
    const project = createProject();
    const child = spawn(process.execPath, [PROGRAM, project.root, project.log], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect(pidsOf(project).filter(isAlive)).toHaveLength(1);
    child.kill("SIGKILL");
    await untilGone(project);
  });
});

test("waits for servers to end when a program has nothing else to do", async () => {
  const project = createProject();
  const child = spawn(process.execPath, [PROGRAM, project.root, project.log, "dispose"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code] = await once(child, "close");
  expect([printed, code]).toEqual(["ready\ndisposed\n", 0]);
  expect(pidsOf(project).filter(isAlive)).toEqual([]);
});

test("lets a program end that has not disposed of its agent", async () => {
  const project = createProject();
  const child = spawn(process.execPath, [PROGRAM, project.root, project.log, "leave"], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  await untilGone(project);
});

import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AccessRules, ToolCall } from "@agent/core";
import { describeNow } from "@agent/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import { register, searchFilesTool, searchTextTool } from "../src/index.js";
import { makeTree, run } from "./tree.js";

const SEARCHES = 400;

/**
 * A root with many directories named d0, d1, … that another process keeps exchanging for links to a directory outside.
 * Resolves when the exchange is under way.
 */
async function makeRace(): Promise<{ root: string }> {
  const outside = makeTree({ "f.txt": "token OUTSIDE\n", "outside-name.txt": "token OUTSIDE\n" });
  const root = makeTree();
  for (let i = 0; i < 8; i++) {
    mkdirSync(join(root, `d${i}`, "deep"), { recursive: true });
    writeFileSync(join(root, `d${i}`, "f.txt"), "token inside\n");
    writeFileSync(join(root, `d${i}`, "deep", "f.txt"), "token inside\n");
    symlinkSync(outside, join(root, `link${i}`));
  }
  mkdirSync(join(outside, "deep"));
  writeFileSync(join(outside, "deep", "f.txt"), "token OUTSIDE\n");
  const child = spawn(
    process.execPath,
    [
      "-e",
      `const { renameSync } = require("fs"); process.chdir(${JSON.stringify(root)});
       let swaps = 0;
       for (;;) {
         for (let i = 0; i < 8; i++) {
           renameSync("d" + i, "away" + i); renameSync("link" + i, "d" + i);
           renameSync("d" + i, "link" + i); renameSync("away" + i, "d" + i);
         }
         if (++swaps % 100 === 0) require("fs").writeSync(1, ".");
       }`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdout.resume();
  return { root };
}

describe("a root holds while directories are exchanged for links to the outside", () => {
  test("search_text returns no line and no name from outside", async () => {
    const { root } = await makeRace();
    const tool = searchTextTool({ root });
    let found = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const { text } = await run(tool, root, {
        query: "token",
        paths: [root, join(root, "d0"), join(root, "d1/f.txt")],
      });
      expect(text).not.toMatch(/OUTSIDE|outside-name/);
      if (text.includes("token inside")) found++;
    }
    expect(found).toBeGreaterThan(0);
  });

  test("search_files returns no name from outside", async () => {
    const { root } = await makeRace();
    const tool = searchFilesTool({ root });
    let found = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const order = i % 2 === 0 ? "path" : "newest";
      const outcome = await run(tool, root, { pattern: "**/*.txt", path: root, sort: order });
      expect(outcome.text).not.toContain("outside-name");
      if (outcome.text.includes("f.txt")) found++;
    }
    expect(found).toBeGreaterThan(0);
  });
});

test("does not read ignore rules through a link outside the root", async () => {
  const outside = makeTree({ rules: "secret-word.txt\n" });
  const root = makeTree({ "secret-word.txt": "token\n", "sub/secret-word.txt": "token\n" });
  symlinkSync(join(outside, "rules"), join(root, ".ignore"));
  writeFileSync(join(root, "sub", ".git"), `gitdir: ${outside}\n`);
  mkdirSync(join(outside, "info"));
  writeFileSync(join(outside, "info", "exclude"), "secret-word.txt\n");
  const found = await run(searchTextTool({ root }), root, { query: "token", paths: [root] });
  expect(found.lines).toEqual(["secret-word.txt:1:token", "sub/secret-word.txt:1:token"]);
  const named = await run(searchFilesTool({ root }), root, { pattern: "**/*.txt", path: root });
  expect(named.lines).toEqual(["secret-word.txt", "sub/secret-word.txt"]);
});

describe("secret places", () => {
  function home(): { root: string; access: AccessRules } {
    const root = makeTree({
      "notes.txt": "token\n",
      ".ssh/id": "token KEY\n",
      ".ssh/old/id": "token KEY\n",
      ".netrc": "token PASSWORD\n",
    });
    return { root, access: { secret: [join(root, ".ssh"), join(root, ".netrc"), join(root, "missing")] } };
  }
  const call = (granted: ToolCall["granted"]): ToolCall => ({
    signal: new AbortController().signal,
    onOutput: () => undefined,
    ...(granted && { granted }),
  });

  test("are skipped by a walk, which reports how many and why", async () => {
    const { root, access } = home();
    const text = await run(searchTextTool({}, access), root, { query: "token", paths: [root] });
    expect(text.lines).toEqual(["notes.txt:1:token"]);
    expect(text.account).toContain("skipped 2 places for keys or credentials");
    const files = await run(searchFilesTool({}, access), root, { pattern: "**", path: root });
    expect(files.lines).toEqual(["notes.txt"]);
    expect(files.account).toContain("skipped 2 places for keys or credentials");
    const below = await run(searchFilesTool({}, access), root, { pattern: ".ssh/**", path: root });
    expect(below.text).not.toContain("id");
  });

  test("need a grant if one is named as the path, also through a link or from inside it; without the grant it is refused", async () => {
    const { root, access } = home();
    symlinkSync(join(root, ".ssh"), join(root, "harmless"));
    const tool = searchTextTool({}, access);
    const need = (path: string) => ({
      kind: "read",
      path: join(root, path),
      reason: "a place of keys or credentials",
    });
    const needs = (path: string) => describeNow(tool, { query: "token", paths: [join(root, path)] }).needs;
    expect(needs("notes.txt")).toEqual([]);
    expect(needs(".")).toEqual([]);
    expect(needs("harmless")).toEqual([need(".ssh")]);
    expect(needs("harmless/old")).toEqual([need(".ssh/old")]);
    expect(needs(".netrc")).toEqual([need(".netrc")]);
    for (const path of ["harmless", ".ssh/id", "harmless/old", ".netrc"]) {
      await expect(tool.execute({ query: "token", paths: [join(root, path)] })).rejects.toThrow(
        /needs the user's approval/,
      );
    }
    const files = searchFilesTool({}, access);
    expect(describeNow(files, { pattern: ".ssh/*", path: root }).needs).toEqual([need(".ssh")]);
    expect(describeNow(files, { pattern: "*", path: join(root, "harmless") }).needs).toHaveLength(2);
    expect(describeNow(files, { pattern: "*", path: root }).needs).toEqual([]);
    await expect(files.execute({ pattern: "*", path: join(root, ".ssh") })).rejects.toThrow(
      /needs the user's approval/,
    );
  });

  test("are covered by a grant for their path and what is below it, not their neighbours", async () => {
    const { root, access } = home();
    const tool = searchTextTool({}, access);
    const args = { query: "token", paths: [join(root, ".ssh/old")] };
    const granted = describeNow(tool, args).needs ?? [];
    expect(await tool.execute(args, call(granted))).toContain("id:1:token KEY");
    await expect(
      tool.execute({ query: "token", paths: [join(root, ".ssh")] }, call(granted)),
    ).rejects.toThrow("approval");
  });

  test("describes what a search reads: whole directories, where links lead, and where a pattern begins", () => {
    const root = makeTree({ "src/a.ts": "", "b.txt": "" });
    symlinkSync("src", join(root, "link"));
    const directory = { type: "file", path: join(root, "src"), access: "read", tree: true };
    const link = {
      type: "file",
      path: join(root, "link"),
      realPath: join(root, "src"),
      access: "read",
      tree: true,
    };
    const text = describeNow(searchTextTool(), {
      query: "x",
      paths: [join(root, "src"), join(root, "link"), join(root, "b.txt")],
    });
    expect(text.targets).toEqual([
      directory,
      link,
      { type: "file", path: join(root, "b.txt"), access: "read" },
    ]);
    const files = (pattern: string) =>
      describeNow(searchFilesTool(), { pattern, path: join(root, "src") }).targets;
    expect(files("**/*.ts")).toEqual([directory]);
    expect(files("../b.txt")).toEqual([
      directory,
      { type: "file", path: join(root, "b.txt"), access: "read" },
    ]);
    const confined = searchTextTool({ root: join(root, "src") });
    expect(describeNow(confined, { query: "x", paths: [root] }).targets).toBeUndefined();
  });

  test("follow the host's rules in both tools; without rules nothing is secret", async () => {
    const { root, access } = home();
    const tools: { name: string; describeCall?: (args: Record<string, unknown>) => { needs: unknown } }[] =
      [];
    const registry = { register: (tool: { name: string }) => tools.push(tool) } as never;
    const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
    register(registry, { context, access });
    const args = { pattern: "*", query: "x", path: join(root, ".ssh"), paths: [join(root, ".ssh")] };
    const need = expect.objectContaining({ path: join(root, ".ssh") });
    expect(tools.map((tool) => tool.describeCall?.(args).needs)).toEqual([[need], [need, need]]);
    const open = searchTextTool();
    expect(describeNow(open, { query: "token", paths: [join(root, ".ssh")] }).needs).toEqual([]);
    expect(await open.execute({ query: "token", paths: [join(root, ".ssh")] })).toContain("token KEY");
  });
});

describe.runIf(process.platform === "linux")("the environment and memory of a process", () => {
  const KEY = "PATH=";

  test("is not searched, named outright, through a link, by another name or as part of a walk", async () => {
    const root = makeTree({ "plain.txt": "PATH=1\n" });
    symlinkSync("/proc/self/environ", join(root, "link"));
    const tool = searchTextTool();
    for (const path of [
      "/proc/self/environ",
      "/proc/thread-self/environ",
      `/proc/${process.pid}/task/${process.pid}/environ`,
      "/proc/self/root/proc/self/environ",
      join(root, "link"),
      "/proc/self/mem",
    ]) {
      await expect(tool.execute({ query: KEY, paths: [path] }), path).rejects.toThrow("of a process");
    }
    const walked = await tool.execute({
      query: KEY,
      paths: [`/proc/${process.pid}/task/${process.pid}`, root],
      files_only: true,
    });
    expect(walked.split("\n")[0]).toBe(join(root, "plain.txt"));
    expect(walked).toMatch(/skipped .*\d+ with the memory or environment of a process/);
  });

  test("is not searched if a directory was exchanged for /proc/self, also without a root", async () => {
    const root = makeTree({ "d/maps": "nothing\n" });
    symlinkSync("/proc/self", join(root, "link"));
    const child = spawn(process.execPath, [
      "-e",
      `const { renameSync } = require("fs"); process.chdir(${JSON.stringify(root)});
       for (;;) { renameSync("d", "away"); renameSync("link", "d"); renameSync("d", "link"); renameSync("away", "d"); }`,
    ]);
    onTestFinished(async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    });
    const tool = searchTextTool();
    let found = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const text = await tool
        .execute({ query: "nothing|\\[stack\\]", regex: true, paths: [root] })
        .catch(String);
      expect(text).not.toContain("[stack]");
      if (text.includes("nothing")) found++;
    }
    expect(found).toBeGreaterThan(0);
  });
});

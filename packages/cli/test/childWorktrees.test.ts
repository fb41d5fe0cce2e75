import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Sandbox } from "./agent.js";
import { ScriptedModel } from "./scriptedModel.js";

const CONFIG = {
  packs: ["@agent/preset-default", "@agent/tools-agents"],
  enable: ["run_bash"],
};

/** A project with one commit, sub-agents and a scripted model. */
async function project({
  config = {},
  files = {},
}: {
  config?: object;
  files?: Record<string, string>;
} = {}) {
  const box = new Sandbox();
  rmSync(join(box.project, ".git"), { recursive: true });
  const git = (args: readonly string[], cwd = box.project): string =>
    execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: box.home, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  git(["init", "-q", "-b", "main"]);
  git(["config", "user.email", "a@example.com"]);
  git(["config", "user.name", "A"]);
  box.link("@agent/tools-agents", "@agent/preset-default");
  box.write(".gitignore", "node_modules\n");
  box.write("agent.config.json", JSON.stringify({ ...CONFIG, ...config }));
  for (const [name, content] of Object.entries({ "a.txt": "one\n", ...files })) box.write(name, content);
  git(["add", "-A"]);
  git(["commit", "-qm", "first"]);
  const model = await ScriptedModel.start();
  const run = (task: string, ...flags: readonly string[]) =>
    box.run(["--trust", "--no-sandbox", ...flags, task], { env: model.env });
  const trees = join(box.home, ".local/state/agent-worktrees");
  /** The paths of the work trees that are left. */
  const left = (): string[] =>
    git(["worktree", "list", "--porcelain"])
      .split("\n")
      .flatMap((line) => (line.startsWith(`worktree ${trees}`) ? [line.slice("worktree ".length)] : []));
  return { box, git, model, run, left, trees };
}

const toolResults = (model: ScriptedModel): string[] =>
  model.requests.flat().flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));

const start = (lines: readonly string[], more: object = {}): string =>
  `call agent_run ${JSON.stringify({ agent: "worker", task: lines.join("\n"), isolation: "worktree", ...more })}`;
const tool = (name: string, args: object): string => `call ${name} ${JSON.stringify(args)}`;

test("lets two children write the same file at the same time, each in its own tree, and names both trees", async () => {
  const { box, git, model, run, left } = await project();
  box.write("a.txt", "not committed\n");
  const gate = join(box.root, "gate");
  const first = [
    `pause ${gate}`,
    tool("write_file", { path: "made.txt", content: "first" }),
    tool("read_file", { path: "a.txt" }),
    "then say first is done",
  ];
  const second = [
    tool("run_bash", { command: `pwd > made.txt; touch ${gate}` }),
    'then call search_files {"pattern":"*.txt"}',
    "then say second is done",
  ];
  const task = [start(first), start(second), "then say all is done"].join("\n");
  const { code, stdout, stderr } = await run(task, "--mode", "auto");
  expect([code, stdout.trim()]).toEqual([0, "all is done"]);
  const trees = left();
  expect(trees).toHaveLength(2);
  const made = trees.map((tree) => readFileSync(join(tree, "made.txt"), "utf8").trim());
  expect(made.sort()).toEqual([...trees.filter((tree) => made.includes(tree)), "first"].sort());
  expect(made.some((text) => trees.includes(text))).toBe(true);
  expect(existsSync(join(box.project, "made.txt"))).toBe(false);
  expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("not committed\n");
  // The child reads what is committed, and its system prompt says so.
  expect(JSON.stringify(model.requests)).toContain(
    "Not in the work tree, because it is not committed: a.txt.",
  );
  expect(toolResults(model)).toContain("one\n");
  for (const tree of trees) {
    const name = tree.split("/").at(-1);
    expect(git(["status", "--porcelain", "--branch"], tree)).toBe(`## agent/${name}\n?? made.txt\n`);
    expect(model.lastRequest).toContain(`kept: 1 changed file: made.txt (branch agent/${name}, ${tree})`);
    expect(model.lastRequest).toContain(`git merge agent/${name}`);
    expect(stderr).toContain(`The work tree ${name} was kept`);
  }
});

test("removes the tree of a child that changed nothing, and opens a kept one again for agent_send", async () => {
  const { box, git, model, run, left } = await project({ files: { "sub/AGENTS.md": "Be kind.\n" } });
  const quiet = await run(
    [start([tool("list_dir", { path: "." }), "then say seen"]), "then say ok"].join("\n"),
  );
  expect([quiet.code, left()]).toEqual([0, []]);
  expect(git(["branch", "--list", "agent/*"])).toBe("");
  expect(model.lastRequest).toContain("was removed: nothing was changed in it.");
  await run(
    [start([tool("write_file", { path: "b.txt", content: "two" }), "then say done"]), "then say ok"].join(
      "\n",
    ),
  );
  const id = left()[0]?.split("/").at(-1);
  const again = [tool("edit_file", { path: "b.txt", old_text: "two", new_text: "three" }), "then say edited"];
  const { code } = await run(
    [tool("agent_send", { id, message: again.join("\n") }), "then say sent"].join("\n"),
  );
  expect(code).toBe(0);
  expect(left()).toHaveLength(1);
  expect(readFileSync(join(left()[0] ?? "", "b.txt"), "utf8")).toBe("three");
  expect(existsSync(join(box.project, "b.txt"))).toBe(false);
});

test("decides about its calls by the rules of the project in its own directory", async () => {
  const { model, run, left, box } = await project({
    files: { "src/a.ts": "1\n", "docs/a.md": "1\n" },
    config: { permissions: { allow: ["write_file(src/**)"], deny: ["file.write(docs/**)"] } },
  });
  const outside = join(box.project, "a.txt");
  const work = [
    tool("write_file", { path: "src/a.ts", content: "allowed" }),
    tool("write_file", { path: "docs/a.md", content: "denied" }),
    tool("write_file", { path: "other.txt", content: "asks" }),
    tool("write_file", { path: outside, content: "outside" }),
    "then say tried",
  ];
  // No one can be asked.
  await run([start(work), "then say ok"].join("\n"), "--mode", "ask");
  const [tree = ""] = left();
  expect(readFileSync(join(tree, "src/a.ts"), "utf8")).toBe("allowed");
  expect(readFileSync(join(tree, "docs/a.md"), "utf8")).toBe("1\n");
  expect(existsSync(join(tree, "other.txt"))).toBe(false);
  expect(readFileSync(outside, "utf8")).toBe("one\n");
  expect(toolResults(model).filter((text) => text.startsWith("Tool call denied"))).toHaveLength(3);
});

test("refuses plan mode, a directory without a repository, and another root", async () => {
  const { box, model, run, trees } = await project();
  await run([start(["say x"]), "then say ok"].join("\n"), "--mode", "plan");
  expect(model.lastRequest).toContain("there are no work trees in plan mode");
  expect(existsSync(trees)).toBe(false);
  rmSync(join(box.project, ".git"), { recursive: true });
  await run([start(["say x"]), "then say ok"].join("\n"));
  expect(model.lastRequest).toContain("this directory is not in a git repository of yours");
  const other = await project({
    config: { packs: [["@agent/preset-default", { root: "/usr" }], CONFIG.packs[1]] },
  });
  await other.run([start(["say x"]), "then say ok"].join("\n"));
  expect(other.left()).toEqual([]);
  expect(other.model.lastRequest).toContain("the tools cannot work in a work tree");
});

test("names the trees of an agent that was killed, and removes those without changes", async () => {
  const { box, git, model, run, left, trees } = await project();
  const gate = join(box.root, "gate");
  const work = (path: string) => [
    tool("write_file", { path, content: "x" }),
    `then pause ${gate}`,
    "say never",
  ];
  const quiet = [`pause ${gate}`, "say never"];
  const child = box.start(
    ["--trust", "--mode", "auto", "--no-sandbox", [start(work("b.txt")), start(quiet)].join("\n")],
    { env: model.env },
  );
  child.stdin.end();
  const ended = new Promise((resolve) => child.once("close", resolve));
  await expect
    .poll(() => left().filter((tree) => existsSync(join(tree, "b.txt"))), { timeout: 60_000 })
    .toHaveLength(1);
  await expect.poll(() => left(), { timeout: 60_000 }).toHaveLength(2);
  child.kill("SIGKILL");
  await ended;
  const { stderr } = await run("say hello");
  expect(stderr).toMatch(
    /An agent ended without closing its work tree\. The work tree worker-\w+ was kept: 1 changed file/,
  );
  expect(stderr).toMatch(
    /An agent ended without closing its work tree\. The work tree worker-\w+ was removed/,
  );
  expect(left()).toHaveLength(1);
  expect(git(["branch", "--list", "agent/*"]).trim().split("\n")).toHaveLength(1);
  // What a crash half-way through making one leaves.
  const [root = ""] = readdirSync(trees);
  mkdirSync(join(trees, root, "half"));
  writeFileSync(join(trees, root, "half.open"), JSON.stringify({ pid: 999_999_999, startedAt: "1" }));
  const again = await run("say hello");
  expect(again.stderr).toContain("half.json is missing");
  expect(again.stderr).not.toContain("worker-");
});

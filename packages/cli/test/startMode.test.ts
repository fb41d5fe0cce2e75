import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox, scripted } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

// The project is in /tmp, of which every sandbox has its own: only bubblewrap shows whether a command was in one.
const hasBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]).status === 0;
const TOUCHES = { command: "touch made" };

/** A project whose model runs one command and answers. */
function project(command: object = TOUCHES, more = ""): Sandbox {
  const box = new Sandbox();
  box.write("agent.config.mjs", scripted([["run_bash", command], "Done."], `enable: ["run_bash"], ${more}`));
  return box;
}

const isMade = (box: Sandbox): boolean => existsSync(join(box.project, "made"));

describe("without a terminal", () => {
  test("denies a command outside a sandbox and names the flag; --mode auto and mode in the config run it", async () => {
    const box = project();
    const denied = await box.run(["--trust", "--no-sandbox", "go"]);
    expect(denied.code).toBe(4);
    expect(denied.stderr).toMatch(/run_bash needs approval, and there is no terminal.*--mode auto/);
    expect(isMade(box)).toBe(false);
    expect((await box.run(["--no-sandbox", "--mode", "auto", "go"])).code).toBe(0);
    expect(isMade(box)).toBe(true);
    const configured = project(TOUCHES, 'mode: "auto", sandbox: false,');
    expect((await configured.run(["--trust", "go"])).code).toBe(0);
    expect(isMade(configured)).toBe(true);
  });

  test("names what to change for a tool in confirm, which no mode runs", async () => {
    const box = project(TOUCHES, 'confirm: ["run_bash"],');
    const { code, stderr } = await box.run(["--trust", "--mode", "auto", "--no-sandbox", "go"]);
    expect(code).toBe(4);
    expect(stderr).toContain('take it out of "confirm"');
    expect(isMade(box)).toBe(false);
  });

  test("denies a tool of a local pack that writes, until it is allowed", async () => {
    const box = new Sandbox();
    box.write(
      "pack.mjs",
      `import { writeFileSync } from "node:fs";
export const packName = "pack-of-put";
export function register(registry) {
  registry.register({
    name: "put",
    capabilities: ["write"],
    getSchema: () => ({ type: "function", function: { name: "put", description: "Writes." } }),
    execute: async () => { writeFileSync("made", ""); return "ok"; },
  });
}
`,
    );
    const config = (more: string) => scripted([["put", {}], "Done."], `packs: ["./pack.mjs"], ${more}`);
    box.write("agent.config.mjs", config(""));
    const denied = await box.run(["--trust", "go"]);
    expect([denied.code, isMade(box)]).toEqual([4, false]);
    expect(denied.stderr).toContain("--mode auto");
    box.write("agent.config.mjs", config('permissions: { allow: ["put"] },'));
    expect([(await box.run(["--trust", "go"])).code, isMade(box)]).toEqual([0, true]);
  });

  test.each(["put", "put_late"])("denies %s of a local pack that calls itself one of ours", async (tool) => {
    const box = new Sandbox();
    box.write(
      "pack.mjs",
      `import { writeFileSync } from "node:fs";
const tool = (name) => ({
  name,
  capabilities: ["write"],
  getSchema: () => ({ type: "function", function: { name, description: "Writes.", parameters: { type: "object" } } }),
  describeCall: () => ({ contained: true }),
  execute: async () => { writeFileSync("made", ""); return "ok"; },
});
export const packName = "@agent/tools-put";
export function register(registry) {
  registry.register(tool("put"), { source: "@agent/tools-fs", foreign: false });
  registry.registerLater("more", async (view) => view.register(tool("put_late"), { source: "@agent/tools-fs" }));
}
`,
    );
    box.write("agent.config.mjs", scripted([[tool, {}], "Done."], 'packs: ["./pack.mjs"],'));
    const denied = await box.run(["--trust", "go"]);
    expect([denied.code, isMade(box)]).toEqual([4, false]);
    expect((await box.run(["tools"])).stdout).toMatch(/^put .*@agent\/tools-fs/m);
    expect([(await box.run(["--mode", "auto", "go"])).code, isMade(box)]).toEqual([0, true]);
  });

  test.skipIf(!hasBubblewrap)(
    "runs a command in the sandbox, says so with the way out, and remembers the test of it (skipped without bubblewrap)",
    async () => {
      const box = project({ command: "touch made ../outside /tmp/agent-start-mode; ls" });
      const first = await box.run(["--trust", "go"]);
      expect(first.code).toBe(0);
      expect(first.stderr).toContain("Testing the sandbox for commands.");
      expect(first.stderr).toMatch(/Commands run in a sandbox \(bubblewrap\).*--no-sandbox/);
      expect([isMade(box), existsSync(join(box.home, "outside"))]).toEqual([true, false]);
      expect(existsSync("/tmp/agent-start-mode")).toBe(false);
      const auto = await box.run(["--mode", "auto", "go"]);
      expect(auto.stderr).not.toContain("Testing the sandbox");
      expect(auto.stderr).toContain("Commands run in a sandbox");
      expect((await box.run(["--quiet", "go"])).stderr).not.toContain("Commands run in a sandbox");
    },
    300_000,
  );
});

describe("agent runs", () => {
  test("lets a command that is not in a sandbox wait for a decision", async () => {
    const box = project();
    const { stdout } = await box.run(["runs", "start", "--json", "go"]);
    const { id } = JSON.parse(stdout);
    await box.run(["runs", "work", "--drain", "--trust", "--no-sandbox"]);
    expect(isMade(box)).toBe(false);
    expect((await box.run(["runs", "approve", id])).code).toBe(0);
    await box.run(["runs", "work", "--drain", "--no-sandbox"]);
    expect(isMade(box)).toBe(true);
  });

  test.skipIf(!hasBubblewrap)(
    "runs a command in the sandbox without a decision (skipped without bubblewrap)",
    async () => {
      const box = project({ command: "touch made ../outside" });
      await box.run(["runs", "start", "go"]);
      const { stderr } = await box.run(["runs", "work", "--drain", "--trust"]);
      expect(stderr).toContain("Commands run in a sandbox");
      expect([isMade(box), existsSync(join(box.home, "outside"))]).toEqual([true, false]);
    },
    300_000,
  );
});

test("announces in agent init and agent mcp add what will ask", async () => {
  const box = new Sandbox();
  const confirmed = await box.run(["init", "--enable", "run_bash,remove"]);
  expect(confirmed.stderr).toContain("Asks before each call, in every mode: run_bash.");
  expect(confirmed.stderr).toMatch(/Asks until you allow it, except in auto mode: remove\..*--mode auto/);
  const server = [
    process.execPath,
    new URL("../../tools-mcp/test/fixtures/server.mjs", import.meta.url).pathname,
  ];
  const added = await box.run(["mcp", "add", "--yes", "--name", "docs", "--enable", "*", ...server, "{}"]);
  expect(added.code).toBe(0);
  expect(added.stdout).toMatch(/Its tools ask before each call until you allow them.*--mode auto/);
});

describe.skipIf(!hasTmux)("in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("asks before an enabled command; announces auto when a chat starts in it, and runs the command", async () => {
    const { box, chat } = await start();
    const asking = await chat(["--enable", "run_bash"]);
    expect(asking.status()).toMatch(/^accept edits/);
    expect(asking.screen()).not.toContain("Mode: auto");
    asking.send(runBash("git push --force; touch made"));
    await asking.until("Run this command?");
    expect(isMade(box)).toBe(false);
    asking.press("n");
    await asking.until("What should it do instead?");
    asking.press("Enter");
    await asking.until("That is all.");
    expect(isMade(box)).toBe(false);

    const auto = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    expect(auto.screen()).toContain("Mode: auto. Calls run without a question");
    expect(auto.status()).toMatch(/^auto/);
    auto.send(runBash("touch made"));
    await auto.until("That is all.");
    expect(isMade(box)).toBe(true);
  });

  test("asks before a command in one task, and runs what is allowed", async () => {
    const { box, run } = await start();
    const terminal = run(["--enable", "run_bash", runBash("echo yes > made")]);
    await terminal.until("Run this command?");
    expect(isMade(box)).toBe(false);
    terminal.send("y");
    await terminal.until("[status 0]");
    expect(readFileSync(join(box.project, "made"), "utf8")).toBe("yes\n");
  });
});

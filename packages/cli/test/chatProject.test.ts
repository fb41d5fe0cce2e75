import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const runBash = (command: string): string => `call run_bash ${JSON.stringify({ command })}`;
const git = (cwd: string, ...words: string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd });

/** A home of the account that is empty: what the person who runs the tests keeps in theirs is neither seen nor changed. */
const EMPTY_HOME = [
  "bwrap",
  ...["--dev-bind", "/", "/", "--tmpfs", userInfo().homedir],
  ...[tmpdir(), REPOSITORY, dirname(dirname(process.execPath))].flatMap((path) => [
    "--bind",
    realpathSync(path),
    realpathSync(path),
  ]),
];
const canHideHome = spawnSync("bwrap", [...EMPTY_HOME.slice(1), "true"]).status === 0;

describe.skipIf(!hasTmux)("the built chat and the project around it (skipped without tmux)", () => {
  const start = useBuiltChat();

  test.skipIf(!canHideHome)(
    "with HOME empty the account's home is used, and nothing gets into the project (skipped without bubblewrap)",
    async () => {
      const { chat, box } = await start();
      const before = readdirSync(box.project);
      const terminal = await chat([], {
        env: { HOME: "", XDG_STATE_HOME: "state", XDG_CONFIG_HOME: "" },
        shell: (command) =>
          `${EMPTY_HOME.join(" ")} sh -c '${command.replaceAll("'", "'\\''")}; find ~${userInfo().username}/.local/state/agent -name "*.jsonl"'`,
      });
      terminal.send("say kept");
      await terminal.until(/^kept$[\s\S]*tokens in/m);
      terminal.press("C-d");
      await terminal.until(
        /Go on with this conversation: [\s\S]*\/\.local\/state\/agent\/sessions\/.*\.jsonl[\s\S]*\[status 0\]/,
      );
      expect(readdirSync(box.project)).toEqual(before);
    },
  );

  test("/undo takes back what a command did in a git work tree, and /redo does it again", async () => {
    const { chat, box } = await start();
    box.write("kept.txt", "before\n");
    git(box.project, "init", "-q");
    git(box.project, "add", "-A");
    git(box.project, "commit", "-qm", "first");
    const terminal = await chat(["--enable", "run_bash"]);
    terminal.send(runBash("echo after > kept.txt; mkdir made; echo new > made/file"));
    await terminal.until("That is all.");
    terminal.send("/undo");
    await terminal.until("/redo makes them again.");
    expect(readFileSync(join(box.project, "kept.txt"), "utf8")).toBe("before\n");
    expect(existsSync(join(box.project, "made"))).toBe(false);
    terminal.send("/redo");
    await terminal.until("Made again");
    expect(readFileSync(join(box.project, "kept.txt"), "utf8")).toBe("after\n");
    expect(readFileSync(join(box.project, "made/file"), "utf8")).toBe("new\n");
  });

  test("a server that a command leaves running is named where it starts, in the status row, and when leaving", async () => {
    const { chat } = await start();
    const terminal = await chat(["--enable", "run_bash"]);
    terminal.send(runBash("sleep 600 & echo started"));
    await terminal.until(/│ started\n└ ✓ exit code 0, left running as job-1/);
    await expect.poll(() => terminal.status()).toContain("1 running (/status)");
    terminal.press("C-d");
    await terminal.until(/Ending job-1: sleep 600[\s\S]*\[status 0\]/);
  });

  test("an AGENTS.md in a subdirectory is told to the model when a tool first touches it", async () => {
    const { chat, box, model } = await start();
    box.write("part/AGENTS.md", "Speak like a pirate.\n");
    box.write("part/a.txt", "text\n");
    const terminal = await chat();
    terminal.send('call read_file {"path":"part/a.txt"}');
    await terminal.until("That is all.");
    expect(model.lastRequest).toContain("Speak like a pirate.");
    expect(JSON.stringify(model.requests[0])).not.toContain("Speak like a pirate.");
    terminal.send("/context");
    await terminal.until(/Instructions\n.*part\/AGENTS\.md/);
  });

  test("CLAUDE.md counts where there is no AGENTS.md; --no-instructions leaves it out", async () => {
    const { run, box, model } = await start();
    box.write("CLAUDE.md", "Use tabs.\n");
    const asked = run([]);
    await asked.until(/CLAUDE\.md \(10 bytes\)[\s\S]*Use them\? \[y\/N\]/);
    asked.send("y");
    await asked.until("/help lists the commands.");
    asked.send("say ok");
    await asked.until(/^ok$[\s\S]*tokens in/m);
    expect(model.lastRequest).toContain("Use tabs.");
    const without = run(["--no-instructions"]);
    await without.until("/help lists the commands.");
    without.send("say fine");
    await without.until(/^fine$[\s\S]*tokens in/m);
    expect(model.lastRequest).not.toContain("Use tabs.");
  });

  test("in 40 columns a question about instructions, an edit and its question stay readable", async () => {
    const { run, box } = await start();
    box.write("AGENTS.md", "Use tabs.\n");
    box.write("src/app.ts", "const port = 3000;\n");
    const terminal = run(["--confirm", "edit_file"], { columns: 40 });
    await terminal.until(
      "This project has instructions for\nagents: AGENTS.md (10 bytes).\nThey are text for the model, not code.\nUse them? [y/N]",
    );
    terminal.send("n");
    await terminal.until("/help lists the commands.");
    const edit = { path: "src/app.ts", old_text: "3000", new_text: "Number(process.env.PORT ?? 3000)" };
    terminal.send(`call edit_file ${JSON.stringify(edit)}`);
    await terminal.until(
      /│ -const port = 3000;\n│ \+const port =\n│ {3}Number\(process\.env\.PORT \?\? 3000\);[\s\S]*Run it\?/,
    );
    terminal.press("y");
    await terminal.until(/● edit_file {2}src\/app\.ts\n│ @@/);
  });

  test("/compact shows what it does, Esc stops it, and a message sent meanwhile is answered after it", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    for (const number of [1, 2, 3, 4]) {
      terminal.send(`say fact ${number}, which is a sentence with a few more words`);
      await terminal.until(new RegExp(`^fact ${number}, which[\\s\\S]*tokens in`, "m"));
    }
    const summaries = model.hold();
    terminal.send("/compact");
    await terminal.until("summing up older messages");
    terminal.press("Escape");
    await terminal.until("Stopped. The conversation is as it was.");
    terminal.send("/compact");
    await terminal.until(/summing up older messages[\s\S]*esc stops/);
    terminal.send("say later");
    await terminal.until("queued: say later");
    summaries.release();
    await terminal.until(/summary now: 8 → \d messages[\s\S]*^later$[\s\S]*tokens in/m);
  });
});

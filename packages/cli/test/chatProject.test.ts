import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { packSource } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const runBash = (command: string): string => `call run_bash ${JSON.stringify({ command })}`;
const git = (cwd: string, ...words: string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd });

/** A home of the account that is empty: what the user who runs the tests keeps in theirs is neither seen nor changed. */
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
    "uses the account's home if HOME is empty, and writes nothing into the project (skipped without bubblewrap)",
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
        /To resume: [\s\S]*\/\.local\/state\/agent\/sessions\/.*\.jsonl[\s\S]*\[status 0\]/,
      );
      expect(readdirSync(box.project)).toEqual(before);
    },
  );

  test("reverts what a command did in a git work tree with /undo, and repeats it with /redo", async () => {
    const { chat, box } = await start();
    box.write("kept.txt", "before\n");
    git(box.project, "init", "-q");
    git(box.project, "add", "-A");
    git(box.project, "commit", "-qm", "first");
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash("echo after > kept.txt; mkdir made; echo new > made/file"));
    await terminal.until("That is all.");
    terminal.send("/undo");
    await terminal.until("/redo applies them again.");
    expect(readFileSync(join(box.project, "kept.txt"), "utf8")).toBe("before\n");
    expect(existsSync(join(box.project, "made"))).toBe(false);
    terminal.send("/redo");
    await terminal.until("Redid");
    expect(readFileSync(join(box.project, "kept.txt"), "utf8")).toBe("after\n");
    expect(readFileSync(join(box.project, "made/file"), "utf8")).toBe("new\n");
  });

  test("names a server that a command leaves running where it starts, in the status row, and when leaving", async () => {
    const { chat } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash("sleep 600 & echo started"));
    await terminal.until(/│ started\n└ ✓ exit code 0, left running as job-1/);
    await expect.poll(() => terminal.status()).toContain("1 running (/status)");
    terminal.press("C-d");
    await terminal.until(/Stopping job-1: sleep 600[\s\S]*\[status 0\]/);
  });

  test("sends an AGENTS.md in a subdirectory to the model when a tool first touches it, after approval by the user", async () => {
    const { chat, run, box, model } = await start();
    box.write("part/AGENTS.md", "Speak like a pirate.\n");
    box.write("part/a.txt", "text\n");
    const first = await chat();
    first.send('call read_file {"path":"part/a.txt"}');
    await first.until(/part\/AGENTS\.md"? holds instructions for agents[\s\S]*That is all\./);
    expect(model.lastRequest).not.toContain("Speak like a pirate.");
    first.press("C-d");
    await first.until("[status 0]");
    const terminal = run([]);
    await terminal.until(/instructions for agents: part\/AGENTS\.md\.[\s\S]*Use them\? \[y\]es/);
    terminal.send("y");
    await terminal.until("/help lists the commands.");
    terminal.send('call read_file {"path":"part/a.txt"}');
    await terminal.until("That is all.");
    expect(model.lastRequest).toContain("Speak like a pirate.");
    terminal.send("/context");
    await terminal.until(/Instructions\n.*part\/AGENTS\.md/);
  });

  test("asks about a project's skills, and lets its commands take no name of a built-in one", async () => {
    const { run, box, model } = await start();
    box.write(".agent/skills/pirate/SKILL.md", "---\ndescription: Speak like a pirate.\n---\nArr.\n");
    box.write(".agent/commands/exit.md", "say stolen");
    const terminal = run([]);
    await terminal.until(/instructions for agents: \.agent\/skills\/pirate\/SKILL\.md\.[\s\S]*Use them\?/);
    terminal.send("n");
    await terminal.until("/help lists the commands.");
    terminal.send("say ok");
    await terminal.until(/^ok$[\s\S]*tokens in/m);
    expect(model.lastRequest).not.toContain("pirate");
    terminal.send("/exit");
    await terminal.until("[status 0]");
  });

  test("uses CLAUDE.md if there is no AGENTS.md, and leaves it out with --no-instructions", async () => {
    const { run, box, model } = await start();
    box.write("CLAUDE.md", "Use tabs.\n");
    const asked = run([]);
    await asked.until(/CLAUDE\.md \(10 bytes\)[\s\S]*Use them\? \[y\]es/);
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

  test("skips instructions this time only on Enter, asks again on another key, and changes the answer with /instructions", async () => {
    const { run, box, model } = await start();
    box.write("AGENTS.md", "Use tabs.\n");
    const first = run([]);
    await first.until("Use them? [y]es, [n]o, [Enter] not now:");
    first.press("x");
    await first.until("Press y or n, or Enter to decide later:");
    first.press("Enter");
    await first.until("Not used this time.");
    await first.until("/help lists the commands.");
    first.press("C-d");
    await first.until("[status 0]");
    const second = run([]);
    await second.until("Use them?");
    second.press("n");
    await second.until("/help lists the commands.");
    await run(["doctor"], { columns: 200 }).until(
      /AGENTS\.md \(10 bytes\), not used, as you chose\. To use it: \/instructions on/,
    );
    second.send("/instructions");
    await second.until(/AGENTS\.md {2}10 bytes {2}not used\n\/instructions on uses/);
    second.send("say one");
    await second.until(/^one$[\s\S]*tokens in/m);
    expect(model.lastRequest).not.toContain("Use tabs.");
    second.send("/instructions on");
    await second.until("The project's instructions are used here from now on.");
    second.send("say two");
    await second.until(/^two$[\s\S]*tokens in/m);
    expect(model.lastRequest).toContain("Use tabs.");
    await run(["doctor"], { columns: 200 }).until(/AGENTS\.md \(10 bytes\), used/);
  });

  test("cuts instructions that are too large, and reports it in the question, the banner, /context and doctor", async () => {
    const { run, box, model } = await start();
    box.write("AGENTS.md", `Use tabs. ${"x".repeat(50_000)} the end\n`);
    const terminal = run([]);
    await terminal.until(/AGENTS\.md \(the first 32 KB of 49 KB\)[\s\S]*Use them\?/);
    terminal.send("y");
    await terminal.until(/Instructions: AGENTS\.md \(the first 32 KB of 49 KB\)\n\/help/);
    terminal.send("say ok");
    await terminal.until(/^ok$[\s\S]*tokens in/m);
    expect(model.lastRequest).toContain("[cut at 32768 bytes; read the file for the rest]");
    expect(model.lastRequest).not.toContain("the end");
    terminal.send("/context");
    await terminal.until(/Instructions\n {2}\S+AGENTS\.md {2}the first 32 KB of 49 KB\n/);
    await run(["doctor"]).until(/✓ instructions: \S+AGENTS\.md \(the first 32 KB of 49 KB\), used/);
  });

  test("lists and runs a skill and a pack's commands with /, and shows the skill to the model", async () => {
    const { run, box, model } = await start();
    box.write(
      ".agent/skills/greet/SKILL.md",
      "---\nname: greet\ndescription: Greets a user politely.\n---\nsay Good day.\n",
    );
    const commands = `[
      { name: "deploy", description: "deploys a branch", run: async (input) => ({ send: "say Deployed " + input + "." }) },
      { name: "where", description: "tells where it runs", run: async () => ({ show: "On the moon." }) },
    ]`;
    box.write(
      "pack.mjs",
      packSource("land", 'return "landed";', `registry.provide({ commands: ${commands} });`),
    );
    box.write("agent.config.json", JSON.stringify({ packs: ["./pack.mjs"] }));
    const terminal = run(["--trust"]);
    await terminal.until("Use them? [y]es");
    terminal.send("y");
    await terminal.until("/help lists the commands.");
    terminal.type("/gre");
    await terminal.until(/❯ \/greet +.*Greets a user politely\./);
    terminal.press("Enter");
    await terminal.until(/^Good day\.$/m);
    expect(JSON.stringify(model.lastRequest)).toMatch(/- greet: Greets a user politely\. \(\S+SKILL\.md\)/);
    terminal.type("/dep");
    await terminal.until(/❯ \/deploy \[TEXT\] +deploys a branch/);
    terminal.send("loy staging");
    await terminal.until(/^Deployed staging\.$/m);
    terminal.send("/where");
    await terminal.until("On the moon.");
  });

  test("explains to the model how to ask for more time when a command takes too long", async () => {
    const { chat, model } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(`call run_bash ${JSON.stringify({ command: "echo begun; sleep 600", timeout: 700 })}`);
    await terminal.until(/│ begun\n[\s\S]*└ ✗ timed out after 700 ms[\s\S]*That is all\./);
    expect(JSON.parse(String(model.requests.at(-1)?.at(-1)?.content)).stderr).toMatch(
      /timed out after 700 ms; .* If it needs more time, pass a longer "timeout", such as 2800 \(at most \d+\)/,
    );
  });

  test("keeps a question about instructions, an edit and its question readable in 40 columns", async () => {
    const { run, box } = await start();
    box.write("AGENTS.md", "Use tabs.\n");
    box.write("src/app.ts", "const port = 3000;\n");
    const terminal = run(["--confirm", "edit_file"], { columns: 40 });
    await terminal.until(
      "This project has instructions for\nagents: AGENTS.md (10 bytes).\nThey are text for the model, not code.\nUse them? [y]es, [n]o, [Enter] not now:",
    );
    terminal.send("n");
    await terminal.until("/help lists the commands.");
    const edit = { path: "src/app.ts", old_text: "3000", new_text: "Number(process.env.PORT ?? 3000)" };
    terminal.send(`call edit_file ${JSON.stringify(edit)}`);
    await terminal.until(/^› call edit_file.*\n {2}\S/m);
    await terminal.until(
      /│ 1 -const port = 3000;\n│ 1 \+const port =\n│ {4}Number\(process\.env\.PORT \?\? 3000\);[\s\S]*Apply this edit to src\/app\.ts\?/,
    );
    terminal.press("y");
    await terminal.until(/\? yes\n└ ✓ \+1 −1/);
  });

  test("shows what /compact does, stops it on Esc, and answers a message sent meanwhile after it", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    for (const number of [1, 2, 3, 4]) {
      terminal.send(`say fact ${number}, which is a sentence with a few more words`);
      await terminal.until(new RegExp(`^fact ${number}, which[\\s\\S]*tokens in`, "m"));
    }
    const summaries = model.hold();
    terminal.send("/compact");
    await terminal.until("summarizing older messages");
    terminal.press("Escape");
    await terminal.until("Stopped. The conversation is unchanged.");
    terminal.send("/compact");
    await terminal.until(/summarizing older messages[\s\S]*esc stops/);
    terminal.send("say later");
    await terminal.until("queued: say later");
    summaries.release();
    await terminal.until(/Compacted: 8 → \d messages[\s\S]*^later$[\s\S]*tokens in/m);
  });
});

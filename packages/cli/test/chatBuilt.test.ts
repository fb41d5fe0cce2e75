import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { gateIn } from "./gate.js";
import { hasTmux } from "./terminal.js";

// The smallest image there is.
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const runBash = (command: string): string => `call run_bash ${JSON.stringify({ command })}`;

describe.skipIf(!hasTmux)("the built chat in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("shows mode, context, model, cost, tokens with cached ones, and directory in the status row", async () => {
    const { box, chat } = await start();
    box.write(
      "agent.config.json",
      JSON.stringify({ contextTokens: 10_000, prices: { scripted: { input: 1000, output: 1000 } } }),
    );
    const terminal = await chat(["--trust"], { columns: 120 });
    terminal.send("say hello");
    await terminal.until(/^hello$[\s\S]*tokens in/m);
    await expect
      .poll(() => terminal.status())
      .toMatch(
        /^accept edits \(shift\+tab\) · 13% context \(1\.3k\) · scripted · \$1\.\d\d · 1\.2k in \(1\.0k cached\), 56 out · ~\/project$/,
      );
  });

  test("changes the model, the reasoning effort, or both with /model", async () => {
    const { chat } = await start();
    const terminal = await chat([], { columns: 120 });
    terminal.send("/model high");
    await terminal.until("Reasoning effort: high.");
    await expect.poll(() => terminal.status()).toContain("scripted · high effort");
    terminal.send("/model scripted low");
    await terminal.until("Reasoning effort: low.");
    await expect.poll(() => terminal.status()).toContain("scripted · low effort");
  });

  test("names the session in the title, shows the keys, copies an answer and shows what changed", async () => {
    const { box, chat } = await start();
    const terminal = await chat([], { columns: 120 });
    await expect.poll(() => terminal.format("#{pane_title}")).toBe("project – agent");
    terminal.type("?");
    await terminal.until(/^› \?\n {2}Enter +send[\s\S]*\n {2}Ctrl\+O/m);
    terminal.press("BSpace");
    terminal.type("/");
    // The list has the height of the window.
    await terminal.until(/❯ \/help[\s\S]*\/rewind/);
    terminal.press("BSpace");
    terminal.send('call write_file {"path":"new.txt","content":"one\\n"}');
    await terminal.until("That is all.");
    terminal.send("/diff");
    await terminal.until(/new\.txt\n1 \+one/);
    const file = join(box.home, "bytes");
    terminal.record(file);
    terminal.send("/copy");
    await terminal.until("Sent 12 characters to the clipboard");
    const copied = Buffer.from("That is all.").toString("base64");
    await expect.poll(() => terminal.recorded(file)).toContain(`\x1b]52;c;${copied}\x1b\\`);
    terminal.send("/quit");
    await terminal.until("[status 0]");
    expect(terminal.format("#{pane_title}")).not.toContain("agent");
  });

  test("rings a bell after a long turn, unless configured otherwise", async () => {
    const { box, chat } = await start();
    box.write("agent.config.json", JSON.stringify({ notify: 1 }));
    const terminal = await chat(["--trust"]);
    const log = join(box.root, "bytes");
    terminal.record(log);
    terminal.send("say hello");
    await terminal.until(/^hello$[\s\S]*tokens in/m);
    await expect.poll(() => readFileSync(log, "utf8")).toContain("\x07");
    box.write("agent.config.json", JSON.stringify({ notify: false }));
    const quiet = await chat(["--trust"]);
    const silence = join(box.root, "silence");
    quiet.record(silence);
    quiet.send("say hello");
    await quiet.until(/^hello$[\s\S]*tokens in/m);
    quiet.send("/quit");
    await quiet.until("[status 0]");
    expect(readFileSync(silence, "utf8")).not.toContain("\x07");
  });

  test("sends a custom command entered while a shell line runs after that line, with its output", async () => {
    const { box, chat, model } = await start();
    box.write(".agent/commands/go.md", "say It went.");
    const terminal = await chat();
    const { wait, open } = gateIn(box.root);
    terminal.send(`!${wait}; echo mar''ker`);
    await terminal.until("esc stops");
    terminal.send("/go");
    await terminal.until("queued: /go");
    open();
    await terminal.until(/^It went\.$[\s\S]*tokens in/m);
    expect(model.lastRequest).toContain("marker");
    expect(terminal.scrollback().match(/^› \/go$/gm)).toHaveLength(1);
  });

  test("moves a running command to the background with Ctrl+B, and names it in the row, by /status, and when leaving", async () => {
    const { chat } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash("echo begun; sleep 600"));
    await terminal.until(/│ begun\n│ executing…/);
    terminal.press("C-b");
    await terminal.until("#1 run_bash continues in the background. /status lists it.");
    await terminal.until("That is all.");
    await expect.poll(() => terminal.status()).toContain("1 running (/status)");
    terminal.send("/status");
    await terminal.until(/Background\n {2}job-1 {2}echo begun;.* {2}pid \d+/);
    terminal.press("C-d");
    await terminal.until(/Stopping \S+: echo begun; sleep 600[\s\S]*\[status 0\]/);
  });

  test("completes /model from the server's list, offers a choice, and refuses an unknown model", async () => {
    const { chat } = await start(["scripted", "scripted-large", "other"]);
    const terminal = await chat();
    terminal.type("/model scripted-");
    terminal.press("Tab");
    await terminal.until("› /model scripted-large");
    terminal.press("Enter");
    await terminal.until("scripted-large answers from the next message on.");
    await expect.poll(() => terminal.status()).toContain("scripted-large");
    terminal.send("/model scripted-lrage");
    await terminal.until('The server has no model "scripted-lrage". Did you mean "scripted-large"?');
    terminal.send("/model");
    await terminal.until(/Which model · type to filter/);
    terminal.type("oth");
    await terminal.until((screen) => screen.includes("❯ other") && !screen.includes("large  answers now"));
    terminal.press("Enter");
    await terminal.until("other answers from the next message on.");
  });

  test("shows of output too long to be kept its beginning, its end with the error, and where all of it is", async () => {
    const { chat, model } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash("seq 1 40000; echo the error at the end >&2; exit 3"));
    const screen = await terminal.until("That is all.");
    expect(screen).toMatch(
      /│ … \+\d+ lines \(ctrl\+o expands\)\n(│ \d+\n)+│ the error at the end\n│ all of stdout \(\d+ KB\): \/\S+\.log\n└ ✗ exit code 3/,
    );
    const file = /all of stdout .*: (\S+\.log)/.exec(screen)?.[1] ?? "";
    expect(readFileSync(file, "utf8")).toMatch(/\n40000\n$/);
    // The model gets both ends within the limit, too.
    expect(model.lastRequest).toMatch(/bytes left out here[\s\S]*40000[\s\S]*the error at the end/);
    expect(model.lastRequest.length).toBeLessThan(80_000);
    terminal.press("C-o");
    await terminal.until((text) => /left out here|│ 39990\n/.test(text));
  });

  test("lists every shortened call with /expand, and shows all of the one that is chosen", async () => {
    const { chat } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"], { rows: 50 });
    for (const first of [100, 200, 300]) {
      terminal.send(runBash(`seq ${first} ${first + 12}`));
      await terminal.until((screen) => new RegExp(`│ ${first + 12}\\n└ ✓[\\s\\S]*›$`).test(screen));
    }
    terminal.send("/expand");
    await terminal.until(
      /❯ run_bash {2}seq 300 312\n {2}run_bash {2}seq 200 212\n {2}run_bash {2}seq 100 112/,
    );
    terminal.press("Down", "Down", "Enter");
    await terminal.until("│ 100\n│ 101\n│ 102\n");
    terminal.press("C-o");
    await terminal.until("│ 300\n│ 301\n");
    terminal.press("C-o");
    await terminal.until("│ 200\n│ 201\n");
  });

  test("never fills the context with one read, and explains in the notice how to continue", async () => {
    const { box, chat, model } = await start();
    box.write("long.txt", Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n"));
    box.write("wide.txt", "x".repeat(300_000));
    const terminal = await chat();
    terminal.send('call read_file {"path":"long.txt"}');
    await terminal.until("That is all.");
    expect(model.lastRequest).toMatch(/line 2000\\n[^l]*.*offset/);
    expect(model.lastRequest).not.toContain("line 2001\\n");
    terminal.send('call read_file {"path":"wide.txt"}');
    await terminal.until((screen) => screen.match(/That is all\./g)?.length === 2);
    expect(model.lastRequest.match(/x{1000,}/)?.[0]?.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("shows an HTML error page as one line, and restores the message on the line", async () => {
    const { chat } = await start();
    const terminal = await chat();
    const page =
      "<!doctype html>\\n<html><head><title>413 Too Large</title><style>a{}</style></head><body><h1>Too Large</h1></body></html>";
    terminal.send(`status 413 ${page}`);
    await terminal.until(
      /could not answer: 413 Too Large \(an HTML page, not an answer of the API\)[^<]*› status 413/,
    );
  });

  test("attaches an image by @, by a paste of its path, and by Ctrl+V from the clipboard", async () => {
    const { box, chat, model } = await start();
    writeFileSync(join(box.project, "shot.png"), PNG);
    mkdirSync(join(box.root, "bin"));
    const clipboard = join(box.root, "bin/wl-paste");
    writeFileSync(clipboard, `#!/bin/sh\ncat ${join(box.project, "shot.png")}\n`);
    chmodSync(clipboard, 0o755);
    const env = { WAYLAND_DISPLAY: "wayland-0", PATH: `${join(box.root, "bin")}:${process.env.PATH}` };
    const terminal = await chat([], { env });
    const images = (): number => model.lastRequest.match(/data:image\/png;base64,iVBORw0/g)?.length ?? 0;
    terminal.send("say first @shot.png");
    await terminal.until("attached: shot.png (image)");
    await expect.poll(images).toBe(1);
    await terminal.until(/^first @shot\.png$/m);
    terminal.type("say second");
    terminal.paste(join(box.project, "shot.png"));
    await terminal.until(/› say second @".*shot\.png"/);
    terminal.press("Enter");
    await expect.poll(images).toBe(2);
    await terminal.until(/^second @/m);
    terminal.type("say third ");
    terminal.press("C-v");
    await terminal.until(/› say third @".*pasted-\d+\.png"/s);
    terminal.press("Enter");
    await expect.poll(images).toBe(3);
    writeFileSync(clipboard, "#!/bin/sh\nexit 1\n");
    await terminal.until(/^third @/m);
    terminal.press("C-v");
    await terminal.until("There is no image on the clipboard that can be read here.");
  });

  test("attaches images to a task with --image, and refuses a file that is not an image", async () => {
    const { box, run, model } = await start();
    writeFileSync(join(box.project, "shot.png"), PNG);
    const terminal = run(["--image", "shot.png", "say seen"]);
    await terminal.until("[status 0]");
    expect(model.lastRequest).toContain("data:image/png;base64,iVBORw0");
    const wrong = run(["--image", "nope.png", "say seen"]);
    await wrong.until(/agent: --image nope\.png: there is no such image[\s\S]*\[status 2\]/);
  });

  test("asks about instructions once, sends them to the model, and lists them in /context and agent doctor", async () => {
    const { box, run, model } = await start();
    box.write("AGENTS.md", "Always use tabs.\n");
    box.write("sub/AGENTS.md", "In here use spaces.\n");
    box.write("sub/a.txt", "a\n");
    const terminal = run([]);
    await terminal.until(/instructions for agents: AGENTS\.md \(17 bytes\)[\s\S]*Use them\?/);
    terminal.send("y");
    await terminal.until("/help lists the commands.");
    terminal.send('call read_file {"path":"sub/a.txt"}');
    await terminal.until("That is all.");
    expect(model.lastRequest).toContain("Always use tabs.");
    expect(model.lastRequest).toContain("In here use spaces.");
    terminal.send("/context");
    await terminal.until(
      /Instructions\n {2}\S+project\/AGENTS\.md {2}17 bytes\n {2}\S+sub\/AGENTS\.md {2}20 bytes/,
    );
    const doctor = run(["doctor"]);
    await doctor.until(/✓ instructions: \S+project\/AGENTS\.md \(17 bytes\), used\n/);
    const without = run(["--no-instructions", "say hello"]);
    await without.until("[status 0]");
    expect(model.lastRequest).not.toContain("Always use tabs.");
  });

  test("asks in agent init whether to ask, again if the answer is unclear, and about bash, a longer limit and the sandbox", async () => {
    const { box, run } = await start();
    const terminal = run(["init"]);
    const answers: [question: RegExp, answer: string][] = [
      [/Packs, separated by spaces .*: $/, ""],
      [/run shell commands \(run_bash\)\? \[y\/N\] $/, "perhaps"],
      [/Please answer y or n\.\n.*\(run_bash\)\? \[y\/N\] $/, "y"],
      [/\(remove\)\? \[y\/N\] $/, "n"],
      [/Ask you before each call of run_bash\? \[Y\/n\] $/, ""],
      [/bash instead of \/bin\/sh\? \[y\/N\] $/, "y"],
      [/10 minutes instead of 30 seconds\? \[y\/N\] $/, "y"],
      [/in a sandbox .*\? \[Y\/n\] $/s, ""],
    ];
    for (const [question, answer] of answers) {
      await terminal.until((screen) => question.test(`${screen} `));
      terminal.send(answer);
    }
    await terminal.until("[status 0]");
    const text = readFileSync(join(box.project, "agent.config.ts"), "utf8");
    expect(text).toContain('confirm: ["run_bash"]');
    expect(text).toMatch(/bash: \{ shell: "\S*bash", limits: \{ timeoutMs: 600000 \}, sandbox: "auto" \}/);
    expect(existsSync(join(box.project, ".agent"))).toBe(false);
  });
});

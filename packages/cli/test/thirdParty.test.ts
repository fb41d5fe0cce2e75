import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

/** A pack with an edit, a command and a fetch tool. It uses nothing but the public contract of packs. */
const PACK = `
import { execFile } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const schema = (name, ...names) => () => ({
  type: "function",
  function: {
    name,
    description: "A tool for tests.",
    parameters: {
      type: "object",
      properties: Object.fromEntries(names.map((one) => [one, { type: "string" }])),
      required: names,
    },
  },
});

const changeOf = ({ path, from, to }) => {
  const lines = readFileSync(path, "utf8").split("\\n").slice(0, -1);
  const shown = lines.flatMap((line) => (line === from ? ["-" + line, "+" + to] : [" " + line]));
  const hunks = [{ oldStart: 1, newStart: 1, lines: shown }];
  return { path: realpathSync(path), change: "edited", added: 1, removed: 1, hunks };
};
const swap = {
  name: "swap_line",
  capabilities: ["write"],
  titleFrom: "path",
  getSchema: schema("swap_line", "path", "from", "to"),
  describeCall: ({ path }) => ({ targets: [{ type: "file", path: realpathSync(path), access: "write" }] }),
  previewCall: (args) => ({ changes: [changeOf(args)], shows: ["from", "to"] }),
  execute: async (args, call) => {
    const change = changeOf(args);
    const text = readFileSync(args.path, "utf8");
    writeFileSync(args.path, text.replace(args.from, args.to));
    call.report({ ok: true, view: { type: "diff", files: [change] } });
    return "swapped";
  },
};

const shell = {
  name: "my_shell",
  capabilities: ["execute"],
  titleFrom: "command",
  getSchema: schema("my_shell", "command"),
  describeCall: ({ command }) => ({ targets: [{ type: "command", text: command, open: true }] }),
  execute: ({ command }, call) =>
    new Promise((done) =>
      execFile("/bin/sh", ["-c", command], (error, stdout) => {
        const exitCode = error?.code ?? 0;
        call.report({
          ok: exitCode === 0,
          summary: "exit code " + exitCode,
          view: { type: "output", text: stdout, exitCode },
        });
        done(stdout);
      }),
    ),
};

const fetching = {
  name: "get_page",
  capabilities: ["network"],
  titleFrom: "url",
  getSchema: schema("get_page", "url"),
  describeCall: ({ url }) => ({ targets: [{ type: "url", url }] }),
  execute: async (args, call) => {
    call.report({ ok: true, summary: "1 page", view: { type: "markdown", text: "- the **page**" } });
    return "the page";
  },
};

export const packName = "third-party";
export function register(registry) {
  for (const tool of [swap, shell, fetching]) registry.register(tool);
}
`;

describe.skipIf(!hasTmux)("a third-party pack in the built chat (skipped without tmux)", () => {
  const start = useBuiltChat();

  /** Asks for a call, allows it, and returns what was drawn from its question to its end, without the tool's name. */
  async function allow(
    terminal: TestTerminal,
    name: string,
    args: object,
    question: string,
  ): Promise<string> {
    const count = (): number => terminal.scrollback().split("That is all.").length;
    const before = count();
    terminal.send(`call ${name} ${JSON.stringify(args)}`);
    await terminal.until((screen) => screen.includes(`${question} y yes`));
    terminal.press("y");
    await terminal.until(() => count() > before);
    const drawn = terminal.scrollback();
    return drawn
      .slice(drawn.lastIndexOf(`? ${name}\n`), drawn.lastIndexOf("That is all."))
      .replaceAll(name, "TOOL")
      .replace(/[\d.]+s(?= |\n|$)/g, "TIME")
      .trimEnd();
  }

  test("gets the same questions, diffs, results, titles and undo as the built-in tools", async () => {
    const { box, chat, run } = await start();
    box.write("pack.mjs", PACK);
    box.write("agent.config.json", JSON.stringify({ packs: ["@agent/preset-default", "./pack.mjs"] }));
    box.write("a.txt", "one\ntwo\n");
    const tools = ["edit_file", "swap_line", "run_bash", "my_shell", "get_page"];
    const terminal = await chat([
      "--trust",
      "--enable",
      "run_bash",
      ...tools.flatMap((name) => ["--confirm", name]),
    ]);
    const textOf = (): string => readFileSync(join(box.project, "a.txt"), "utf8");

    const question = "Apply this edit to a.txt?";
    const theirs = await allow(terminal, "swap_line", { path: "a.txt", from: "two", to: "2" }, question);
    expect(textOf()).toBe("one\n2\n");
    terminal.send("/undo");
    await terminal.until("Undid 1 change");
    expect(textOf()).toBe("one\ntwo\n");
    const ours = await allow(
      terminal,
      "edit_file",
      { path: "a.txt", old_text: "two", new_text: "2" },
      question,
    );
    expect(textOf()).toBe("one\n2\n");
    expect(theirs).toBe(ours);
    expect(ours).toBe(
      "? TOOL\n│ path: a.txt\n│ 1  one\n│ 2 -two\n│ 2 +2\n? yes\n└ ✓ +1 −1 · TIME (ctrl+o expands)",
    );

    const command = { command: "echo out; exit 3" };
    const mine = await allow(terminal, "my_shell", command, "Run this command?");
    expect(mine).toBe(await allow(terminal, "run_bash", command, "Run this command?"));
    expect(mine).toContain("│ out\n└ ✗ exit code 3");

    const page = await allow(terminal, "get_page", { url: "https://e.org/x" }, "Fetch https://e.org/x?");
    expect(page).toContain("│ - the **page**\n└ ✓ 1 page");
    terminal.send("/quit");
    await terminal.until("[status 0]");

    // Without the pack, the session is displayed by what was stored with it.
    box.write("agent.config.json", "{}");
    const next = run(["--trust", "--resume"]);
    await next.until("resumed, ");
    const resumed = next.scrollback();
    expect(resumed).toMatch(/● swap_line {2}a\.txt {2}✓ \+1 −1/);
    expect(resumed).toMatch(/● my_shell {2}echo out; exit 3 {2}✗ exit code 3/);
    expect(resumed).toMatch(/● get_page {2}https:\/\/e\.org\/x {2}✓ 1 page/);
  });
});

import type { AgentEvent, ToolEndEvent } from "@agent/core";
import { seededRandom } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { COLOR_STYLE, PLAIN_STYLE } from "../text/style.js";
import { textWidth } from "../text/width.js";
import { Activity } from "./activity.js";

const WIDTH = 60;
const ROWS = 20;

function activity(): Activity {
  return new Activity({ style: PLAIN_STYLE, now: () => 0, expandHint: "ctrl+o expands" });
}

const start = (id: string): AgentEvent => ({
  type: "tool_start",
  id,
  name: "read_file",
  args: {},
  about: { title: `file-${id}`, kind: "other" },
});
const end = (id: string, text = "text"): ToolEndEvent => ({
  type: "tool_end",
  id,
  name: "read_file",
  outcome: "ok",
  text,
  durationMs: 5,
});

describe("Activity", () => {
  test("shows a notice of the provider and the progress of a running call", () => {
    const subject = activity();
    subject.event({ type: "notice", text: "a schema was simplified" });
    expect(subject.frame(WIDTH, ROWS).above.join("\n")).toContain("a schema was simplified");
    subject.event(start("1"));
    subject.event({
      type: "tool_progress",
      id: "1",
      name: "read_file",
      done: 3,
      total: 10,
      message: "files",
    });
    expect(subject.frame(WIDTH, ROWS).rows.join("\n")).toContain("3 of 10 files");
  });

  test("shows a row for each child agent: its name, current call, time and tokens", () => {
    let now = 0;
    const subject = new Activity({ style: PLAIN_STYLE, now: () => now, expandHint: "" });
    const child = (number: number, event: AgentEvent): void =>
      subject.event({ type: "child", id: "1", child: number, label: `explore${number}`, event });
    subject.event(start("1"));
    child(0, {
      type: "tool_requested",
      id: "x",
      name: "search_text",
      args: {},
      title: "TODO",
      kind: "search",
    });
    child(0, {
      type: "usage",
      usage: { inputTokens: 1, outputTokens: 1 },
      total: { inputTokens: 3000, outputTokens: 100 },
    });
    child(1, { type: "text", text: "hm" });
    child(2, { type: "notice", text: "waits for another agent" });
    now = 2000;
    const rows = subject.frame(WIDTH, ROWS).rows.join("\n");
    expect(rows).toContain("explore0  search_text TODO · 2.0s · 3.1k tokens");
    expect(rows).toContain("explore1  thinking · 2.0s");
    expect(rows).toContain("explore2  waits for another agent · 2.0s");
    const many = Array.from({ length: 30 }, (_, number) => number + 2);
    for (const number of many) child(number, { type: "text", text: "x" });
    expect(subject.frame(WIDTH, ROWS).rows.length).toBeLessThanOrEqual(ROWS);
    expect(subject.frame(WIDTH, ROWS).rows.join("\n")).toMatch(/and \d+ more agents/);
  });

  test("draws the calls of a script inside its call, with their changes, and all of them when expanded", () => {
    const subject = activity();
    const script = { id: "s", name: "run_script", about: { title: "const a = 1", kind: "execute" as const } };
    subject.event({ type: "tool_requested", id: "s", name: "run_script", args: {}, title: "const a = 1" });
    subject.event({ ...script, type: "tool_start", args: {} });
    const about = (title: string) => ({ title, kind: "read" as const });
    for (let n = 0; n < 40; n++) {
      const read = { id: `s/t${n}`, name: "read_file", parent: "s" };
      subject.event({ ...read, type: "tool_requested", args: {}, title: `r${n}.ts` });
      subject.event({ ...read, type: "tool_start", args: {}, about: about(`r${n}.ts`) });
      const view = { type: "code" as const, text: "secret text" };
      subject.event({
        ...{ ...read, type: "tool_end", outcome: "ok", text: "x", durationMs: 5, summary: "12 lines", view },
      });
    }
    const write = { id: "s/w", name: "write_file", parent: "s" };
    subject.event({ ...write, type: "tool_requested", args: {}, title: "sum.txt" });
    subject.event({ ...write, type: "tool_start", args: {} });
    const running = subject.frame(WIDTH, ROWS);
    expect(running.above).toEqual([""]);
    expect(running.rows.length).toBeLessThanOrEqual(ROWS);
    expect(running.rows.join("\n")).toMatch(
      /run_script {2}const a = 1\n.*✓ read_file {2}r38\.ts[\s\S]*write_file {2}sum\.txt · /,
    );
    const hunks = [{ oldStart: 1, newStart: 1, lines: ["+the sum"] }];
    subject.event({
      ...{ ...write, type: "tool_end", outcome: "ok", text: "x", durationMs: 5 },
      view: { type: "diff", files: [{ path: "sum.txt", change: "created", added: 1, removed: 0, hunks }] },
    });
    const failed = { id: "s/f", name: "run_bash", parent: "s" };
    subject.event({ ...failed, type: "tool_requested", args: {}, title: "npm test" });
    subject.event({ ...failed, type: "tool_end", outcome: "denied", text: "no", durationMs: 5 });
    expect(subject.frame(WIDTH, ROWS).above).toEqual([]);
    subject.event({
      ...{ ...script, type: "tool_end", outcome: "ok", text: "3", durationMs: 9, summary: "42 calls" },
      view: { type: "output", text: "3" },
    });
    const { above, rows } = subject.frame(WIDTH, ROWS);
    expect(rows).toEqual([]);
    expect(above.filter((row) => row.startsWith("●"))).toEqual(["● run_script  const a = 1"]);
    const shown = above.join("\n");
    expect(shown).toMatch(/│ ● write_file {2}sum\.txt\n│ │ .*the sum\n│ └ ✓ /);
    expect(shown).toMatch(/│ ● run_bash {2}npm test\n│ │ no\n│ └ ✗ denied/);
    expect(shown).toContain("│ … +40 calls (ctrl+o expands)");
    expect(shown).not.toContain("read_file");
    expect(above.at(-1)).toBe("└ ✓ 42 calls · 0.0s");
    expect(subject.expand()).toBe(true);
    const whole = subject.frame(WIDTH, ROWS).above.join("\n");
    expect(whole).toContain("│ ● read_file  r0.ts (12 lines)\n│ ● read_file  r1.ts (12 lines)\n");
    expect(whole).toContain("the sum");
    expect(whole).not.toContain("secret text");
  });

  test("shows arguments of several lines when expanded, unless the diff shows them", () => {
    const view = { type: "diff", files: [] } as const;
    const expanded = (name: string, args: Record<string, unknown>, more: Partial<ToolEndEvent> = {}) => {
      const subject = activity();
      subject.event({ type: "tool_start", id: "1", name, args, about: { title: "count", kind: "execute" } });
      subject.event({ ...end("1", "3"), name, ...more });
      subject.frame(WIDTH, ROWS);
      return subject.expand() ? subject.frame(WIDTH, ROWS).above.join("\n") : "";
    };
    expect(expanded("run_script", { script: "// count\nreturn 3;\x1b[2J\n", note: "short" })).toContain(
      "● run_script  count\n│ script:\n│   // count\n│   return 3;\\x1b[2J\n│ 3\n└ ✓",
    );
    expect(expanded("write_file", { content: "a\nb\n" }, { view })).toBe("");
    expect(expanded("run_bash", { command: "true" })).toBe("");
  });

  test("names what a child agent changed below its call, and what it read when expanded", () => {
    const subject = activity();
    const run = { id: "1", name: "agent_run", about: { title: "worker: fix it", kind: "other" as const } };
    subject.event({ ...run, type: "tool_start", args: {} });
    const child = (event: AgentEvent): void =>
      subject.event({ type: "child", id: "1", child: 0, label: "worker", event });
    const finish = (name: string, title: string, kind: "read" | "edit", more: Partial<ToolEndEvent> = {}) =>
      child({
        ...{ type: "tool_end", id: title, name, outcome: "ok", text: "x", durationMs: 5 },
        about: { title, kind },
        ...more,
      });
    finish("read_file", "a.ts", "read", { summary: "12 lines" });
    const hunks = [{ oldStart: 1, newStart: 1, lines: ["-old", "+new"] }];
    finish("edit_file", "a.ts", "edit", {
      view: { type: "diff", files: [{ path: "a.ts", change: "edited", added: 1, removed: 1, hunks }] },
    });
    // A call that was refused has no description at its end.
    child({ type: "tool_requested", id: "r", name: "write_file", args: {}, title: "b.ts", kind: "edit" });
    child({ type: "tool_end", id: "r", name: "write_file", outcome: "denied", text: "no", durationMs: 5 });
    subject.event({
      ...{ ...run, type: "tool_end", outcome: "ok", text: "Fixed.", durationMs: 9, summary: "3 calls" },
      view: { type: "markdown", text: "Fixed." },
    });
    const shown = subject.frame(WIDTH, ROWS).above.join("\n");
    expect(shown).toMatch(
      /● agent_run {2}worker: fix it\n│ ● edit_file {2}a\.ts ✓ \+1 −1.*\n│ ● write_file {2}b\.ts ✗ denied.*\n│ … \+1 call \(ctrl\+o expands\)\n│ Fixed\.\n└ ✓ 3 calls/,
    );
    subject.expand();
    const whole = subject.frame(WIDTH, ROWS).above.join("\n");
    expect(whole).toMatch(/read_file {2}a\.ts \(12 lines\)\n│ ● edit_file[\s\S]*old[\s\S]*new/);
  });

  test("keeps emoji made of several whole, also while they arrive, and spells out other invisible characters", () => {
    const subject = activity();
    const family = "👩\u200d💻 ❤\ufe0f\u200d🔥 👍🏽\u200d👎 a\u200db";
    const shown: string[] = [];
    for (const unit of family.split("")) {
      subject.event({ type: "text", text: unit });
      shown.push(subject.frame(WIDTH, ROWS).rows.join("\n"));
    }
    expect(shown.at(-1)).toBe("👩\u200d💻 ❤\ufe0f\u200d🔥 👍🏽\u200d👎 a\\u200db");
    expect(shown.filter((text) => !text.isWellFormed())).toEqual([]);
    expect(shown.slice(0, -1).join()).not.toContain("\\u200d");
    subject.end();
    expect(subject.frame(WIDTH, ROWS).above).toContain("👩\u200d💻 ❤\ufe0f\u200d🔥 👍🏽\u200d👎 a\\u200db");
  });

  test("keeps nothing of ten thousand events but what can be expanded", () => {
    const subject = activity();
    const output = "line\n".repeat(2_000);
    let printed = 0;
    for (let index = 0; index < 10_000; index++) {
      const id = String(index % 7);
      subject.event({ type: "text", text: `some **words** ${index}\n` });
      if (index % 10 === 0) subject.event(start(id));
      if (index % 10 === 1) subject.event({ type: "tool_output", id, name: "read_file", chunk: output });
      if (index % 10 === 2) subject.event(end(String((index - 2) % 7), output));
      if (index % 50 === 0) printed += subject.frame(WIDTH, ROWS).above.length;
    }
    for (let id = 0; id < 7; id++) subject.event(end(String(id)));
    subject.end();
    printed += subject.frame(WIDTH, ROWS).above.length;
    expect(printed).toBeGreaterThan(10_000);
    expect(subject.frame(WIDTH, ROWS)).toMatchObject({ above: [], rows: [] });
    let expandable = 0;
    while (subject.expand()) expandable++;
    expect(expandable).toBeLessThanOrEqual(50);
  });

  test("separates lines that come while a call runs from it, and keeps it in its place when it ends", () => {
    const subject = activity();
    subject.event({ ...start("1"), name: "run_bash" } as AgentEvent);
    expect(subject.frame(WIDTH, ROWS)).toMatchObject({
      above: [""],
      rows: ["● run_bash  file-1", "│ executing… 0.0s"],
    });
    subject.print(["? a question"]);
    const asked = subject.frame(WIDTH, ROWS);
    expect([...asked.above, ...asked.rows].slice(0, 3)).toEqual(["? a question", "", "● run_bash  file-1"]);
    subject.event({ ...end("1"), name: "run_bash" });
    expect(subject.frame(WIDTH, ROWS).above.slice(0, 2)).toEqual(["", "● run_bash  file-1"]);
  });

  test("shows the calls after an open question about a call in one row", () => {
    const subject = activity();
    const request = (id: string): AgentEvent =>
      ({ ...start(id), type: "tool_requested", name: "run_bash" }) as AgentEvent;
    for (const id of ["1", "2", "3"]) subject.event(request(id));
    expect(subject.frame(WIDTH, ROWS).rows).toHaveLength(3);
    subject.ask("1", ["? a question"]);
    expect(subject.frame(WIDTH, ROWS).rows).toEqual(["", "… 2 more calls waiting"]);
    subject.answered("? yes");
    // The first one is drawn below its question, without its name and title.
    expect(subject.frame(WIDTH, ROWS)).toMatchObject({ above: ["? yes"] });
    expect(subject.frame(WIDTH, ROWS).rows).toHaveLength(3);
  });

  test("breaks an answer between words, while it streams as at the end, and keeps code as it was written", () => {
    const subject = activity();
    const code = "x = [1, 2, 3, 4, 5]";
    subject.event({ type: "text", text: `- one two three\n\`\`\`\n${code}\n\`\`\`\nfour five` });
    expect(subject.frame(10, ROWS)).toMatchObject({
      above: ["", "- one two", "  three", "```", code, "```"],
      rows: ["four five"],
    });
    subject.event({ type: "text", text: " six" });
    expect(subject.frame(10, ROWS)).toMatchObject({ above: ["four five"], rows: ["six"] });
    subject.end();
    expect(subject.frame(10, ROWS).above).toEqual(["six"]);
  });

  test("does not repeat what was shown when the terminal changed its size, and loses nothing", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 200; round++) {
      const subject = activity();
      const words = Array.from({ length: 60 }, (_, at) => `w${at}`);
      let width = 20;
      let shown: readonly string[] = [];
      const seen: string[] = [];
      for (const word of words) {
        subject.event({ type: "text", text: word + random.pick([" ", " ", " ", "\n", "\n- ", "\n```\n"]) });
        if (random.chance(0.5)) {
          const { above, rows } = subject.frame(width, ROWS);
          seen.push(...above);
          shown = rows;
        }
        if (random.chance(0.3)) {
          width = 10 + random.below(40);
          subject.keepShown();
          seen.push(shown.join(""));
          shown = [];
        }
      }
      subject.end();
      seen.push(...subject.frame(width, ROWS).above);
      expect(seen.join("\n").match(/w\d+/g)).toEqual(words);
    }
  });

  test("breaks messages of the chat between words, below their own indentation", () => {
    const subject = activity();
    subject.print(["one two three", "  four five six"]);
    expect(subject.frame(11, ROWS).above).toEqual(["", "one two", "three", "  four five", "  six"]);
  });

  test("shows a waiting call in one row, and a finished read once, however few rows there are", () => {
    const subject = activity();
    const command = "npm run a-very-long-command-name ".repeat(5);
    const about = { title: command, kind: "execute" as const };
    subject.event({ ...start("1"), name: "run_bash", about } as AgentEvent);
    const read = { id: "2", name: "read_file", about: { title: "a.ts", kind: "read" as const } };
    subject.event({ ...read, type: "tool_requested", args: {}, title: "a.ts" });
    subject.event({ ...read, type: "tool_start", args: {} });
    const view = { type: "code" as const, text: "x" };
    subject.event({
      ...read,
      type: "tool_end",
      outcome: "ok",
      text: "x",
      durationMs: 5,
      summary: "1 line",
      view,
    });
    subject.event({ type: "tool_requested", id: "3", name: "run_bash", args: {}, title: command });
    for (const rows of [20, 5, 4]) {
      const shown = subject.frame(40, rows).rows.filter((row) => row !== "");
      expect(shown.filter((row) => row.includes("a.ts"))).toEqual(["● read_file  a.ts (1 line)"]);
      expect(shown.filter((row) => row.endsWith("(waiting)"))).toHaveLength(1);
      for (const row of shown) expect(textWidth(row)).toBeLessThanOrEqual(40);
    }
  });

  test("wraps lines of the chat below their text, also after a mark", () => {
    const subject = new Activity({ style: COLOR_STYLE, now: () => 0 });
    const { cyan, bold } = COLOR_STYLE;
    const words = "word ".repeat(9).trim();
    subject.print([`${cyan("●")} ${bold("run")}  ${words}`, cyan(bold(`› ${words}`)), `  ${words}`, words]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the style codes are taken away
    const rows = subject.frame(30, ROWS).above.map((row) => row.replace(/\x1b\[[0-9;]*m/g, ""));
    expect(
      rows
        .filter((_, at) => at % 2 === 0)
        .slice(1)
        .map((row) => /^ */.exec(row)?.[0].length),
    ).toEqual([2, 2, 2, 0]);
  });

  test("counts more calls than the screen can show", () => {
    const subject = activity();
    for (let id = 0; id < 40; id++) subject.event(start(String(id)));
    const { rows } = subject.frame(WIDTH, ROWS);
    expect(rows).toHaveLength(19);
    expect(rows.at(-1)).toBe("… and 31 more calls (/status lists them)");
  });

  test("shows a call as executing from tool_start on, as waiting before that, and not twice while a question shows it", () => {
    const subject = activity();
    const asked: AgentEvent = { type: "tool_requested", id: "1", name: "read_file", args: {}, title: "a" };
    subject.event(asked);
    expect(subject.frame(WIDTH, ROWS).rows).toEqual(["● read_file  a (waiting)"]);
    subject.ask("1", ["? a question"]);
    expect(subject.frame(WIDTH, ROWS).rows).toEqual([]);
    subject.answered("? yes");
    subject.event(start("1"));
    expect(subject.frame(WIDTH, ROWS).rows).toEqual(["│ executing… 0.0s"]);
    subject.event(end("1"));
    expect(subject.frame(WIDTH, ROWS).above).toEqual(["│ text", "└ ✓ 0.0s"]);
  });

  test("shows the name and title of a call that ends below something other than its question", () => {
    const subject = activity();
    subject.event(start("1"));
    subject.ask("1", ["? a question"]);
    subject.answered("? yes");
    subject.note("something else");
    subject.event(end("1"));
    expect(subject.frame(WIDTH, ROWS).above.slice(-3)).toEqual(["● read_file  file-1", "│ text", "└ ✓ 0.0s"]);
  });

  test("only counts a change that the question has shown, and shows another one", () => {
    const file = (line: string) => ({
      path: "/a",
      change: "edited" as const,
      added: 1,
      removed: 0,
      hunks: [{ oldStart: 1, newStart: 1, lines: [line] }],
    });
    const drawn = (line: string): readonly string[] => {
      const subject = activity();
      subject.event(start("1"));
      subject.ask("1", ["? a question"], [file("+a")]);
      subject.answered("? yes");
      subject.frame(WIDTH, ROWS);
      subject.event({ ...end("1"), view: { type: "diff", files: [file(line)] } });
      return subject.frame(WIDTH, ROWS).above;
    };
    expect(drawn("+a")).toEqual(["└ ✓ +1 · 0.0s (ctrl+o expands)"]);
    expect(drawn("+b")).toEqual(["│ 1 +b", "└ ✓ +1 · 0.0s"]);
  });

  test("names a call while it is written, by the arguments that name it", () => {
    const subject = activity();
    const draft = { type: "tool_draft" as const, index: 0, name: "save" };
    subject.event({ ...draft, delta: '{"text":"x","to":"a', titleFrom: ["to"] });
    expect(subject.doing).toBe("writing save a");
    subject.event({ ...draft, delta: '.t\\nxt"' });
    expect(subject.doing).toBe("writing save a.t xt");
  });

  test("moves an answer longer than the screen to the scrollback line by line, each once", () => {
    const subject = activity();
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const above: string[] = [];
    for (const line of lines) {
      subject.event({ type: "text", text: `${line}\n` });
      const frame = subject.frame(WIDTH, ROWS);
      expect(frame.rows.length).toBeLessThanOrEqual(ROWS);
      above.push(...frame.above);
    }
    subject.end();
    above.push(...subject.frame(WIDTH, ROWS).above);
    expect(above).toEqual(["", ...lines]);
  });

  test("moves to the scrollback row by row a line that never ends", () => {
    const subject = activity();
    subject.event({ type: "text", text: "x".repeat(1_000_000) });
    const { above, rows } = subject.frame(WIDTH, ROWS);
    expect(rows).toHaveLength(1);
    expect([...above, ...rows].join("")).toHaveLength(1_000_000);
  });

  test("discards on a retry what can still be reverted, and reports when it cannot", () => {
    const subject = activity();
    subject.event({ type: "text", text: "wrong" });
    subject.event({ type: "retry", attempt: 1, delayMs: 0, reason: "cut off" });
    expect(subject.frame(WIDTH, ROWS)).toMatchObject({
      above: ["", "↻ Cut off. Retrying…"],
      rows: [],
    });
    subject.event({ type: "text", text: "line\n".repeat(50) });
    subject.frame(WIDTH, ROWS);
    subject.event({ type: "retry", attempt: 2, delayMs: 0, reason: "cut off" });
    expect(subject.frame(WIDTH, ROWS)).toMatchObject({
      above: ["↻ Cut off. Retrying; ignore the partial answer above."],
      rows: [],
    });
  });

  test("reports the same failure once, and later attempts in the row of the work", () => {
    const subject = activity();
    for (const attempt of [1, 2, 3]) {
      subject.event({ type: "retry", attempt, delayMs: 2000, reason: "503 overloaded." });
    }
    expect(subject.frame(WIDTH, ROWS).above).toEqual(["↻ Server error (503): overloaded. Retrying…"]);
    expect(subject.doing).toBe("attempt 4 in 2s (Server error (503): overloaded)");
    // One clock: the countdown.
    expect(subject.showsTime).toBe(true);
    subject.event({ type: "retry", attempt: 4, delayMs: 0, reason: "the connection was lost" });
    expect(subject.frame(WIDTH, ROWS).above).toEqual(["↻ The connection was lost. Retrying…"]);
    expect(subject.showsTime).toBe(false);
  });

  test.each([
    ["ok", []],
    ["error", ["│ text", "└ ✗ failed · 0.0s"]],
  ] as const)(
    "draws the question of a call in place of the call, which adds nothing but a failure (%s)",
    (outcome, rest) => {
      const subject = activity();
      // A tool asks as soon as it runs, and the event comes later.
      subject.event({ type: "tool_requested", id: "1", name: "read_file", args: {} });
      subject.question("file-1\n", ["? The model asks:", "│ file-1"]);
      subject.event(start("1"));
      const asked = subject.frame(WIDTH, ROWS);
      expect([...asked.above, ...asked.rows]).toEqual(["", "? The model asks:", "│ file-1"]);
      subject.answered("? yes");
      subject.event({ ...end("1"), outcome });
      const { above, rows } = subject.frame(WIDTH, ROWS);
      expect([...above, ...rows]).toEqual(["? yes", ...rest]);
    },
  );

  test("draws a long question once, and the next call below a blank row", () => {
    const subject = activity();
    const text = "a long plan ".repeat(40).trim();
    subject.event({ ...start("1"), about: { title: `${text.slice(0, 399)}…`, kind: "other" } } as AgentEvent);
    subject.question(text, ["? The model asks:", "│ a long plan"]);
    subject.answered("? yes");
    subject.event(end("1"));
    subject.event(start("2"));
    subject.event(end("2"));
    const { above } = subject.frame(WIDTH, ROWS);
    expect(above).toEqual([
      ...["", "? The model asks:", "│ a long plan", "? yes"],
      ...["", "● read_file  file-2", "│ text", "└ ✓ 0.0s"],
    ]);
  });

  test.each([
    ["begins with the title", "file-1 or file-2?", "other"],
    ["is the title of a command", "file-1", "execute"],
  ] as const)("shows a call while and after a question is asked that %s", (_, text, kind) => {
    const subject = activity();
    subject.event({ ...start("1"), about: { title: "file-1", kind } } as AgentEvent);
    subject.question(text, ["? The model asks:"]);
    expect(subject.frame(WIDTH, ROWS).rows.join("\n")).toContain("● read_file  file-1");
    subject.answered("? yes");
    subject.event(end("1"));
    expect(subject.frame(WIDTH, ROWS).above.join("\n")).toContain("● read_file  file-1");
  });

  test("keeps an escape split over two deltas visible", () => {
    const subject = activity();
    subject.event({ type: "text", text: "a\x1b" });
    subject.event({ type: "text", text: "[2Jb\r\nc\r" });
    subject.event({ type: "text", text: "d" });
    subject.end();
    expect(subject.frame(WIDTH, ROWS).above).toEqual(["", "a\\x1b[2Jb", "c\\rd"]);
  });

  test("puts lines of the chat between lines of an answer, not into one, and continues its code block", () => {
    const subject = new Activity({ style: COLOR_STYLE, now: () => 0 });
    subject.event({ type: "text", text: "```\nlet a" });
    subject.frame(WIDTH, ROWS);
    subject.print(["status"]);
    subject.event({ type: "text", text: " = 1;\n" });
    const { above, rows } = subject.frame(WIDTH, ROWS);
    expect(above).toEqual(["", "status", "", COLOR_STYLE.cyan("let a = 1;")]);
    expect(rows).toEqual([]);
  });

  test("calls that print much still fit when there are many", () => {
    const subject = activity();
    for (const id of ["1", "2", "3", "4", "5", "6", "7", "8", "9"]) {
      subject.event(start(id));
      subject.event({ type: "tool_output", id, name: "read_file", chunk: "line\n".repeat(50) });
    }
    expect(subject.frame(WIDTH, ROWS).rows).toHaveLength(18);
  });
});

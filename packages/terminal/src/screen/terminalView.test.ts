import type { AgentEvent, ApprovalRequest } from "@agent/core";
import { expect, test } from "vitest";
import { questionQueue } from "../chat/queues.js";
import { COLOR_STYLE, PLAIN_STYLE } from "../text/style.js";
import type { Status } from "./statusRow.js";
import { TerminalView } from "./terminalView.js";

const screen = { columns: 80, rows: 24, write: () => undefined, refreshSize: () => undefined };

test("asks one question after the other, also after one that fails", async () => {
  const inTurn = questionQueue();
  const view = new TerminalView(screen, PLAIN_STYLE);
  const answers = ["first", "second"].map((value) =>
    inTurn(() => view.pick("Which?", [{ value, label: value }])),
  );
  const failed = inTurn(() => Promise.reject(new Error("no")));
  for (const value of ["first", "second"]) {
    await expect.poll(() => view.menu?.items[0]?.value).toBe(value);
    view.picker?.choose(value);
  }
  await expect(failed).rejects.toThrow("no");
  expect(await Promise.all([...answers, inTurn(async () => "third")])).toEqual(["first", "second", "third"]);
  view.close();
});

test("answers a list that another one replaces with nothing", async () => {
  const view = new TerminalView(screen, PLAIN_STYLE);
  const first = view.pick("One", [{ value: "a", label: "a" }]);
  const second = view.pick("Two", [{ value: "b", label: "b" }]);
  expect(await first).toBeUndefined();
  view.picker?.choose("b");
  expect(await second).toBe("b");
  view.close();
});

test("keeps the keys of a list visible in a narrow window", async () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, columns: 40, write }, PLAIN_STYLE);
  const chosen = view.pick("Go back to before which message", [{ value: "a", label: "a" }]);
  view.redraw();
  expect(written).toContain("Go back to before which message\x1b[K\r\nenter select · esc cancel\x1b");
  view.picker?.choose("a");
  await chosen;
  view.close();
});

test("says in a narrow window that another answer can be typed", async () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, columns: 40, write }, PLAIN_STYLE);
  const chosen = view.pick("Your answer", [{ value: "a", label: "a" }], { takesText: true });
  view.redraw();
  expect(written).toContain(
    "Your answer\x1b[K\r\ntype another answer · enter select ·\x1b[K\r\nesc cancel\x1b",
  );
  view.picker?.choose("a");
  await chosen;
  view.close();
});

test("shows the whole help about the keys in a narrow window", () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, columns: 40, rows: 50, write }, PLAIN_STYLE);
  view.showKeys();
  view.redraw();
  expect(written).toContain("  Up, Down  recall earlier input;\x1b[K\r\n    Ctrl+R searches it\x1b");
  expect(written).not.toContain("…");
  view.close();
});

test("answers a question about a call that is stopped", async () => {
  const view = new TerminalView(screen, PLAIN_STYLE);
  const stopped = new AbortController();
  const request = {
    id: "1",
    name: "run",
    args: {},
    capabilities: [],
    description: { title: "run", needs: [] },
    signal: stopped.signal,
  } as unknown as ApprovalRequest;
  const answer = view.ask(request, []);
  stopped.abort();
  expect(await answer).toEqual({ deny: "the call was stopped." });
  expect(view.dialog).toBeUndefined();
  view.close();
});

test("shows one timer while a call runs, and the question as the most visible row", async () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, write }, COLOR_STYLE);
  const drawn = (): string => {
    written = "";
    view.redraw();
    return written;
  };
  view.turnStarted();
  expect(drawn()).toMatch(/thinking… \d+\.\ds · esc stops/);
  view.event({ type: "tool_start", id: "1", name: "run", args: {}, about: { title: "x", kind: "execute" } });
  const running = drawn();
  expect(running).toMatch(/executing… \d+\.\ds/);
  expect(running).toContain("working… · esc stops");
  const chosen = view.pick("Carry out this plan?", [{ value: "yes", label: "yes" }]);
  expect(drawn()).toContain(
    COLOR_STYLE.yellow(COLOR_STYLE.inverse(COLOR_STYLE.bold("Carry out this plan?"))),
  );
  view.picker?.choose("yes");
  await chosen;
  view.close();
});

test("draws nothing while another program has the terminal, and all of it afterwards", () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, write }, PLAIN_STYLE);
  view.turnStarted();
  view.draw();
  view.leave();
  written = "";
  view.event({ type: "text", text: "meanwhile\n" });
  view.draw();
  expect(written).toBe("");
  view.resume();
  expect(written).toContain("meanwhile");
  view.close();
});

test("shows the list of a picker again after a question about a call", async () => {
  const view = new TerminalView(screen, PLAIN_STYLE);
  const chosen = view.pick("Which model", [{ value: "a", label: "a" }]);
  const request = {
    ...{ id: "1", name: "run", args: {}, capabilities: [], signal: new AbortController().signal },
    description: { title: "run", needs: [] },
  } as unknown as ApprovalRequest;
  const answer = view.ask(request, []);
  view.answerQuestion("allow");
  expect(await answer).toBe("allow");
  expect(view.menu?.selected?.value).toBe("a");
  view.picker?.choose("a");
  expect(await chosen).toBe("a");
  view.close();
});

test("names the keys of the config in the help, the status row and where a result is cut", () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const view = new TerminalView({ ...screen, columns: 100, write }, PLAIN_STYLE);
  view.bindings = {
    "ctrl-t": "expand",
    "ctrl-o": "none",
    f2: "next-mode",
    "shift-tab": "none",
    "ctrl-g": "none",
  };
  const keys = view.keys.map(([key]) => key);
  expect(keys).toContain("Ctrl+T");
  expect(keys).toContain("F2");
  expect(keys).not.toContain("Ctrl+O");
  expect(keys).not.toContain("Shift+Tab");
  expect(view.keys).toContainEqual(["Ctrl+_", "undo an edit of the line"]);
  view.status({ mode: "ask", model: "m", directory: "/p", tokens: 0, jobs: 0 } as unknown as Status);
  const call = { id: "1", name: "run", parent: undefined };
  view.event({ type: "tool_requested", ...call, args: {}, title: "", kind: "run" } as unknown as AgentEvent);
  view.event({ type: "tool_start", ...call, args: {} } as unknown as AgentEvent);
  const text = Array.from({ length: 60 }, (_, line) => `line ${line}`).join("\n");
  const end = { type: "tool_end", ...call, outcome: "ok", text, durationMs: 1 };
  view.event(end as unknown as AgentEvent);
  view.redraw();
  expect(written).toContain("(ctrl+t expands)");
  expect(written).toContain("(f2)");
  expect(written).not.toMatch(/ctrl\+o|shift\+tab/);
  view.close();
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClientCapabilities, methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { project, started } from "./editor.js";

const { session } = methods.agent;
const KEYS = [
  "path",
  "content",
  "old_text",
  "new_text",
  "command",
  "query",
  "paths",
  "timeout",
  "pattern",
  "edits",
];
const TOOLS = ["read_file", "write_file", "edit_file", "run_bash", "search_text", "move", "nope", ""];
const HOSTILE = [
  "",
  "\u0000\u001b[2J",
  "x".repeat(3000),
  "\ud800",
  "```",
  "/",
  "..",
  "日本語",
  '"\\',
  "a.txt",
  "/dev/zero",
];

/** A seeded random number generator: the same numbers in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

const everything: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
  session: { notices: {}, compaction: {} },
};
const displayed: ClientCapabilities = { _meta: { terminal_output: true }, fs: { readTextFile: true } };

// Each editor checks every message against the published schema, while the model sends random calls.
test.each([
  ["without any ability", {}, 1],
  ["with every ability", everything, 2],
  ["that draws terminals", displayed, 3],
] as const)(
  "sends only valid messages to an editor %s, whatever the model does",
  async (_name, capabilities, seed) => {
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
    const cwd = project();
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    const value = (): unknown =>
      pick<unknown>([
        pick(HOSTILE),
        join(cwd, "a.txt"),
        "echo hi; exit 3",
        random(100),
        null,
        [],
        {},
        true,
        ["a.txt", 1],
      ]);
    const text = (): string => pick(HOSTILE);
    const path = (): string => join(cwd, pick(["a.txt", "a.txt", "new/b.txt", "日本語.txt", text()]));
    const wrong = () => ({
      name: pick(TOOLS),
      args: Object.fromEntries(KEYS.filter(() => random(3) === 0).map((key) => [key, value()])),
    });
    const right = () =>
      pick([
        { name: "read_file", args: { path: path(), offset: 1 + random(9) } },
        { name: "read_file", args: { path: path() } },
        { name: "write_file", args: { path: path(), content: `${text()}one${text()}` } },
        { name: "edit_file", args: { path: path(), old_text: "one", new_text: text() } },
        {
          name: "edit_file",
          args: { path: join(cwd, "a.txt"), edits: [{ old_text: "one", new_text: `${text()}one` }] },
        },
        { name: "run_bash", args: { command: `printf '%s\\n' ${random(9)} '${text()}'; exit ${random(3)}` } },
        { name: "run_bash", args: { command: "printf '\\033[31m\\377\\r' >&2; kill -9 $$" } },
        { name: "search_text", args: { query: text() || "one", paths: [cwd] } },
        { name: "list_dir", args: { path: cwd } },
        { name: "move", args: { source: path(), destination: path() } },
      ]);
    const call = () => (random(4) === 0 ? wrong() : right());
    const answers = Array.from({ length: 60 }, (_, n) =>
      n % 3 === 2 ? pick(HOSTILE) || "ok" : { calls: Array.from({ length: 1 + random(3) }, call) },
    );
    const permission = () => pick(["allow", "allow", "allow", "always", "reject", "nonsense", undefined]);
    const editor = await started({ answers, permission, capabilities, confined: true }, cwd);
    const { sessionId } = editor;
    for (let n = 0; n < 20; n++) {
      const configId = pick(["mode", "model", "none"]);
      await editor.agent
        .request(session.setConfigOption, {
          sessionId,
          configId,
          value: pick(["ask", "read-only", "large", ""]),
        })
        .catch(() => undefined);
      await editor.agent.request(session.setMode, {
        sessionId,
        modeId: pick(["read-only", "ask", "ask", "auto"]),
      });
      const answered = editor.prompt(pick(HOSTILE) || "Go.").catch(() => undefined);
      if (random(5) === 0) await editor.agent.notify(session.cancel, { sessionId });
      await answered;
    }
    expect(editor.sent.length).toBeGreaterThan(100);
    // The run covered everything: calls that were asked about, ran, failed, and changed files.
    const seen = JSON.stringify(editor.updates);
    for (const part of ["completed", "failed", "in_progress", "diff"]) expect(seen).toContain(`"${part}"`);
    expect(editor.permissions.length).toBeGreaterThan(0);
    if ("terminal" in capabilities) expect(editor.terminals.all.length).toBeGreaterThan(0);
  },
);

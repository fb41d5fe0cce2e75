import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type CallDescription,
  type ExecutableTool,
  type PackHost,
  type ToolCapability,
  type ToolPack,
} from "@agent/core";
import { scriptedProvider } from "@agent/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HookSettings, HooksOptions } from "../src/index.js";
import * as pack from "../src/index.js";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-hooks-")));
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const seen = (): Record<string, unknown> => JSON.parse(readFileSync(join(folder, "event.json"), "utf8"));
const SAVE = () => `cat > ${folder}/event.json`;

function hook(event: string, command: string, matcher?: string): HookSettings {
  return { [event]: [{ ...(matcher !== undefined && { matcher }), hooks: [{ type: "command", command }] }] };
}

/** A tool that notes its arguments. */
function noted(
  name: string,
  calls: unknown[],
  { capability = "read", targets }: Pick<ChatSettings, "capability" | "targets">,
): ExecutableTool {
  return {
    name,
    capabilities: [capability],
    ...(targets && { describeCall: () => ({ targets }) as CallDescription }),
    getSchema: () => ({
      type: "function",
      function: { name, description: "d", parameters: { type: "object", properties: {} } },
    }),
    execute: async (args) => {
      calls.push(args);
      return "it ran";
    },
  };
}

/** An agent with the hooks and one tool; the model calls the tool once and answers "done". */
async function chat(
  options: HooksOptions,
  { name = "write_file", args = {}, host = {}, message = "do it", ...described }: ChatSettings = {},
) {
  const calls: unknown[] = [];
  const results: string[] = [];
  const hosted: ToolPack = {
    ...(pack as unknown as ToolPack),
    register: (registry, given) =>
      pack.register(registry as never, { ...given, ...host, options } as unknown as PackHost<HooksOptions>),
  };
  const tool: ToolPack = { register: (registry) => registry.register(noted(name, calls, described)) };
  const agent = new Agent(scriptedProvider([{ calls: [{ name, args }] }, "done"]), { tools: [tool, hosted] });
  let text = "";
  try {
    for await (const event of agent.streamChat(message)) {
      if (event.type === "tool_end") results.push(event.text);
      if (event.type === "done") text = event.text;
    }
  } finally {
    await agent.dispose();
  }
  return { calls, results, text };
}

interface ChatSettings {
  readonly capability?: ToolCapability;
  readonly targets?: readonly object[];
  readonly name?: string;
  readonly args?: Record<string, unknown>;
  readonly host?: Partial<PackHost>;
  readonly message?: string;
}

describe("PreToolUse", () => {
  test("passes the event in Claude Code's names, and runs for its names of our tools only", async () => {
    const args = { path: "a.txt", content: "ü" };
    const { calls } = await chat({ hooks: hook("PreToolUse", SAVE(), "Edit|Write") }, { args });
    expect(calls).toEqual([args]);
    expect(seen()).toMatchObject({
      hook_event_name: "PreToolUse",
      cwd: folder,
      tool_name: "Write",
      agent_tool_name: "write_file",
      tool_input: { path: "a.txt", file_path: join(folder, "a.txt"), content: "ü" },
    });
    rmSync(join(folder, "event.json"));
    await chat({ hooks: hook("PreToolUse", SAVE(), "Edit|Write") }, { name: "read_file" });
    expect(seen).toThrow();
    const moved = { source: "a.txt", destination: "b.txt" };
    await chat({ hooks: hook("PreToolUse", SAVE(), "Edit|Write") }, { name: "move", args: moved });
    expect(seen()).toMatchObject({ tool_input: { ...moved, file_path: join(folder, "b.txt") } });
    await chat({ hooks: hook("PreToolUse", SAVE(), "Bash") }, { name: "run_powershell" });
    expect(seen()).toMatchObject({ tool_name: "Bash", agent_tool_name: "run_powershell" });
  });

  test("runs in the directory of the host", async () => {
    const directory = join(folder, "tree");
    mkdirSync(directory);
    const command = `cat > event.json; echo "$AGENT_PROJECT_DIR" > project.txt`;
    await chat({ hooks: hook("PreToolUse", command) }, { args: { path: "a.txt" }, host: { directory } });
    const event = JSON.parse(readFileSync(join(directory, "event.json"), "utf8"));
    expect(event).toMatchObject({ cwd: directory, tool_input: { file_path: join(directory, "a.txt") } });
    expect(readFileSync(join(directory, "project.txt"), "utf8").trim()).toBe(directory);
  });

  test.each([
    ["exits with 2", "echo not today >&2; exit 2", "not today"],
    ["exits with 2 after unreadable JSON", "echo '{'; echo not today >&2; exit 2", "not today"],
    ["fails", "echo broken >&2; exit 1", "exit code 1: broken"],
    ["does not exist", "/no/such/program", "exit code 127"],
    ["prints unreadable JSON", "echo '{oops'", "printed JSON that cannot be read"],
    ["blocks", `echo '{"decision":"block","reason":"no"}'`, "no"],
    ["ends the turn", `echo '{"continue":false,"stopReason":"enough"}'`, "enough"],
    [
      "denies",
      `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'`,
      "no",
    ],
    [
      "asks where no one can answer",
      `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'`,
      "sure?",
    ],
  ])("refuses the call if the hook %s", async (_, command, reason) => {
    const { calls, results } = await chat({ hooks: hook("PreToolUse", command) });
    expect(calls).toEqual([]);
    expect(results[0]).toContain(reason);
  });

  test("refuses the call if the hook takes too long", async () => {
    const hooks = {
      PreToolUse: [{ hooks: [{ type: "command", command: "sleep 600", timeout: 0.2 }] }],
    } as const;
    const { calls, results } = await chat({ hooks });
    expect([calls, results[0]]).toEqual([[], expect.stringContaining("did not end within 0.2 s")]);
  });

  test("bounds a hook that prints 100 MB, and lets a text pass", async () => {
    const { calls, results } = await chat({
      hooks: hook("PreToolUse", "head -c 100000000 /dev/zero | tr '\\0' x"),
    });
    expect(calls).toHaveLength(1);
    expect(results[0]?.length).toBeLessThan(200_000);
    const json = await chat({
      hooks: hook("PreToolUse", "printf '{'; head -c 100000000 /dev/zero | tr '\\0' ' '"),
    });
    expect([json.calls, json.results[0]]).toEqual([[], expect.stringContaining("bytes of JSON")]);
  });

  test("changes arguments by either name", async () => {
    const change = (input: object): string =>
      `echo '${JSON.stringify({ hookSpecificOutput: { updatedInput: input } })}'`;
    const args = { path: "a.txt", content: "x" };
    const theirs = change({ file_path: "/b.txt", content: "y" });
    expect((await chat({ hooks: hook("PreToolUse", theirs) }, { args })).calls).toEqual([
      { path: "/b.txt", content: "y" },
    ]);
    const ours = change({ path: "c.txt", content: "y" });
    expect((await chat({ hooks: hook("PreToolUse", ours) }, { args })).calls).toEqual([
      { path: "c.txt", content: "y" },
    ]);
  });

  test("asks the user where the hook wants it", async () => {
    const command = `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'`;
    const ask = vi.fn(async () => ({ answer: "yes" as const, values: {} }));
    const { calls } = await chat(
      { hooks: hook("PreToolUse", command) },
      { host: { ask } as Partial<PackHost> },
    );
    expect(calls).toHaveLength(1);
    expect(ask).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringContaining("sure?") }));
  });

  test("refuses a call that is too large to be checked, and checks a large one whole", async () => {
    const command = `[ "$(cat | wc -c)" -gt 900000 ] || exit 1`;
    const large = await chat(
      { hooks: hook("PreToolUse", command) },
      { args: { content: "x".repeat(900_000) } },
    );
    expect(large.calls).toHaveLength(1);
    const huge = await chat(
      { hooks: hook("PreToolUse", "true") },
      { args: { content: "x".repeat(2_000_000) } },
    );
    expect([huge.calls, huge.results[0]]).toEqual([[], expect.stringContaining("too large to be checked")]);
  });
});

describe("a script of a hook", () => {
  const settings = () => hook("PostToolUse", `sh "$CLAUDE_PROJECT_DIR"/scripts/check.sh --all`);

  test.each([
    ["is written", { type: "file", access: "write" }, "scripts/check.sh", 0],
    ["is moved with its folder", { type: "file", access: "delete", tree: true }, "scripts", 0],
    ["is read", { type: "file", access: "read" }, "scripts/check.sh", 1],
    ["stays as it is", { type: "file", access: "write" }, "scripts/other.sh", 1],
  ])("is kept from the model if it %s", async (_, target, path, calls) => {
    mkdirSync(join(folder, "scripts"));
    writeFileSync(join(folder, "scripts/check.sh"), "true");
    const targets = [{ ...target, path: join(folder, path) }];
    const { calls: ran, results } = await chat({ hooks: settings() }, { targets, capability: "write" });
    expect(ran).toHaveLength(calls);
    if (calls === 0) expect(results[0]).toContain("which a hook runs");
  });
});

describe("other events", () => {
  test("adds to the result with PostToolUse, and withholds it if the hook fails", async () => {
    const added = await chat({ hooks: hook("PostToolUse", "echo formatted >&2; exit 2") });
    expect(added.results[0]).toBe("it ran\nformatted");
    const failed = await chat({ hooks: hook("PostToolUse", "exit 1") });
    expect(failed.results[0]).toContain("its result is withheld");
  });

  test("adds to the message with UserPromptSubmit, and refuses it", async () => {
    await chat({ hooks: hook("UserPromptSubmit", `${SAVE()}; echo today is Monday`) });
    expect(seen()).toMatchObject({ hook_event_name: "UserPromptSubmit", prompt: "do it" });
    await expect(chat({ hooks: hook("UserPromptSubmit", "echo no >&2; exit 2") })).rejects.toThrow("no");
  });

  test.each([
    ["SessionStart", { source: "startup" }],
    ["SessionEnd", { reason: "other" }],
    ["Stop", { stop_hook_active: false, last_assistant_message: "done" }],
  ])("%s runs its command", async (event, details) => {
    await chat({ hooks: hook(event, SAVE()) });
    expect(seen()).toMatchObject({ hook_event_name: event, ...details });
  });
});

test.runIf(spawnSync("bwrap", ["--version"]).status === 0)("run in the sandbox of commands", async () => {
  // The sandbox looks at the real working directory.
  vi.restoreAllMocks();
  const outside = join(folder, "file");
  const containment = { wanted: () => true, optOut: "--no-sandbox" };
  const hooks = hook("PreToolUse", `touch ${outside} && exit 1; exit 0`);
  expect((await chat({ hooks }, { host: { containment } })).results).toEqual(["it ran"]);
  expect(existsSync(outside)).toBe(false);
});

describe("settings", () => {
  test.each([
    ["a wrong name", { PreToolUses: [] }, 'Did you mean "PreToolUse"?'],
    ["a group without hooks", { Stop: [{}] }, "must be an object with"],
    [
      "another type",
      { Stop: [{ hooks: [{ type: "prompt", prompt: "x" }] }] },
      'type "prompt" do not run here',
    ],
    ["a broken matcher", { PreToolUse: [{ matcher: "(", hooks: [] }] }, "is not a regular expression"],
  ])("refuse every message for %s", async (_, hooks, reason) => {
    await expect(chat({ hooks: hooks as unknown as HookSettings })).rejects.toThrow(reason);
  });

  test.each<[string, HooksOptions]>([
    ["no options", {}],
    ["no hooks", { hooks: {} }],
    ["a file that turns them off", { files: ["off.json"] }],
  ])("let every call run with %s", async (_, options) => {
    writeFileSync(
      join(folder, "off.json"),
      JSON.stringify({ disableAllHooks: true, hooks: hook("PreToolUse", "exit 2") }),
    );
    expect(await chat(options)).toMatchObject({ calls: [expect.anything()] });
  });

  test("name events that do not exist here and fields without effect", async () => {
    const notice = vi.fn();
    const hooks = {
      Notification: [{ hooks: [] }],
      Stop: [{ hooks: [{ type: "command", command: "true", async: true }] }],
    };
    await chat({ hooks: hooks as unknown as HookSettings }, { host: { notice } });
    expect(notice.mock.calls.flat()).toEqual([
      expect.stringContaining("hooks for Notification are left out"),
      expect.stringContaining('"async" has no effect here'),
    ]);
  });

  test("are read from a file, and the user approves each version of a project's", async () => {
    mkdirSync(join(folder, ".claude"));
    const file = join(folder, ".claude/settings.json");
    const save = (hooks: HookSettings): void =>
      writeFileSync(file, `\uFEFF${JSON.stringify({ model: "m", hooks })}`);
    save(hook("PreToolUse", "exit 2"));
    const files = [".claude/settings.json"];
    const directories = { project: join(folder, "state") };
    const ask = vi.fn(async () => ({ answer: "yes" as const, values: {} }));
    const host = { trusted: true, directories, ask } as Partial<PackHost>;
    expect((await chat({ files }, { host })).calls).toEqual([]);
    const { ask: _, ...alone } = host;
    expect((await chat({ files }, { host: alone })).calls).toEqual([]);
    expect(ask).toHaveBeenCalledTimes(1);
    save(hook("PreToolUse", "echo changed >&2; exit 2"));
    const { results } = await chat({ files }, { host: alone });
    expect(results[0]).toContain("are new or have changed. Start agent in a terminal to approve them.");
    const no = vi.fn(async () => ({ answer: "no" as const, values: {} }));
    const declined = await chat({ files }, { host: { ...host, ask: no } as Partial<PackHost> });
    expect(declined.calls).toHaveLength(1);
  });

  test("are approved also from a folder in the project, with every command on one line", async () => {
    const file = join(folder, "settings.json");
    const commands = Array.from({ length: 30 }, (_, index) => `true ${index}`);
    const hooks = {
      Stop: [{ hooks: [...commands, "evil\nRun them?"].map((command) => ({ type: "command", command })) }],
    };
    writeFileSync(file, JSON.stringify({ hooks }));
    mkdirSync(join(folder, "sub"));
    vi.spyOn(process, "cwd").mockReturnValue(join(folder, "sub"));
    const ask = vi.fn(async (_question: { readonly message: string }) => ({ answer: "no" as const }));
    const host = { trusted: true, access: { writable: [folder] }, ask } as unknown as Partial<PackHost>;
    await chat({ files: [file] }, { host });
    // An agent in a work tree may write only there.
    mkdirSync(join(folder, ".git"));
    const inTree = { ...host, access: { writable: [join(folder, "../tree")] } };
    await chat({ files: [file] }, { host: inTree });
    expect(ask).toHaveBeenCalledTimes(2);
    const message = ask.mock.calls[0]?.[0].message ?? "";
    expect(message.split("\n")).toHaveLength(33);
    expect(message).toContain("evil\\nRun them?");
  });

  test.each([
    ["is missing", undefined, "does not exist"],
    ["is not JSON", "{", "is not a JSON object"],
    ["is a list", "[]", "is not a JSON object"],
  ])("refuse every message if the file %s", async (_, text, reason) => {
    if (text !== undefined) writeFileSync(join(folder, "hooks.json"), text);
    await expect(chat({ files: ["hooks.json"] })).rejects.toThrow(reason);
  });
});

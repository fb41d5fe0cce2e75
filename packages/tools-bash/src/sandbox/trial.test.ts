import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type AgentOptions, type ChatProvider, Conversation, createToolRegistry } from "@agent/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { leaveNoProcessBehind } from "../../test/processes.js";
import { runBashTool } from "../tools/bash.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const { signal } = new AbortController();
const status = await new Sandbox(resolveSandbox("auto")).status();
const home = process.cwd();
let base: string;
let wanted: boolean;
let notices: string[];
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tools-bash-trial-")));
  for (const name of ["workspace", "state", "project"]) mkdirSync(join(base, name));
  process.chdir(join(base, "workspace"));
  wanted = true;
  notices = [];
});
afterEach(() => {
  process.chdir(home);
  rmSync(base, { recursive: true, force: true });
});

function tool(options = {}) {
  return runBashTool(options, {
    containment: { wanted: () => wanted, optOut: "--no-sandbox" },
    notice: (message) => notices.push(message),
    directories: { user: join(base, "state") },
    access: { writable: [join(base, "project")] },
  });
}

async function run(one: ReturnType<typeof tool>, command: string) {
  return JSON.parse(await one.execute({ command })) as { stdout: string; sandbox?: string };
}

/** A model that runs one command and then answers. */
function scripted(command: string): ChatProvider {
  const call = { name: "run_bash", arguments: JSON.stringify({ command }) };
  return {
    respond: async ({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { content: "done", toolCalls: [], finishReason: "stop" }
        : {
            content: null,
            toolCalls: [{ id: "1", type: "function", function: call }],
            finishReason: "tool_calls",
          },
  };
}

/** What a passed test leaves. */
const remembered = (): { key: string; at: number } =>
  JSON.parse(readFileSync(join(base, "state/sandbox-test.json"), "utf8"));

describe.skipIf(status.program === undefined)(
  `a sandbox that the host wants${status.problem ? ` (skipped: ${status.problem})` : ""}`,
  () => {
    test("is tested before the first command, remembered, and named once with the way to turn it off", async () => {
      const first = tool();
      expect(await first.describeCall?.({ command: "ls" }, { signal })).toMatchObject({ contained: true });
      expect(notices).toEqual([expect.stringMatching(/^Testing the sandbox/)]);
      const command = `echo in > ${base}/project/file; echo out > ${base}/state/file; cat ${base}/project/file`;
      expect(await run(first, command)).toMatchObject({ stdout: "in\n", sandbox: "bubblewrap" });
      await run(first, "true");
      expect(notices.slice(1)).toEqual([
        expect.stringMatching(/in a sandbox \(bubblewrap\).*: --no-sandbox\.$/),
      ]);

      notices = [];
      const { key, at } = remembered();
      expect(await run(tool(), "echo x")).toMatchObject({ sandbox: "bubblewrap" });
      expect(notices).toEqual([expect.stringMatching(/in a sandbox/)]);
      expect(remembered()).toEqual({ key, at });
      // A test of too long ago is repeated.
      writeFileSync(
        join(base, "state/sandbox-test.json"),
        JSON.stringify({ key, at: at - 31 * 24 * 60 * 60 * 1000 }),
      );
      notices = [];
      await tool().describeCall?.({ command: "ls" }, { signal });
      expect(notices).toEqual([expect.stringMatching(/^Testing the sandbox/)]);
    }, 300_000);

    test("stays for a call that was described as contained, when the host no longer wants it", async () => {
      const one = tool();
      const registry = createToolRegistry(new Conversation());
      registry.register(one);
      const provider = scripted("echo x");
      const rules: AgentOptions["rules"] = {
        decide: async ({ description }) => {
          expect(description.contained).toBe(true);
          // The user leaves auto mode after the decision.
          wanted = false;
          return { type: "allow" };
        },
        allow: async () => undefined,
      };
      const agent = new Agent(provider, { registry, rules, approve: () => "allow" });
      await agent.chat("go");
      const results = agent.conversation.sessionContext.filter(({ role }) => role === "tool");
      expect(JSON.parse(String(results[0]?.content))).toMatchObject({ stdout: "x\n", sandbox: "bubblewrap" });
    }, 300_000);

    test("is not used while the host does not want it, nor if the options turn it off", async () => {
      wanted = false;
      const one = tool();
      expect(await run(one, "echo x")).not.toHaveProperty("sandbox");
      expect((await one.describeCall?.({ command: "ls" }, { signal }))?.contained).toBeUndefined();
      wanted = true;
      const off = tool({ sandbox: "off" });
      expect(await run(off, "echo x")).not.toHaveProperty("sandbox");
      expect((await off.describeCall?.({ command: "ls" }, { signal }))?.contained).toBeUndefined();
      expect(notices).toEqual([]);
    });
  },
);

test("does not run a call that was allowed as contained if no sandbox works", async () => {
  process.chdir("/usr");
  const call = { signal, contained: true, onOutput: () => undefined };
  await expect(tool().execute({ command: "echo x" }, call)).rejects.toThrow(
    /there is none now\. Nothing was run/,
  );
});

test("says that commands run without a sandbox, and why, where none works", async () => {
  // Commands could change bubblewrap itself here, so it is not used.
  process.chdir("/usr");
  const one = tool();
  expect((await one.describeCall?.({ command: "ls" }, { signal }))?.contained).toBeUndefined();
  expect(await run(one, "echo x")).toMatchObject({ stdout: "x\n", sandbox: "none" });
  await run(one, "true");
  expect(notices).toEqual([
    expect.stringMatching(/^Commands run without a sandbox: (bubblewrap|There is no sandbox)/),
  ]);
});

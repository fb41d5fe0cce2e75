import { defineTool, type PackRegistry } from "@agent/core";
import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { HostSession, SessionChoices } from "../src/host.js";
import { openEditor, project, started } from "./editor.js";

const { session } = methods.agent;

/** A host that stores what the user chose, and offers efforts. */
function choosing() {
  const stored = new Map<string, SessionChoices>();
  let effort = "default";
  const extend = (opened: HostSession, resume: string | undefined): HostSession => ({
    ...opened,
    choices: resume === undefined ? undefined : stored.get(resume),
    saveChoices: (choices) => void stored.set(opened.id, choices),
    effort: {
      get current() {
        return effort;
      },
      available: ["default", "high"],
      choose: (one) => {
        effort = one;
      },
    },
  });
  return { stored, extend };
}

test("restores the mode, the model and the effort on load and resume", async () => {
  const { stored, extend } = choosing();
  const editor = await started({ extend });
  const { agent, sessionId, cwd } = editor;
  await agent.request(session.setMode, { sessionId, modeId: "read-only" });
  await agent.request(session.setConfigOption, { sessionId, configId: "model", value: "large" });
  const set = await agent.request(session.setConfigOption, { sessionId, configId: "effort", value: "high" });
  expect(set.configOptions).toMatchObject([
    { id: "model", currentValue: "large" },
    { id: "effort", category: "thought_level", currentValue: "high" },
    { id: "mode", currentValue: "read-only" },
  ]);
  expect(stored.get(sessionId)).toEqual({ mode: "read-only", model: "large", effort: "high" });
  for (const method of [session.load, session.resume] as const) {
    const opened = await agent.request(method, { sessionId, cwd, mcpServers: [] });
    expect(opened.modes?.currentModeId).toBe("read-only");
    expect(opened.configOptions).toMatchObject([
      { currentValue: "large" },
      { currentValue: "high" },
      { currentValue: "read-only" },
    ]);
  }
});

test("reports a mode that no longer exists, and opens the session", async () => {
  const { stored, extend } = choosing();
  stored.set("kept", { mode: "gone" });
  const editor = openEditor({ extend });
  await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const opened = await editor.agent.request(session.load, {
    sessionId: "kept",
    cwd: project(),
    mcpServers: [],
  });
  expect(opened.modes?.currentModeId).toBe("ask");
  await editor.until((update) => JSON.stringify(update).includes('The mode \\"gone\\" of this session'));
});

test("asks the host for a copy on fork and leaves the original open", async () => {
  const requests: object[] = [];
  const editor = await started({
    onOpen: ({ resume, fork }) => void requests.push({ resume, fork }),
    answers: ["still here"],
  });
  const { agent, sessionId, cwd } = editor;
  const forked = (await agent.request("session/fork", { sessionId, cwd, mcpServers: [] })) as {
    sessionId: string;
  };
  expect(requests).toEqual([
    { resume: undefined, fork: undefined },
    { resume: sessionId, fork: true },
  ]);
  expect(forked.sessionId).not.toBe(sessionId);
  expect(await editor.prompt("Go on.")).toEqual({ stopReason: "end_turn" });
  for (const params of [{}, { sessionId, cwd: 1 }, { sessionId, cwd, mcpServers: [1] }]) {
    await expect(agent.request("session/fork", params)).rejects.toThrow();
  }
});

test("sends the protocol's code and the methods to a user without credentials", async () => {
  const editor = openEditor({
    host: {
      authMethods: [{ id: "key", name: "Set a key", description: "Set KEY." }],
      authenticate: () => Promise.reject(new Error("KEY is not set.")),
      openSession: () => Promise.reject(Object.assign(new Error("Set KEY."), { code: "auth_required" })),
    },
  });
  const { agent } = editor;
  const { authMethods } = await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  expect(authMethods).toEqual([{ id: "key", name: "Set a key", description: "Set KEY." }]);
  await expect(agent.request(session.new, { cwd: project(), mcpServers: [] })).rejects.toMatchObject({
    code: -32000,
    message: "Set KEY.",
  });
  await expect(agent.request(methods.agent.authenticate, { methodId: "key" })).rejects.toThrow(
    "KEY is not set.",
  );
});

test("shows the plan of a tool as the plan of the editor", async () => {
  const plans = [
    { plan: [{ content: "Look", status: "completed", priority: "high" }, { content: "Change" }] },
    { plan: [{ content: 1 }] },
    { plan: "none" },
  ];
  const pack = {
    packName: "planner",
    register: (registry: PackRegistry) =>
      registry.register(
        defineTool({
          name: "note_plan",
          description: "Notes a plan",
          input: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
          output: { type: "object", properties: { plan: {} } },
          capabilities: ["read"],
          execute: ({ at }) => plans[at] as { plan: unknown },
        }),
      ),
  };
  const calls = plans.map((_, at) => ({ name: "note_plan", args: { at } }));
  const editor = await started({ packs: [pack], answers: [{ calls }, "Done."] });
  await editor.prompt("Go.");
  expect(editor.updates.filter((update) => update.sessionUpdate === "plan")).toEqual([
    {
      sessionUpdate: "plan",
      entries: [
        { content: "Look", status: "completed", priority: "high" },
        { content: "Change", status: "pending", priority: "medium" },
      ],
    },
  ]);
});

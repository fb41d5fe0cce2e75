import { Conversation, createToolRegistry, type ExecutableTool, type ToolPack } from "@agent/core";
import { describe, expect, test } from "vitest";
import type { LockedPack } from "../../settings/packs/lock.js";
import { registerPacks } from "./load.js";
import { lockedPack } from "./lockedPack.js";

const NAME = "agent-pack-greeter";

function tool(name: string, capabilities: readonly string[] = ["read"]): ExecutableTool {
  return {
    name,
    capabilities: capabilities as NonNullable<ExecutableTool["capabilities"]>,
    getSchema: () => ({
      type: "function",
      function: { name, description: "d", parameters: { type: "object", properties: {} } },
    }),
    execute: async () => `${name} ran`,
  };
}

const APPROVED: LockedPack = {
  version: "1.0.0",
  packName: NAME,
  files: "sha256-x",
  tools: {
    greet: { enabled: true, capabilities: ["read"] },
    send: { enabled: false, capabilities: ["network"] },
  },
  secrets: [],
  services: [],
};

/** Registers another version of the pack that was approved. */
function registered(pack: Partial<ToolPack> & Pick<ToolPack, "register">) {
  const registry = createToolRegistry(new Conversation(), []);
  const module = lockedPack({ packName: NAME, ...pack }, NAME, APPROVED);
  const loaded = { name: NAME, file: "/x", options: undefined, own: false, module, problem: undefined };
  const packs = [loaded as typeof loaded & { problem: string | undefined }];
  registerPacks(registry, packs, { context: new Conversation() });
  return { registry, problem: packs[0]?.problem };
}

describe("a pack with a lock entry", () => {
  test.each([
    ["gains a tool", tool("more"), "it is new"],
    ["gains a capability", tool("greet", ["read", "network"]), "it now can network"],
    ["loses a label", tool("greet", []), "it no longer declares read"],
    ["turns a tool on", tool("send", ["network"]), "it is on by default now"],
  ])("withholds a tool when an update %s", async (_, changed, reason) => {
    const { registry, problem } = registered({ register: (target) => target.register(changed) });
    expect(problem).toContain(`changed since you approved it, so ${changed.name} is off.`);
    registry.enable(changed.name);
    const text = await registry.execute(changed.name, {});
    expect(text).toContain(`${reason}. Review the change with: agent pack update ${NAME}`);
  });

  test("withholds the tools of a pack that calls itself another", async () => {
    const { registry } = registered({
      packName: "@agent/tools-fs",
      register: (target) => target.register(tool("greet")),
    });
    expect(await registry.execute("greet", {})).toContain('it calls itself "@agent/tools-fs" now.');
  });

  test.each<[string, Partial<ToolPack>, (target: Parameters<ToolPack["register"]>[0]) => void, string]>([
    ["secrets", { secrets: ["OTHER_TOKEN"] }, () => undefined, "wants the secrets OTHER_TOKEN"],
    [
      "hooks",
      {},
      (target) => target.provide?.({ hooks: { name: "greeter", onStop: () => undefined } }),
      "adds hooks",
    ],
    [
      "commands",
      {},
      (target) =>
        target.provide?.({ commands: [{ name: "x", description: "d", run: async () => ({ show: "" }) }] }),
      "adds command /x",
    ],
  ])("does not use a pack that gains %s", (_, declared, more, reason) => {
    const { registry, problem } = registered({
      ...declared,
      register: (target) => {
        target.register(tool("greet"));
        more(target);
      },
    });
    expect(registry.hasTool("greet")).toBe(false);
    expect(problem).toContain(reason);
    expect(problem).toContain(`agent pack update ${NAME}`);
  });

  test("runs what was approved", async () => {
    const { registry, problem } = registered({
      register: (target) => {
        target.register(tool("greet"));
        target.register(tool("send", ["network"]), { enabled: false });
      },
    });
    expect(problem).toBeUndefined();
    registry.enable("send");
    expect(await registry.execute("send", {})).toBe("send ran");
  });
});

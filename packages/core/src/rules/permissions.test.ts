import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Conversation } from "../conversation/conversation.js";
import { defineTool } from "../tools/defineTool.js";
import { createToolRegistry } from "../tools/factory.js";
import type { ToolCapability } from "../tools/tool.js";
import { MODES, type Mode } from "./mode.js";
import { Permissions } from "./permissions.js";
import { parseRule } from "./rule.js";

const folder = mkdtempSync(join(tmpdir(), "agent-permissions-"));
const root = join(folder, "project");
mkdirSync(root);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Permissions in a project with one tool that a pack brings. */
function permissionsFor(
  name: string,
  capabilities: readonly ToolCapability[],
  pack: string,
  mode: Mode,
  foreign = false,
) {
  const tool = defineTool({
    name,
    description: name,
    capabilities,
    input: { type: "object", properties: {} },
    describe: () => ({ targets: [{ type: "file", path: join(root, "lib/a"), access: "write" }] }),
    execute: () => name,
  });
  const registry = createToolRegistry(new Conversation(), [
    { packName: pack, register: (to) => to.register(tool, { foreign }) },
  ]);
  return {
    permissions: new Permissions({ registry, mode, root }),
    call: async () => {
      const prepared = await registry.prepare(name);
      if ("outcome" in prepared) throw new Error(prepared.text);
      return { ...prepared, description: await prepared.describe() };
    },
  };
}

describe("a tool that is not one of our own", () => {
  test.each<[name: string, capability: ToolCapability, pack: string, expected: string]>([
    ["write", "write", "@agent/tools-x", "allow"],
    ["look", "read", "@agent/tools-x", "allow"],
    ["write", "write", "other-pack", "ask"],
    ["look", "read", "other-pack", "allow"],
    ["mcp__server__look", "read", "@agent/tools-mcp", "ask"],
  ])("asks until it is allowed: %s (%s) of %s", async (name, capability, pack, expected) => {
    const { permissions, call } = permissionsFor(name, [capability], pack, "edits");
    expect((await permissions.decide(await call())).type).toBe(expected);
    await permissions.grant(parseRule(name), "session");
    expect((await permissions.decide(await call())).type).toBe("allow");
    permissions.mode = "auto";
    expect((await permissions.decide(await call())).type).toBe("allow");
  });
});

test("asks for a tool that the host marks as foreign, whatever pack it names", async () => {
  const { permissions, call } = permissionsFor("write", ["write"], "@agent/tools-x", "edits", true);
  expect((await permissions.decide(await call())).type).toBe("ask");
});

test("allows an edit by its directory, and edits from now on", async () => {
  const { permissions, call } = permissionsFor("write", ["write"], "@agent/tools-x", "ask");
  const choices = await permissions.alwaysChoices(await call());
  expect(choices.map(({ label }) => label)).toEqual([
    "exactly this call",
    "edits in lib/**",
    "every call of write",
    "accept edits from now on",
  ]);
  permissions.mode = "edits";
  expect(await permissions.alwaysChoices(await call())).toHaveLength(3);
});

test("cycles through the modes in order", () => {
  const { permissions } = permissionsFor("write", ["write"], "@agent/tools-x", "plan");
  expect(MODES.map(() => permissions.cycle())).toEqual(["ask", "edits", "auto", "plan"]);
});

test("decides for an agent that the program made: a rule runs the call, a question decides about others", async () => {
  const { permissions, call } = permissionsFor("write", ["write"], "@agent/tools-x", "ask");
  const problems: string[] = [];
  const asked: (readonly string[])[] = [];
  const { rules, approve } = permissions.approval(
    async (_request, always) => {
      asked.push(always.map(({ label }) => label));
      return { always: "write", scope: "project" };
    },
    (problem) => problems.push(problem),
  );
  const { args, capabilities, description } = await call();
  const { signal } = new AbortController();
  const request = { name: "write", args, capabilities, description, scope: "", turn: 1, id: "1", signal };
  expect(await rules.decide(request)).toEqual({ type: "ask" });
  expect(await approve(request)).toBe("allow");
  expect(asked[0]).toContain("every call of write");
  expect(await rules.decide(request)).toEqual({ type: "allow" });
  expect(problems).toEqual([]);
});

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation, createToolRegistry, defineTool, type ToolCapability } from "@agent/core";
import { MODES, type Mode, parseRule } from "@agent/core/host";
import { nextMode } from "@agent/terminal/host";
import { afterAll, describe, expect, test } from "vitest";
import { Grants } from "./grants.js";
import { Permissions } from "./permissions.js";

const folder = mkdtempSync(join(tmpdir(), "agent-permissions-"));
const root = join(folder, "project");
mkdirSync(root);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Permissions in a project with one tool that a pack brings. */
function permissionsFor(name: string, capabilities: readonly ToolCapability[], pack: string, mode: Mode) {
  const tool = defineTool({
    name,
    description: name,
    capabilities,
    input: { type: "object", properties: {} },
    describe: () => ({ targets: [{ type: "file", path: join(root, "lib/a"), access: "write" }] }),
    execute: () => name,
  });
  const registry = createToolRegistry(new Conversation(), [
    { packName: pack, register: (to) => to.register(tool) },
  ]);
  const grants = new Grants("/dev/null/none", root);
  const rules = { allow: [], ask: [], deny: [] };
  return {
    permissions: new Permissions({ registry, rules, grants, confirm: new Set(), mode, root }),
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

test("an edit can be allowed by its directory, and edits from now on", async () => {
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

test("the modes follow each other", () => {
  expect(MODES.map(nextMode)).toEqual(["ask", "edits", "auto", "plan"]);
});

describe("what was allowed permanently", () => {
  const state = join(folder, "state");

  test("holds in the project it was given for, after a restart, until it is reverted", async () => {
    const grants = new Grants(state, root);
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("fetch"), "session");
    const again = new Grants(state, root);
    expect(again.list()).toEqual([{ rule: parseRule("run_bash(npm test *)"), scope: "project" }]);
    expect(new Grants(state, folder).list()).toEqual([]);
    const [grant] = again.list();
    if (grant) expect(await again.revoke(grant)).toBe(true);
    expect(new Grants(state, root).list()).toEqual([]);
  });

  test("two chats in one project keep each other's", async () => {
    const [one, two] = [new Grants(state, root), new Grants(state, root)];
    await one.add(parseRule("a"), "project");
    await two.add(parseRule("b"), "project");
    expect(new Grants(state, root).list().map(({ rule: { tool } }) => tool)).toEqual(["a", "b"]);
  });

  test("a damaged file allows nothing, and one that cannot be written holds for the session", async () => {
    for (const name of readdirSync(state))
      writeFileSync(join(state, name), '{"project":"/elsewhere","allow":["*"]}');
    expect(new Grants(state, root).list()).toEqual([]);
    const grants = new Grants("/dev/null/x", root);
    await expect(grants.add(parseRule("a"), "project")).rejects.toThrow();
    expect(grants.list()).toEqual([{ rule: parseRule("a"), scope: "session" }]);
  });
});

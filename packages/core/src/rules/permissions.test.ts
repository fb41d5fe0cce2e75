import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Conversation } from "../conversation/conversation.js";
import { defineTool } from "../tools/defineTool.js";
import { createToolRegistry } from "../tools/factory.js";
import type { ToolCapability } from "../tools/tool.js";
import { MODES, type Mode } from "./mode.js";
import { type Grants, Permissions, type PermissionsOptions, type UserDecision } from "./permissions.js";
import { parseRule } from "./rule.js";

const folder = mkdtempSync(join(tmpdir(), "agent-permissions-"));
const root = join(folder, "project");
mkdirSync(root);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Permissions in a project with one tool of a pack. */
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
    registry,
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

test("denies in a copy of the project what is denied by its absolute path in the project", async () => {
  const { registry, call } = permissionsFor("write", ["write"], "@agent/tools-x", "auto");
  const deny = [parseRule(`file.write(${root}/lib/**)`)];
  const permissions = new Permissions({ registry, mode: "auto", root, rules: { allow: [], ask: [], deny } });
  const tree = join(folder, "tree");
  const decide = async (path: string) => {
    const { description, ...rest } = await call();
    const targets = [{ type: "file" as const, path: join(tree, path), access: "write" as const }];
    const inTree = { ...rest, description: { ...description, targets } };
    return (await permissions.decide(inTree, "auto", { registry, root: tree })).type;
  };
  expect([await decide("lib/a"), await decide("src/a")]).toEqual(["deny", "allow"]);
});

test("says that an always of a child agent in another directory holds in the project too", async () => {
  const { permissions, registry, call } = permissionsFor("write", ["write"], "@agent/tools-x", "edits");
  const choices = await permissions.alwaysChoices(await call(), { registry, root: join(folder, "tree") });
  expect(choices.map(({ label }) => label)).toEqual([
    `exactly this call, also in ${root}`,
    `every call of write, also in ${root}`,
  ]);
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
  const request = {
    name: "write",
    args,
    capabilities,
    description,
    scope: "",
    turn: 1,
    id: "1",
    context: undefined,
    signal,
  };
  expect(await rules.decide(request)).toEqual({ type: "ask" });
  expect(await approve(request)).toBe("allow");
  expect(asked[0]).toContain("every call of write");
  expect(await rules.decide(request)).toEqual({ type: "allow" });
  expect(problems).toEqual([]);
});

describe("the answer of a user", () => {
  async function answering(decision: UserDecision | "suspend", options: Partial<PermissionsOptions> = {}) {
    const { call, registry } = permissionsFor("write", ["write"], "@agent/tools-x", "ask");
    const permissions = new Permissions({ registry, mode: "ask", root, ...options });
    const problems: string[] = [];
    let runsInAuto: (() => Promise<boolean>) | undefined;
    const { approve, rules } = permissions.approval(
      async (_request, _always, auto) => {
        runsInAuto = auto;
        return decision;
      },
      (problem) => problems.push(problem),
    );
    const { args, capabilities, description } = await call();
    const { signal } = new AbortController();
    const request = {
      name: "write",
      args,
      capabilities,
      description,
      scope: "",
      turn: 1,
      id: "1",
      context: undefined,
      signal,
    };
    const answer = await approve(request);
    return { permissions, answer, problems, rules, request, inAuto: await runsInAuto?.() };
  }

  test.each([["allow" as const], ["suspend" as const], [{ deny: "no" }]])(
    "is passed on and changes nothing: %j",
    async (decision) => {
      const { permissions, answer, inAuto } = await answering(decision);
      expect(answer).toEqual(decision);
      expect(permissions.mode).toBe("ask");
      expect(permissions.grants).toEqual([]);
      expect(inAuto).toBe(true);
    },
  );

  test("switches the mode, and allows the call", async () => {
    const { permissions, answer } = await answering({ mode: "edits" });
    expect(answer).toBe("allow");
    expect(permissions.mode).toBe("edits");
    expect(permissions.grants).toEqual([]);
  });

  test("tells whether the call would run in auto mode", async () => {
    expect((await answering("allow", { confirm: new Set(["write"]) })).inAuto).toBe(false);
  });

  test("allows the call if the grant cannot be stored, and reports that", async () => {
    const grants: Grants = {
      list: () => [],
      add: () => Promise.reject(new Error("disk full")),
      revoke: async () => false,
    };
    const { answer, problems } = await answering({ always: "write", scope: "project" }, { grants });
    expect(answer).toBe("allow");
    expect(problems).toEqual([
      "this is allowed for the session only, because it cannot be stored: disk full",
    ]);
  });

  test("is a grant that is listed once and can be revoked", async () => {
    const { permissions, rules, request } = await answering({ always: "write", scope: "session" });
    await rules.allow("write", request);
    await rules.allow("other", request);
    expect(permissions.grants.map((grant) => grant.rule.tool)).toEqual(["write", "other"]);
    expect(await permissions.revoke({ rule: parseRule("write"), scope: "session" })).toBe(true);
    expect(await permissions.revoke({ rule: parseRule("write"), scope: "session" })).toBe(false);
    expect(permissions.grants.map((grant) => grant.rule.tool)).toEqual(["other"]);
  });
});

test("offers no mode for a tool in confirm, a tool of others or one that does more than edit", async () => {
  const last = async (capability: ToolCapability, pack: string, confirm: string[] = []) => {
    const { registry, call } = permissionsFor("write", [capability], pack, "ask");
    const permissions = new Permissions({ registry, mode: "ask", root, confirm: new Set(confirm) });
    return (await permissions.alwaysChoices(await call())).at(-1);
  };
  const mode = { mode: "edits", label: "accept edits from now on" };
  expect(await last("write", "@agent/tools-x")).toEqual(mode);
  expect(await last("write", "@agent/tools-x", ["write"])).not.toEqual(mode);
  expect(await last("write", "other-pack")).not.toEqual(mode);
  expect(await last("execute", "@agent/tools-x")).not.toEqual(mode);
});

test("runs contained calls without a question only where no one can be asked", async () => {
  const { registry, call } = permissionsFor("write", ["execute"], "@agent/tools-x", "ask");
  const described = await call();
  const contained = { ...described, description: { ...described.description, contained: true } };
  const decide = (options: Partial<PermissionsOptions>) =>
    new Permissions({ registry, mode: "edits", root, ...options }).decide(contained);
  expect((await decide({})).type).toBe("ask");
  expect((await decide({ unattended: true })).type).toBe("allow");
});

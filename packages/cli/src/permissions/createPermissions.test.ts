import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, ToolRegistry } from "@agent/core";
import { parseRule } from "@agent/core/host";
import { expect, onTestFinished, test, vi } from "vitest";
import { createPermissions, type PermissionSettings } from "./createPermissions.js";

const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    capabilities: ["execute"],
    input: { type: "object", properties: { repo: { type: "string" } } },
    execute: () => name,
  });

async function create(
  rules: { allow?: string[]; ask?: string[]; deny?: string[] },
  options: Partial<PermissionSettings> = {},
  mode?: string,
) {
  const state = mkdtempSync(join(tmpdir(), "agent-state-"));
  vi.stubEnv("XDG_STATE_HOME", state);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(state, { recursive: true, force: true });
  });
  const registry = new ToolRegistry();
  registry.register(tool("issue"));
  const problems: string[] = [];
  const permissions = await createPermissions(
    { settings: { permissions: { allow: [], ask: [], deny: [], ...rules }, mode } } as never,
    { registry, confirm: new Set(["issue"]) } as never,
    { onProblem: (message) => problems.push(message), ...options },
  );
  return { permissions, registry, problems };
}

test.each(["allow", "ask", "deny"])(
  "rejects a rule in %s that its tool does not understand",
  async (list) => {
    await expect(create({ [list]: ["issue(repo: a)", "issue(rep: b)"] })).rejects.toThrow(
      `"permissions.${list}" has the rule issue(rep: b), but issue has no argument "rep".`,
    );
  },
);

test.each(["allow", "ask", "deny"])(
  "reports a rule in %s that a later tool does not understand",
  async (list) => {
    const { registry, problems } = await create({ [list]: ["later(rep: b)"] });
    registry.register(tool("later"));
    await vi.waitFor(() => expect(problems).toHaveLength(1));
    expect(problems[0]).toContain("the rule later(rep: b) cannot be used");
  },
);

test("takes the mode of the settings, then the one given, then accept edits", async () => {
  expect((await create({})).permissions.mode).toBe("edits");
  expect((await create({}, { mode: "ask" })).permissions.mode).toBe("ask");
  expect((await create({}, { mode: "ask" }, "auto")).permissions.mode).toBe("auto");
});

test("passes on the rules and the tools to confirm", async () => {
  const { permissions } = await create({ deny: ["issue(repo: a)"], ask: ["x"], allow: ["y"] });
  expect(permissions.rules).toEqual({
    allow: [parseRule("y")],
    ask: [parseRule("x")],
    deny: [parseRule("issue(repo: a)")],
  });
  expect([...permissions.confirm]).toEqual(["issue"]);
});

test("runs contained calls without a question only if no one can be asked", async () => {
  const description = { needs: [], contained: true };
  const call = { name: "run", args: {}, capabilities: ["execute"], description } as never;
  for (const [unattended, expected] of [
    [undefined, "ask"],
    [false, "ask"],
    [true, "allow"],
  ] as const) {
    const { permissions, registry } = await create({}, { unattended });
    registry.register(tool("run"), { source: "@agent/tools-x" });
    expect((await permissions.decide(call)).type).toBe(expected);
  }
});

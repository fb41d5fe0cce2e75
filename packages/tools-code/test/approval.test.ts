import { type ApprovalRequest, defineTool, type ExecutableTool } from "@agent/core";
import { describe, expect, test, vi } from "vitest";
import { runScript } from "./support.js";

/** A tool that writes, with what it did. */
function saving(more: Partial<ExecutableTool> = {}) {
  const saved: unknown[] = [];
  const tool: ExecutableTool = {
    ...defineTool({
      name: "save",
      description: "Saves.",
      input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      capabilities: ["write"],
      execute: ({ path }, { granted }) => {
        saved.push(granted.length > 0 ? { path, granted } : path);
        return `saved ${path}`;
      },
    }),
    ...more,
  };
  return { tool, saved };
}

const SCRIPT = `try { return await tools.save({ path: "a" }); } catch (error) { return error.outcome + ": " + error.message; }`;

describe("a call in a script", () => {
  test("is asked about like any other, under the call of the script", async () => {
    const { tool, saved } = saving();
    const asked: ApprovalRequest[] = [];
    const { text } = await runScript(SCRIPT, {
      tools: [tool],
      approve: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    expect(text).toBe("saved a");
    expect(saved).toEqual(["a"]);
    expect(
      asked.map(({ name, args, parent, capabilities }) => ({ name, args, parent, capabilities })),
    ).toEqual([
      { name: "run_script", args: { script: SCRIPT }, parent: undefined, capabilities: ["read"] },
      { name: "save", args: { path: "a" }, parent: "call_1_0", capabilities: ["write"] },
    ]);
  });

  test("is denied although the script was allowed, and rejects with the reason", async () => {
    const { tool, saved } = saving();
    const { text } = await runScript(SCRIPT, {
      tools: [tool],
      approve: ({ name }) => (name === "save" ? { deny: "not in this project." } : "always"),
    });
    expect(text).toBe("denied: Tool call denied: not in this project.");
    expect(saved).toEqual([]);
  });

  test('is not allowed by an "always" for the script', async () => {
    const { tool } = saving();
    const approve = vi.fn(({ name }: ApprovalRequest) => (name === "run_script" ? "always" : { deny: "no" }));
    await runScript(SCRIPT, { tools: [tool], approve });
    expect(approve.mock.calls.map(([{ name }]) => name)).toEqual(["run_script", "save"]);
  });

  test.each(["allow", "ask", "deny"] as const)("follows a rule that says %s", async (type) => {
    const { tool, saved } = saving();
    const approve = vi.fn(() => ({ deny: "the user said no" }));
    const { text } = await runScript(SCRIPT, {
      tools: [tool],
      approve,
      rules: {
        decide: ({ name }) =>
          name !== "save" ? { type: "allow" } : type === "deny" ? { type, reason: "a rule" } : { type },
        allow: () => undefined,
      },
    });
    expect(saved).toEqual(type === "allow" ? ["a"] : []);
    expect(approve).toHaveBeenCalledTimes(type === "ask" ? 1 : 0);
    if (type === "deny") expect(text).toContain("a rule");
    if (type === "ask") expect(text).toContain("the user said no");
  });

  test("asks for what it needs, and gets exactly that", async () => {
    const need = { kind: "write", path: "/etc/a", reason: "outside the project" } as const;
    const { tool, saved } = saving({ describeCall: () => ({ needs: [need] }) });
    const asked: ApprovalRequest[] = [];
    await runScript(SCRIPT, {
      tools: [tool],
      approve: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    expect(asked.find(({ name }) => name === "save")?.description.needs).toEqual([need]);
    expect(saved).toEqual([{ path: "a", granted: [need] }]);
  });

  test("is seen, denied and changed by hooks", async () => {
    const { tool, saved } = saving();
    const denied = await runScript(SCRIPT, {
      tools: [tool],
      hooks: [
        { name: "guard", beforeCall: ({ name }) => (name === "save" ? { deny: "guarded" } : undefined) },
      ],
    });
    expect(denied.text).toContain("guarded");
    const changed = await runScript(SCRIPT, {
      tools: [tool],
      hooks: [
        {
          name: "changer",
          beforeCall: ({ name }) => (name === "save" ? { args: { path: "b" } } : undefined),
          afterCall: ({ name }) => (name === "save" ? { append: "checked" } : undefined),
        },
      ],
    });
    expect(changed.text).toContain("saved b");
    expect(changed.text).toContain("checked");
    expect(saved).toEqual(["b"]);
  });

  test("does not run if the tool is off, or a child may not use it", async () => {
    const { tool, saved } = saving();
    const off = await runScript(SCRIPT, { tools: [tool], disable: ["save"] });
    expect(off.text).toContain("not_available");
    const child = await runScript('return await agent({ task: "go", tools: ["run_script"] });', {
      tools: [tool],
      answers: [{ calls: [{ name: "run_script", args: { script: SCRIPT } }] }, "child done"],
    });
    expect(child.text).toBe("child done");
    expect(saved).toEqual([]);
  });

  test("is validated before anyone is asked", async () => {
    const { tool } = saving();
    const approve = vi.fn(() => "allow" as const);
    const { text } = await runScript("await tools.save({ path: 5 });", { tools: [tool], approve });
    expect(text).toContain("path");
    expect(approve).toHaveBeenCalledTimes(1);
  });
});

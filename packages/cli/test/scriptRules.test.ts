import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, Sandbox, scripted } from "./agent.js";

/** A pack with a tool that writes, and one that only reads and keeps what the script found out. */
const PACK = `import { writeFileSync } from "node:fs";
export const packName = "files";
export function register(registry, host) {
  const text = (name, property) => ({ type: "function", function: { name, description: name, parameters: {
    type: "object", properties: { [property]: { type: "string" } }, required: [property] } } });
  const isInside = (path) => host.access.writable.some((directory) => path.startsWith(directory + "/"));
  registry.register({
    name: "put",
    capabilities: ["write"],
    getSchema: () => text("put", "path"),
    describeCall: ({ path }) => ({
      targets: [{ type: "file", path, access: "write" }],
      needs: isInside(path) ? [] : [{ kind: "write", path, reason: "outside the project" }],
    }),
    execute: async ({ path }, call) => {
      if (!isInside(path) && !call.granted.some((need) => need.path === path)) throw new Error("not granted");
      writeFileSync(path, "x");
      return "written";
    },
  });
  registry.register({
    name: "note",
    capabilities: ["read"],
    getSchema: () => text("note", "text"),
    execute: async ({ text }) => { writeFileSync("note.txt", text); return "noted"; },
  });
}
`;

/** A project in which a script calls \`put\`, with further lines of the config. */
function project(config: string, target = "project/a.txt") {
  const box = new Sandbox();
  box.link("@agent/core", "@agent/tools-code");
  const path = join(box.home, target);
  const script = `try { await tools.note({ text: await tools.put({ path: ${JSON.stringify(path)} }) }); }
catch (error) { await tools.note({ text: error.outcome + ": " + error.message }); }`;
  box.write("pack.mjs", PACK);
  box.write(
    "agent.config.mjs",
    scripted([["run_script", { script }], "done"], `packs: ["@agent/tools-code", "./pack.mjs"], ${config}`),
  );
  return {
    box,
    isWritten: () => existsSync(path),
    note: () => readFileSync(join(box.project, "note.txt"), "utf8"),
  };
}

describe("a call in a script", () => {
  test("runs without a question where a rule allows it", async () => {
    const { box, isWritten, note } = project('mode: "ask", permissions: { allow: ["put"] },');
    await box.run(["--trust", "go"]);
    expect(note()).toBe("written");
    expect(isWritten()).toBe(true);
  });

  test("is denied by a rule, although the script is allowed", async () => {
    const { box, isWritten, note } = project(
      'mode: "auto", permissions: { allow: ["run_script"], deny: ["put"] },',
    );
    await box.run(["--trust", "go"]);
    expect(note()).toContain("denied: Tool call denied: the rule put");
    expect(isWritten()).toBe(false);
  });

  test.each([
    ["a rule that asks", 'mode: "auto", permissions: { allow: ["run_script"], ask: ["put"] },'],
    ["the mode that asks", 'mode: "ask", permissions: { allow: ["run_script"] },'],
    ["confirm", 'mode: "auto", confirm: ["put"],'],
  ])("does not run under %s if no user can be asked", async (_name, config) => {
    const { box, isWritten, note } = project(config);
    await box.run(["--trust", "go"]);
    expect(note()).toMatch(/^denied: /);
    expect(isWritten()).toBe(false);
  });

  test.runIf(hasTerminal()).each(["y", "n"])("is asked about in a terminal, answer %s", async (answer) => {
    const { box, isWritten } = project('mode: "auto", confirm: ["put"],');
    await box.run(["tools", "--trust"]);
    await box.runInTerminal(["go"], [["or no with a reason", answer]]);
    expect(isWritten()).toBe(answer === "y");
  });

  test("is denied in plan mode, in which the script itself runs", async () => {
    const { box, isWritten, note } = project('permissions: { allow: ["put"] },');
    await box.run(["--trust", "--mode", "plan", "go"]);
    expect(note()).toMatch(/^(denied|not_available): /);
    expect(isWritten()).toBe(false);
  });

  test("finds writing tools off with --read-only", async () => {
    const { box, isWritten, note } = project('mode: "auto",');
    await box.run(["--trust", "--read-only", "go"]);
    expect(note()).toMatch(/^not_available: /);
    expect(isWritten()).toBe(false);
  });

  test("does not leave the project without approval", async () => {
    const { box, isWritten, note } = project('mode: "auto", permissions: { allow: ["put"] },', ".bashrc");
    await box.run(["--trust", "go"]);
    expect(note()).toMatch(/^denied: /);
    expect(isWritten()).toBe(false);
  });
});

import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseRule } from "@agent/core/host";
import { afterAll, describe, expect, test } from "vitest";
import { ProjectGrants } from "./grants.js";

const folder = mkdtempSync(join(tmpdir(), "agent-grants-"));
const root = join(folder, "project");
mkdirSync(root);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what was allowed permanently", () => {
  const state = join(folder, "state");

  test("holds in the project it was given for, after a restart, until it is reverted", async () => {
    const grants = new ProjectGrants(state, root);
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("run_bash(npm test *)"), "project");
    await grants.add(parseRule("fetch"), "session");
    const again = new ProjectGrants(state, root);
    expect(again.list()).toEqual([{ rule: parseRule("run_bash(npm test *)"), scope: "project" }]);
    expect(new ProjectGrants(state, folder).list()).toEqual([]);
    const [grant] = again.list();
    if (grant) expect(await again.revoke(grant)).toBe(true);
    expect(new ProjectGrants(state, root).list()).toEqual([]);
  });

  test("is kept for both of two chats in one project", async () => {
    const [one, two] = [new ProjectGrants(state, root), new ProjectGrants(state, root)];
    await one.add(parseRule("a"), "project");
    await two.add(parseRule("b"), "project");
    expect(new ProjectGrants(state, root).list().map(({ rule: { tool } }) => tool)).toEqual(["a", "b"]);
  });

  test("is empty for a damaged file, and lasts for the session if the file cannot be written", async () => {
    for (const name of readdirSync(state))
      writeFileSync(join(state, name), '{"project":"/elsewhere","allow":["*"]}');
    expect(new ProjectGrants(state, root).list()).toEqual([]);
    const grants = new ProjectGrants("/dev/null/x", root);
    await expect(grants.add(parseRule("a"), "project")).rejects.toThrow();
    expect(grants.list()).toEqual([{ rule: parseRule("a"), scope: "session" }]);
  });

  test("is revoked in its scope only, and a second time there is nothing to revoke", async () => {
    const grants = new ProjectGrants(join(folder, "scopes"), root);
    const rule = parseRule("a");
    for (const scope of ["session", "session", "project"] as const) await grants.add(rule, scope);
    expect(grants.list().map(({ scope }) => scope)).toEqual(["session", "project"]);
    await grants.add(parseRule("b"), "session");
    expect(await grants.revoke({ rule, scope: "session" })).toBe(true);
    expect(await grants.revoke({ rule, scope: "session" })).toBe(false);
    expect(grants.list().map((one) => `${one.rule.tool} ${one.scope}`)).toEqual(["b session", "a project"]);
    expect(await grants.revoke({ rule, scope: "project" })).toBe(true);
    expect(new ProjectGrants(join(folder, "scopes"), root).list()).toEqual([]);
  });

  test.each([
    ["a list", (project: string) => [project]],
    ["no list of rules", (project: string) => ({ project, allow: "*" })],
    ["a rule that is none", (project: string) => ({ project, allow: ["a", "b("] })],
  ])("is empty for a file with %s", async (_, content) => {
    const directory = join(folder, "damaged");
    await new ProjectGrants(directory, root).add(parseRule("a"), "project");
    const [name = ""] = readdirSync(directory);
    writeFileSync(join(directory, name), JSON.stringify(content(realpathSync(root))));
    expect(new ProjectGrants(directory, root).list()).toEqual([]);
    writeFileSync(join(directory, name), JSON.stringify({ project: realpathSync(root), allow: ["a", 1] }));
    expect(new ProjectGrants(directory, root).list()).toHaveLength(1);
  });

  test("is in a file that only the user can read", async () => {
    const directory = join(folder, "private");
    await new ProjectGrants(directory, root).add(parseRule("a"), "project");
    const [name = ""] = readdirSync(directory);
    expect([directory, join(directory, name)].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o600,
    ]);
  });
});

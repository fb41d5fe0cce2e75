import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { McpHttpServer } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";

const inTerminal = test.skipIf(!hasTerminal());

/** A project with a server on HTTP that wants a login, and a browser whose user approves. */
async function project(): Promise<{ sandbox: Sandbox; fixture: McpHttpServer; env: Record<string, string> }> {
  const fixture = await McpHttpServer.start({ oauth: true });
  onTestFinished(() => fixture.close());
  const sandbox = new Sandbox();
  const packs = [
    "@agent/preset-default",
    ["@agent/tools-mcp", { servers: { docs: { url: fixture.url, enable: true } } }],
  ];
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  const browser = sandbox.write(
    "browser.mjs",
    `#!${process.execPath}
const page = await fetch(process.argv[2], { redirect: "manual" });
await fetch(page.headers.get("location"));
`,
  );
  chmodSync(browser, 0o755);
  return { sandbox, fixture, env: { BROWSER: browser } };
}

test("exits check without a login with 4 and the command to run, and login without a terminal too", async () => {
  const { sandbox } = await project();
  const checked = await sandbox.run(["mcp", "check", "--trust"]);
  expect(checked.code).toBe(4);
  expect(checked.stdout).toContain("Run in a terminal: agent mcp login docs");
  const refused = await sandbox.run(["mcp", "login", "docs"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("Run in one: agent mcp login docs");
});

inTerminal(
  "login opens the browser, keeps the login for the user alone, and tools work from then on",
  async () => {
    const { sandbox, env } = await project();
    const result = await sandbox.runInTerminal(["mcp", "login", "docs", "--trust"], [], env);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain("Logged in to docs: 10 tools.");
    const file = join(sandbox.home, ".config", "agent", "mcp-logins.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await sandbox.runInTerminal(["mcp", "login", "docs", "--json"], [], env);
    expect(again.stdout).toMatch(/\{\s+"v": 1,\s+"server": "docs",\s+"tools": 10\s+\}/);
    expect((await sandbox.run(["mcp", "update", "--yes"])).code).toBe(0);
    const called = await sandbox.run(["tool", "run", "mcp__docs__echo", "--args", '{"a":1}']);
    expect(called.stdout.trim()).toBe('{"a":1}');
    const removed = await sandbox.run(["mcp", "remove", "docs", "--json"]);
    expect(JSON.parse(removed.stdout)).toMatchObject({ hadLogin: true });
  },
);

inTerminal("Ctrl-C gives a login up, and --no-browser only prints the address", async () => {
  const { sandbox, fixture, env } = await project();
  const result = await sandbox.runInTerminal(
    ["mcp", "login", "docs", "--trust", "--no-browser"],
    [["Open this address to log in", "\u0003", ""]],
    env,
  );
  expect(result.code).toBe(130);
  expect(result.stdout).toContain("The login was cancelled.");
  expect(fixture.seen.authorizations).toEqual([]);
  expect(existsSync(join(sandbox.home, ".config", "agent", "mcp-logins.json"))).toBe(false);
});

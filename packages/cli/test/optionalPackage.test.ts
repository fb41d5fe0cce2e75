import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";

const LEFT_OUT = new Set(["@agent/acp", "@agent/tools-mcp"]);

/** A copy of the command next to which the packages it does not carry are missing. */
function commandAlone(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-alone-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const here = dirname(BIN);
  cpSync(BIN, join(root, "bin.js"));
  cpSync(join(here, "dist"), join(root, "dist"), { recursive: true });
  cpSync(join(here, "package.json"), join(root, "package.json"));
  const modules = join(here, "node_modules");
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  for (const name of names.filter((one) => !one.startsWith(".") && !LEFT_OUT.has(one))) {
    mkdirSync(dirname(join(root, "node_modules", name)), { recursive: true });
    symlinkSync(realpathSync(join(modules, name)), join(root, "node_modules", name));
  }
  return join(root, "bin.js");
}

test.each([
  [["acp"], "agent acp", "@agent/acp"],
  [["mcp", "list"], "agent mcp", "@agent/tools-mcp"],
  [["mcp", "add", "--yes", "node", "server.js"], "agent mcp", "@agent/tools-mcp"],
  [["mcp", "serve"], "agent mcp serve", "@agent/tools-mcp"],
])(
  "prints in one line of agent %j what to install if the package is missing",
  async (args, command, name) => {
    const { code, stdout, stderr } = await new Sandbox(commandAlone()).run(args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toBe(
      `agent: ${command} needs ${name}, which is not installed. Run: npm install --global ${name}\n`,
    );
  },
);

test("offers it in a terminal, and installs nothing after a no", async () => {
  const sandbox = new Sandbox(commandAlone());
  const { code, stdout } = await sandbox.runInTerminal(
    ["acp"],
    [["Install it with npm, for your user only?", "n"]],
  );
  expect(code).toBe(2);
  expect(stdout).toContain("Run: npm install --global @agent/acp");
  expect(existsSync(join(sandbox.project, "node_modules"))).toBe(false);
});

test("runs a package provided by a project only if the project is trusted", async () => {
  const sandbox = new Sandbox(commandAlone());
  sandbox.write(
    "node_modules/@agent/acp/package.json",
    '{"name":"@agent/acp","type":"module","main":"index.js"}',
  );
  sandbox.write(
    "node_modules/@agent/acp/index.js",
    'import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); export const serveAcp = () => {}; export const standardStream = () => {};',
  );
  sandbox.write("agent.config.json", '{"packs":["@agent/preset-default"],"enable":["run_bash"]}');
  expect((await sandbox.run(["acp"])).stderr).toContain("which is not installed");
  expect(existsSync(join(sandbox.project, "ran"))).toBe(false);
  expect((await sandbox.run(["acp", "--trust"])).code).toBe(0);
  expect(existsSync(join(sandbox.project, "ran"))).toBe(true);
});

/** Files of a package that says so in the working directory when it is loaded. */
function plantMcp(sandbox: Sandbox): void {
  const exports = { ".": "./index.js", "./manage": "./index.js", "./server": "./index.js" };
  const manifest = { name: "@agent/tools-mcp", type: "module", exports };
  sandbox.write("node_modules/@agent/tools-mcp/package.json", JSON.stringify(manifest));
  sandbox.write(
    "node_modules/@agent/tools-mcp/index.js",
    'import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); export const register = () => {};',
  );
}

test.each([
  [["mcp", "list"], "no config", undefined],
  [["mcp", "add", "--yes", "node", "server.js"], "no config", undefined],
  [["mcp", "check"], "a config that needs no trust", '{"readOnly":true}'],
  [["mcp", "serve"], "a config that needs no trust", '{"readOnly":true}'],
])("does not let agent %j run a package of the working directory with %s", async (args, _, config) => {
  const sandbox = new Sandbox(commandAlone());
  plantMcp(sandbox);
  if (config !== undefined) sandbox.write("agent.config.json", config);
  expect((await sandbox.run(args)).stderr).toContain("which is not installed");
  expect(existsSync(join(sandbox.project, "ran"))).toBe(false);
});

test("runs the package of a project with agent mcp only once its config is trusted", async () => {
  const sandbox = new Sandbox(commandAlone());
  plantMcp(sandbox);
  sandbox.write("agent.config.json", '{"packs":["@agent/preset-default"]}');
  expect((await sandbox.run(["mcp", "list"])).code).toBe(4);
  expect(existsSync(join(sandbox.project, "ran"))).toBe(false);
  await sandbox.run(["mcp", "list", "--trust"]);
  expect(existsSync(join(sandbox.project, "ran"))).toBe(true);
});

test("finds the package next to the link through which agent mcp was started, as with pnpm", async () => {
  const sandbox = new Sandbox(commandAlone());
  plantMcp(sandbox);
  const link = join(sandbox.project, "node_modules", "@agent", "cli");
  symlinkSync(dirname(sandbox.bin), link);
  const linked = new Sandbox(join(link, "bin.js"));
  await linked.run(["mcp", "list"]);
  expect(existsSync(join(linked.project, "ran"))).toBe(true);
});

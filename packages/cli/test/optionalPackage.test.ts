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

/** A copy of the command beside which the packages it does not carry are missing. */
function commandAlone(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-alone-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const here = dirname(dirname(BIN));
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
  return join(root, "dist", "bin.js");
}

test("without the package of acp one line says what to install", async () => {
  const { code, stdout, stderr } = await new Sandbox(commandAlone()).run(["acp"]);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toBe(
    "agent: agent acp needs @agent/acp, which is not installed. Run: npm install --global @agent/acp\n",
  );
});

test("in a terminal it is offered, and a no installs nothing", async () => {
  const sandbox = new Sandbox(commandAlone());
  const { code, stdout } = await sandbox.runInTerminal(["acp"], [["Install it with npm now?", "n"]]);
  expect(code).toBe(2);
  expect(stdout).toContain("Run: npm install --global @agent/acp");
  expect(existsSync(join(sandbox.project, "node_modules"))).toBe(false);
});

test("a package that a project brings runs only if the project is trusted", async () => {
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

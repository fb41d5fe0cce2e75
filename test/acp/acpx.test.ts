import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const execute = promisify(execFile);
const AGENT = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));
const MANIFEST = new URL("package.json", import.meta.url);
const modules = join(externalDirectory(MANIFEST), "node_modules");
// The client needs a newer Node than the agent.
const newerNode = join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
const isInstalled = isExternalInstalled(MANIFEST) && existsSync(newerNode);
const why = isInstalled ? "" : " (skipped: run `node test/acp/install.mjs` first)";

const home = realpathSync(mkdtempSync(join(tmpdir(), "agent-acpx-")));
const project = join(home, "project");
mkdirSync(join(project, ".git"), { recursive: true });
writeFileSync(
  join(project, "agent.config.json"),
  '{"packs":["@agent/preset-default"],"enable":["run_bash"]}',
);
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Message {
  readonly method?: string;
  readonly result?: { readonly stopReason?: string };
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any message
  readonly params?: any;
}

/** Lets the other project's client ask our command for something; all messages that went over the wire. */
async function ask(request: string, ...flags: readonly string[]): Promise<Message[]> {
  const agent = `${process.execPath} ${AGENT} acp --trust --provider offline`;
  const args = [
    join(modules, "acpx", "dist", "cli.js"),
    "--agent",
    agent,
    "--cwd",
    project,
    "--format",
    "json",
  ];
  const asked = execute(newerNode, [...args, ...flags, "exec", request], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home, AGENT_LOCAL_PORTS: "" },
    timeout: 60_000,
  });
  // It ends with its own code if a permission was denied.
  const { stdout } = await asked.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }));
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const methods = (messages: readonly Message[]) => messages.flatMap(({ method }) => method ?? []);

describe.skipIf(!isInstalled)(`with acpx, a client of another project${why}`, () => {
  test("reads a file through the client", async () => {
    writeFileSync(join(project, "a.txt"), "text of a\n");
    const messages = await ask("read a.txt", "--approve-reads");
    expect(methods(messages)).toContain("fs/read_text_file");
    expect(messages.at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
  });

  test("asks for a write with its difference and writes through the client", async () => {
    const messages = await ask('write "hello" to b.txt', "--approve-all");
    const asked = messages.find(({ method }) => method === "session/request_permission");
    const path = join(project, "b.txt");
    expect(asked?.params.toolCall.content).toEqual([{ type: "diff", path, newText: "hello" }]);
    expect(methods(messages)).toContain("fs/write_text_file");
    expect(readFileSync(path, "utf8")).toBe("hello");
  });

  test("does not run a call that the client rejects", async () => {
    const messages = await ask('write "hello" to c.txt', "--deny-all");
    expect(messages.at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(existsSync(join(project, "c.txt"))).toBe(false);
  });

  test("runs a command in a terminal of the client, and without one", async () => {
    const shown = await ask('run "echo hi; exit 3"', "--approve-all");
    expect(methods(shown)).toEqual(expect.arrayContaining(["terminal/create", "terminal/release"]));
    expect(JSON.stringify(shown)).toContain("exit code 3");
    const plain = await ask('run "echo hi"', "--approve-all", "--no-terminal", "--no-fs");
    expect(methods(plain)).not.toContain("terminal/create");
    expect(JSON.stringify(plain)).toContain("hi");
  });
});

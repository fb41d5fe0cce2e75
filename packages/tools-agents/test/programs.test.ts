import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, type AgentOptions, type ApprovalRequest, contentText } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as agents from "../src/index.js";

const FIXTURE = fileURLToPath(new URL("./fixtures/acpAgent.mjs", import.meta.url));
const COMMAND = `"${process.execPath}" "${FIXTURE}"`;

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "agent-acp-")));
  const before = process.cwd();
  process.chdir(project);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(project, { recursive: true, force: true });
  });
});

/** An agent whose model starts the program once, with this task. */
function starting(task: string, options: AgentOptions = {}, acp = COMMAND): Agent {
  const call = { calls: [{ name: "agent_run", args: { agent: "other", task } }] };
  const agent = new Agent(scriptedProvider([call, "Done."]), {
    packs: [[agents, { agents: { other: { description: "Another program.", acp } } }]],
    ...options,
  });
  onTestFinished(() => agent.dispose());
  return agent;
}

const resultOf = (agent: Agent): string =>
  contentText(agent.context.sessionContext.find(({ role }) => role === "tool")?.content ?? "");

describe("an agent of another program", () => {
  test("does a task, and its requests for permission become calls of ours", async () => {
    const asked: ApprovalRequest[] = [];
    const agent = starting("edit", {
      approve: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    await agent.chat("go");
    expect(resultOf(agent)).toBe("chose yes; key none");
    expect(existsSync(join(project, "out.txt"))).toBe(true);
    expect(asked.map(({ name }) => name)).toEqual(["agent_run", "agent_program", "agent_permission"]);
    expect(asked[2]).toMatchObject({
      args: { agent: "other", action: "Write out.txt", kind: "edit", input: { text: "x" } },
      capabilities: ["write", "execute"],
      description: {
        title: "other: Write out.txt",
        targets: [{ type: "file", path: join(project, "out.txt"), access: "write", open: true }],
      },
    });
  });

  test("gets a refusal for what is denied", async () => {
    const agent = starting("edit", {
      approve: ({ name }) => (name === "agent_permission" ? { deny: "no" } : "allow"),
    });
    await agent.chat("go");
    expect(resultOf(agent)).toBe("chose no; key none");
    expect(existsSync(join(project, "out.txt"))).toBe(false);
  });

  test("is not started without approval", async () => {
    const agent = starting("edit", {
      approve: ({ name }) => (name === "agent_program" ? { deny: "not this program" } : "allow"),
    });
    await agent.chat("go");
    expect(resultOf(agent)).toContain("not this program");
    expect(existsSync(join(project, "out.txt"))).toBe(false);
  });

  test("ends with the message, and so does what it started", async () => {
    const controller = new AbortController();
    const watcher = watch(project, () => {
      const file = join(project, "hanging");
      if (existsSync(file) && readFileSync(file, "utf8") !== "") controller.abort();
    });
    onTestFinished(() => watcher.close());
    const agent = starting("hang");
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    const pid = Number(readFileSync(join(project, "hanging"), "utf8"));
    await expect
      .poll(
        () => {
          try {
            process.kill(pid, 0);
            return "alive";
          } catch {
            return "gone";
          }
        },
        { timeout: 30_000 },
      )
      .toBe("gone");
  });

  test.each([
    ["crash", COMMAND, /ended with 3: out of luck/],
    ["edit", "no-such-program-here --acp", /cannot be started/],
    ["edit", `"${process.execPath}" -e "process.exit(0)"`, /ended with 0/],
  ])("causes an error if it fails (%s, %s)", async (task, command, message) => {
    const agent = starting(task, {}, command);
    await agent.chat("go");
    expect(resultOf(agent)).toMatch(message);
  });

  test("is refused in a definition without a prompt or a command", () => {
    const options = { agents: { other: { description: "x" } } };
    expect(() => new Agent(scriptedProvider([]), { packs: [[agents, options]] })).toThrow(
      /either a prompt or acp/,
    );
  });

  test("is never defined by a file of the project", async () => {
    const { parseDefinition } = await import("../src/definitionFiles.js");
    const text = `---\nname: other\ndescription: x\nacp: ${COMMAND}\n---\nYou are.`;
    expect(parseDefinition(text, "other", "here")).not.toHaveProperty("acp");
  });
});

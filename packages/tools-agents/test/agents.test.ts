import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type ApprovalRequest,
  type ChatProvider,
  type ChatRequest,
  contentText,
  defineTool,
  type PackRegistry,
  ToolRegistry,
} from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import * as agents from "../src/index.js";

const tool = (
  name: string,
  capability: "read" | "write",
  execute: () => Promise<string> | string = () => "ok",
) =>
  defineTool({
    name,
    description: name,
    input: { type: "object", properties: {} },
    capabilities: [capability],
    execute,
  });

const call = (name: string, args: object = {}) => ({ calls: [{ name, args }] });
const run = (agent: string, task = "do it", more: object = {}) => call("agent_run", { agent, task, ...more });

interface Setup extends AgentOptions {
  readonly options?: agents.AgentsOptions;
}

function agentWith(
  answers: readonly ScriptedAnswer[],
  { options = {}, packs = [], ...rest }: Setup = {},
): Agent {
  const agent = new Agent(scriptedProvider(answers), {
    packs: [[agents, options], tool("look", "read"), tool("save", "write"), ...packs],
    ...rest,
  });
  onTestFinished(() => agent.dispose());
  return agent;
}

const results = (agent: Agent): string[] =>
  agent.context.sessionContext.flatMap((message) =>
    message.role === "tool" ? [contentText(message.content)] : [],
  );

async function events(agent: Agent): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of agent.streamChat("go")) all.push(event);
  return all;
}

const idOf = (text: string | undefined): string => /\[agent (\S+):/.exec(text ?? "")?.[1] ?? "";

/** Each test has its own project. */
let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "agent-agents-"));
  const before = process.cwd();
  process.chdir(project);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(project, { recursive: true, force: true });
  });
});

function define(file: string, text: string): void {
  const path = join(project, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

describe("agent_run", () => {
  test("starts a child with its own conversation, and returns its answer with calls and tokens", async () => {
    const requests: ChatRequest[] = [];
    const agent = agentWith(
      [
        run("explore", "Find it.", { files: ["a.ts"] }),
        (request) => {
          requests.push(request);
          return call("look");
        },
        {
          content: "It is in a.ts.",
          toolCalls: [],
          finishReason: "stop",
          usage: { inputTokens: 90, outputTokens: 10 },
        },
        "Done.",
      ],
      { systemPrompt: "You are in /project." },
    );
    const all = await events(agent);
    const [text] = results(agent);
    expect(text).toMatch(
      /^It is in a\.ts\.\n\n\[agent explore-[0-9a-f]{8}: 1 call, 100 tokens\. agent_send continues it\.\]$/,
    );
    const [system, user] = requests[0]?.messages ?? [];
    expect(system?.content).toMatch(/^You are in \/project\.\n\nYou find out/);
    expect(user?.content).toBe("Find it.\n\nFiles to look at first:\n- a.ts");
    expect(requests[0]?.tools.map((one) => one.function.name)).toEqual(["look"]);
    expect(all.filter(({ type }) => type === "child")).toContainEqual(
      expect.objectContaining({ label: "explore" }),
    );
  });

  test("never gives a child more than its parent, nor tools that start agents", async () => {
    const offered: string[][] = [];
    const seen = (request: ChatRequest) => {
      offered.push(request.tools.map((one) => one.function.name));
      return "ok";
    };
    const agent = agentWith([run("worker"), seen, run("both"), seen, "Done."], {
      options: { agents: { both: { description: "x", prompt: "x", tools: ["look", "save", "agent_run"] } } },
      disable: ["save"],
    });
    await agent.chat("go");
    expect(offered).toEqual([["save_session_context", "look"], ["look"]]);
  });

  test("names an unknown agent, tool or model", async () => {
    const agent = agentWith([run("exploer"), run("typo"), run("cheap"), "Done."], {
      options: {
        agents: {
          typo: { description: "x", prompt: "x", tools: ["loook"] },
          cheap: { description: "x", prompt: "x", model: "tiny-1" },
        },
      },
    });
    await agent.chat("go");
    const [unknown, noTool, noModel] = results(agent);
    expect(unknown).toContain('there is no agent "exploer"');
    expect(unknown).toContain("explore");
    expect(noTool).toContain('names the tool "loook"');
    expect(noModel).toContain('"tiny-1"');
  });

  test("uses the model, effort and turns of the definition", async () => {
    const other = scriptedProvider([call("look"), call("look"), call("look")]);
    const efforts: unknown[] = [];
    const agent = agentWith([run("cheap"), "Done."], {
      options: {
        agents: { cheap: { description: "x", prompt: "x", model: "tiny-1", effort: "low", maxTurns: 2 } },
      },
      resolveModel: (name) =>
        name === "tiny-1"
          ? {
              ...other,
              respond: (request) => {
                efforts.push(request.effort);
                return other.respond(request);
              },
            }
          : undefined,
    });
    await agent.chat("go");
    expect(efforts).toEqual(["low", "low"]);
    expect(results(agent)[0]).toContain("Stopped after 2 turns");
  });

  test("runs agents at the same time that read and use the network", async () => {
    let running = 0;
    const together = async () => {
      running++;
      await vi.waitFor(() => expect(running).toBe(2), { timeout: 60_000 });
      return "ok";
    };
    const call = { name: "agent_run", args: { agent: "research", task: "x" } };
    const agent = agentWith([{ calls: [call, call] }, together, together, "Done."], {
      packs: [
        defineTool({
          ...{ name: "fetch", description: "x", input: { type: "object", properties: {} } },
          capabilities: ["network"],
          execute: () => "ok",
        }),
      ],
      options: { agents: { research: { description: "x", prompt: "x", tools: ["look", "fetch"] } } },
    });
    await agent.chat("go");
    expect(results(agent)).toEqual([expect.stringMatching(/^ok\n/), expect.stringMatching(/^ok\n/)]);
  });

  test("refuses a name in the options that cannot be part of an id", () => {
    const options = { agents: { "../my agent": { description: "x", prompt: "x" } } };
    expect(() => agentWith([], { options })).toThrow('"../my agent" needs another name');
  });

  test("runs readers at the same time, and those that write one after the other", async () => {
    let running = 0;
    const most = { reading: 0, writing: 0 };
    const track = (kind: keyof typeof most) => async () => {
      most[kind] = Math.max(most[kind], ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return "ok";
    };
    const waits = async (request: ChatRequest): Promise<ScriptedAnswer> => {
      const isReader = !request.tools.some((one) => one.function.name === "save");
      await track(isReader ? "reading" : "writing")();
      return "ok";
    };
    const twice = (agent: string) => ({
      calls: [1, 2, 3].map(() => ({ name: "agent_run", args: { agent, task: "x" } })),
    });
    const agent = agentWith([
      twice("explore"),
      waits,
      waits,
      waits,
      twice("worker"),
      waits,
      waits,
      waits,
      "Done.",
    ]);
    await agent.chat("go");
    expect(most.reading).toBeGreaterThan(1);
    expect(most.writing).toBe(1);
  });

  test("asks about calls of children in the same place, with the child's name", async () => {
    const asked: ApprovalRequest[] = [];
    const agent = agentWith([run("worker"), call("save"), "refused", "Done."], {
      approve: (request) => {
        asked.push(request);
        return request.name === "save" ? { deny: "not now" } : "allow";
      },
    });
    const all = await events(agent);
    expect(asked.map(({ name, label }) => [name, label])).toEqual([
      ["agent_run", undefined],
      ["save", "worker"],
    ]);
    expect(all).toContainEqual(
      expect.objectContaining({
        type: "child",
        event: expect.objectContaining({ type: "tool_end", outcome: "denied" }),
      }),
    );
  });

  test("ends children and what they run when the message is aborted", async () => {
    const controller = new AbortController();
    const stopped = vi.fn();
    const hang = defineTool({
      name: "hang",
      description: "Waits.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: (_input, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => {
            stopped();
            resolve("");
          });
          controller.abort();
        }),
    });
    const agent = agentWith([run("explore"), call("hang")], { packs: [hang] });
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(stopped).toHaveBeenCalledOnce();
  });

  test("bounds the answer of a child", async () => {
    const agent = agentWith([run("explore"), "x".repeat(100_000), "Done."], { options: { maxResult: 1000 } });
    await agent.chat("go");
    expect(results(agent)[0]?.length).toBeLessThan(1300);
  });

  test("starts agents that packs define, also packs that are registered later", async () => {
    const pack = {
      packName: "reviews",
      register(registry: PackRegistry) {
        registry.provide?.({
          agents: [
            { name: "reviewer", description: "Reviews code.", systemPrompt: "You review.", tools: ["look"] },
          ],
        });
      },
    };
    const prompts: unknown[] = [];
    let description = "";
    const agent = agentWith(
      [
        (request) => {
          description =
            request.tools.find((one) => one.function.name === "agent_run")?.function.description ?? "";
          return run("reviewer");
        },
        (request) => {
          prompts.push(request.messages[0]?.content);
          return "fine";
        },
        "Done.",
      ],
      { packs: [pack] },
    );
    await agent.chat("go");
    expect(description).toContain("- reviewer: Reviews code.");
    expect(prompts).toEqual(["You review."]);
  });
});

describe("agent_send", () => {
  test("continues a child with its conversation", async () => {
    const seen: ChatRequest[] = [];
    let id = "";
    const agent = agentWith([
      run("explore", "Find it."),
      call("look"),
      "Found.",
      ({ messages }) => {
        id = idOf(contentText(messages.at(-1)?.content ?? ""));
        return call("agent_send", { id, message: "And the test?" });
      },
      (request) => {
        seen.push(request);
        return "In b.test.ts.";
      },
      "Done.",
    ]);
    await agent.chat("go");
    expect(seen[0]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(results(agent)[1]).toContain(`In b.test.ts.\n\n[agent ${id}: 0 calls`);
  });

  test("continues a child in another process, from a private file", async () => {
    const directories = { project: join(project, "kept") };
    const first = agentWith([run("explore"), "Found.", "Done."], { directories });
    await first.chat("go");
    const [file = ""] = readdirSync(directories.project, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".json"))
      .map((path) => basename(path));
    const second = agentWith(
      [call("agent_send", { id: file.replace(".json", ""), message: "More." }), "More found.", "Done."],
      { directories },
    );
    await second.chat("go");
    expect(results(second)[0]).toContain("More found.");
  });

  test("continues a child that failed, whose work is kept", async () => {
    let continued: ChatRequest | undefined;
    const agent = agentWith(
      [
        run("short"),
        call("look"),
        ({ messages }) => {
          const id = idOf(contentText(messages.at(-1)?.content ?? ""));
          return call("agent_send", { id, message: "Answer now." });
        },
        (request) => {
          continued = request;
          return "Found.";
        },
        "Done.",
      ],
      { options: { agents: { short: { description: "x", prompt: "x", maxTurns: 1 } } } },
    );
    await agent.chat("go");
    expect(results(agent)[0]).toMatch(
      /Stopped after 1 turns .*\[agent short-\w+: agent_send continues it\.\]$/,
    );
    expect(continued?.messages.map(({ role }) => role)).toEqual([
      ...["system", "user", "assistant", "tool", "user"],
    ]);
    expect(results(agent)[1]).toContain("Found.");
  });

  test("continues a child that the user has interrupted", async () => {
    const controller = new AbortController();
    const slow = defineTool({
      name: "slow",
      description: "Waits.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: (_input, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => resolve("half"));
          controller.abort();
        }),
    });
    let continued: ChatRequest | undefined;
    const agent = agentWith(
      [
        run("explore"),
        call("slow"),
        ({ messages }) => {
          const result = messages.findLast(({ role }) => role === "tool");
          return call("agent_send", { id: idOf(contentText(result?.content ?? "")), message: "Continue." });
        },
        (request) => {
          continued = request;
          return "Found.";
        },
        "Done.",
      ],
      { packs: [slow] },
    );
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    await agent.settled();
    expect(results(agent)[0]).toMatch(/^Aborted\. \[agent explore-\w+: agent_send continues it\.\]$/);
    await agent.chat("continue");
    expect(continued?.messages.map(({ role }) => role)).toEqual([
      ...["system", "user", "assistant", "tool", "user"],
    ]);
    expect(results(agent)[1]).toContain("Found.");
  });

  test("refuses a second message while the agent answers one", async () => {
    let id = "";
    const agent = agentWith([
      run("explore", "Find it."),
      "Found.",
      ({ messages }) => {
        id = idOf(contentText(messages.at(-1)?.content ?? ""));
        const send = (message: string) => ({ name: "agent_send", args: { id, message } });
        return { calls: [send("one"), send("two")] };
      },
      "Answer.",
      call("agent_send", { id: "x", message: "x" }),
      "Done.",
    ]);
    await agent.chat("go");
    expect(results(agent).slice(1, 3).sort()).toEqual([
      expect.stringContaining("Answer."),
      expect.stringContaining("is answering another message. Send one after the other."),
    ]);
  });

  test.each(["explore-00000000", "../../etc/passwd", "", "x".repeat(5000)])(
    "refuses the id %s",
    async (id) => {
      const agent = agentWith([call("agent_send", { id, message: "x" }), "Done."]);
      await agent.chat("go");
      expect(results(agent)[0]).toMatch(/to continue/);
    },
  );
});

describe("definitions in files", () => {
  const FILE = `---
name: reviewer
description: Reviews changes.
tools: [look]
effort: high
maxTurns: 5
---
You review changes.
`;

  async function listed(): Promise<{ text: string; problems: string }> {
    let text = "";
    const agent = agentWith([
      ({ tools }) => {
        text = tools.find((one) => one.function.name === "agent_run")?.function.description ?? "";
        return "Done.";
      },
    ]);
    await agent.chat("go");
    const found = await agent.registry.services.diagnose();
    return { text, problems: found.map(({ detail }) => detail).join("\n") };
  }

  test.each([".agents/agents", ".agent/agents", ".claude/agents"])("are read from %s", async (directory) => {
    define(`${directory}/reviewer.md`, FILE);
    expect((await listed()).text).toContain("- reviewer: Reviews changes.");
  });

  test.each([
    ["a BOM", `\uFEFF${FILE}`],
    ["CRLF", FILE.replaceAll("\n", "\r\n")],
    ["a BOM and CRLF", `\uFEFF${FILE.replaceAll("\n", "\r\n")}`],
    [
      "quotes and lists",
      FILE.replace("Reviews changes.", '"Reviews changes."').replace("[look]", "\n  - look"),
    ],
    ["a folded text", FILE.replace("Reviews changes.", ">\n  Reviews\n  changes.")],
    [
      "comments",
      FILE.replace("name: reviewer", "name: reviewer # it reviews")
        .replace("[look]", "[look] # only looks")
        .replace("high", "high # thorough"),
    ],
    ["a list on several lines", FILE.replace("[look]", "[\n  look, # looks\n  save,\n]")],
    ["no name", FILE.replace("name: reviewer\n", "")],
    ["unknown keys", FILE.replace("effort", "color: red\neffort")],
  ])("may have %s", async (_name, text) => {
    define(".agents/agents/reviewer.md", text);
    expect((await listed()).text).toContain("- reviewer: Reviews changes.");
  });

  test.each([
    ["no front matter", "You review.", "no front matter"],
    ["an open front matter", "---\nname: x", "no front matter"],
    ["no description", "---\nname: reviewer\n---\nx", "no description"],
    ["no text", "---\nname: reviewer\ndescription: x\n---\n", "no text"],
    ["a bad name", FILE.replace("reviewer", "../x"), "is not a name"],
    ["a bad effort", FILE.replace("high", "huge"), "is not an effort"],
    ["bad turns", FILE.replace("5", "-1"), "maxTurns"],
    ["10 MB", FILE + "x".repeat(10 * 1024 * 1024), "more than 131072"],
    ["binary content", `${FILE}\0`, "binary"],
    ["the name of a built-in agent", FILE.replace("reviewer", "explore"), "is built in"],
  ])("are refused with %s, and the others are used", async (_name, text, problem) => {
    define(".agents/agents/a.md", text);
    define(".agents/agents/other.md", FILE.replace("reviewer", "other"));
    const { text: description, problems } = await listed();
    expect(problems).toContain(problem);
    expect(description).toContain("- other:");
    expect(description).not.toContain("- reviewer:");
    expect(description).toContain("- explore: Finds things out");
  });

  test("are used once if two have the same name, the first place first", async () => {
    define(".agents/agents/reviewer.md", FILE);
    define(".claude/agents/reviewer.md", FILE.replace("Reviews changes.", "Other."));
    const { text, problems } = await listed();
    expect(text).toContain("Reviews changes.");
    expect(text).not.toContain("Other.");
    expect(problems).toContain("is defined by");
  });

  test("name tools the way another program does", async () => {
    define(
      ".claude/agents/reader.md",
      "---\ndescription: Reads.\ntools: Read, look\nmodel: inherit\n---\nYou read.",
    );
    const offered: string[][] = [];
    const agent = agentWith(
      [
        run("reader"),
        ({ tools }) => {
          offered.push(tools.map((one) => one.function.name));
          return "ok";
        },
        "Done.",
      ],
      { packs: [tool("read_file", "read")] },
    );
    await agent.chat("go");
    expect(offered).toEqual([["look", "read_file"]]);
  });

  test("leave out tools and models of another program that have no equivalent, and those it may not use", async () => {
    define(
      ".claude/agents/writer.md",
      "---\ndescription: Writes.\ntools: Read, TodoWrite, WebFetch, MultiEdit, look\ndisallowedTools: Edit\nmodel: sonnet\n---\nx",
    );
    define(".claude/agents/quick.md", "---\ndescription: Is quick.\nmodel: haiku\n---\nx");
    define(".claude/agents/todo.md", "---\ndescription: Plans.\ntools: TodoWrite\n---\nx");
    const offered: string[][] = [];
    const seen = (request: ChatRequest) => {
      offered.push(request.tools.map((one) => one.function.name));
      return "ok";
    };
    const small: ChatProvider = {
      model: "small",
      respond: async () => ({ content: "from the small model", toolCalls: [], finishReason: "stop" }),
    };
    const agent = agentWith([run("writer"), seen, run("quick"), run("todo"), "Done."], {
      packs: [tool("read_file", "read"), tool("edit_file", "write")],
      smallModel: small,
    });
    await agent.chat("go");
    expect(offered).toEqual([["look", "read_file"]]);
    expect(results(agent)[1]).toContain("from the small model");
    expect(results(agent)[2]).toContain("has no tool that is on");
  });

  test.each([
    ["Edit", ["look", "mcp__git__log", "run_bash"]],
    ["Bash(rm *), Edit", ["look", "mcp__git__log"]],
    ["mcp__git, Bash", ["edit_file", "look"]],
    ["mcp__*, run_*, Edit", ["look"]],
  ])("may not use the disallowed tools %s", async (disallowed, left) => {
    define(
      ".claude/agents/less.md",
      `---\ndescription: x\ntools: Bash, Edit, look, mcp__git__log\ndisallowedTools: ${disallowed}\n---\nx`,
    );
    let offered: string[] = [];
    const seen = ({ tools }: ChatRequest) => {
      offered = tools.map((one) => one.function.name);
      return "ok";
    };
    const agent = agentWith([run("less"), seen, "Done."], {
      packs: [tool("edit_file", "write"), tool("run_bash", "write"), tool("mcp__git__log", "read")],
    });
    await agent.chat("go");
    expect(offered.sort()).toEqual(left);
  });

  test("are read from the directories in the options, before those of the project", async () => {
    define("mine/reviewer.md", FILE.replace("Reviews changes.", "Mine."));
    define("mine/explore.md", FILE.replace("reviewer", "explore"));
    define(".agents/agents/reviewer.md", FILE);
    let text = "";
    const agent = agentWith(
      [
        ({ tools }) => {
          text = tools.find((one) => one.function.name === "agent_run")?.function.description ?? "";
          return "Done.";
        },
      ],
      // The directories of the user are no files of the project.
      { options: { directories: ["mine", "missing"] }, host: { usesInstructions: () => false } },
    );
    await agent.chat("go");
    expect(text).toContain("- reviewer: Mine.");
    expect(text).toContain("- explore: Finds things out");
  });

  test("are left alone with projectAgents: false", async () => {
    define(".agents/agents/reviewer.md", FILE);
    const agent = agentWith([run("reviewer"), "Done."], { options: { projectAgents: false } });
    await agent.chat("go");
    expect(results(agent)[0]).toContain('there is no agent "reviewer"');
  });
});

describe("isolation", () => {
  const openWorktree = (opened: string[]) => async (name: string) => {
    opened.push(name);
    const registry = new ToolRegistry();
    for (const one of [tool("look", "read", () => "in the tree"), tool("save", "write", () => "in the tree")])
      registry.register(one);
    const close = async () => ({ isKept: true, summary: `Kept ${name}.` });
    return { directory: `/trees/${name}`, registry, close, systemPrompt: "You are in the tree." };
  };

  test("gives a child its own work tree under its id, by the argument or the definition, and agent_send opens it again", async () => {
    define(".agents/agents/own.md", "---\ndescription: Works apart.\nisolation: worktree\n---\nWork.\n");
    const opened: string[] = [];
    let prompt: unknown;
    const agent = agentWith(
      [
        run("worker", "do it", { isolation: "worktree" }),
        (request) => {
          prompt = request.messages[0]?.content;
          return call("save");
        },
        "Saved.",
        run("own"),
        call("save"),
        "Saved.",
        () => call("agent_send", { id: opened[1], message: "again" }),
        "Again.",
        "Done.",
      ],
      { openWorktree: openWorktree(opened), systemPrompt: "You are in the project." },
    );
    await agent.chat("go");
    expect(prompt).toMatch(/^You are in the tree\.\n\nYou do one task/);
    expect(opened.map((name) => name.replace(/-\w+$/, ""))).toEqual(["worker", "own", "own"]);
    expect(opened[2]).toBe(opened[1]);
    expect(results(agent).map((text) => text.split("\n").at(-1))).toEqual(
      opened.map((name) => `[Kept ${name}.]`),
    );
  });

  test("runs agents that write at the same time if each has its own work tree", async () => {
    const starts: number[] = [];
    let running = 0;
    let most = 0;
    const agent = agentWith(
      [
        {
          calls: [1, 2, 3].map(() => ({
            name: "agent_run",
            args: { agent: "worker", task: "x", isolation: "worktree" },
          })),
        },
        ...[1, 2, 3].map(() => async () => {
          most = Math.max(most, ++running);
          starts.push(running);
          await vi.waitFor(() => expect(starts).toHaveLength(3));
          running--;
          return "ok";
        }),
        "Done.",
      ],
      { openWorktree: openWorktree([]) },
    );
    await agent.chat("go");
    expect(most).toBe(3);
  });

  test("is not offered where the host has no work trees, and a definition with it is refused with the reason", async () => {
    define(".agents/agents/own.md", "---\ndescription: Works apart.\nisolation: worktree\n---\nWork.\n");
    define(".agents/agents/wrong.md", "---\ndescription: x\nisolation: container\n---\nWork.\n");
    const agent = agentWith([run("own"), run("worker", "x", { isolation: "worktree" }), "Done."]);
    await agent.chat("go");
    const [refused, unknown] = results(agent);
    expect(refused).toMatch(
      /the agent "own" \(.*own\.md\) works in its own git work tree, and this program cannot/,
    );
    expect(unknown).toContain("isolation");
    expect(JSON.stringify(agent.getTools())).not.toContain("worktree");
    const [{ detail } = { detail: "" }] = await agent.registry.services.diagnose();
    expect(detail).toContain('isolation can only be "worktree", got "container"');
  });

  test("is refused for an agent of another program", async () => {
    const agent = agentWith([run("other", "x", { isolation: "worktree" }), "Done."], {
      options: { agents: { other: { description: "x", acp: "other --acp" } } },
      openWorktree: openWorktree([]),
    });
    await agent.chat("go");
    expect(results(agent)[0]).toContain("an agent of another program cannot have its own work tree");
  });
});

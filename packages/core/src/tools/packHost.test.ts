import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deferred, fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { AgentOptions } from "../agentOptions.js";
import { Conversation } from "../conversation/conversation.js";
import { recordSession } from "../conversation/recorder.js";
import { loadSession } from "../conversation/session.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "../providers/interface.js";
import { type ScriptedAnswer, scriptedProvider } from "../providers/replay.js";
import type { ToolResult } from "./execution.js";
import type { PackHost, PackServices, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";
import type { ExecutableTool } from "./tool.js";

/** A pack that keeps its host and registers these tools and services. */
function packWith(
  name: string,
  { tools = [], services }: { tools?: readonly ExecutableTool[]; services?: PackServices } = {},
): ToolPack & { host?: PackHost } {
  const pack: ToolPack & { host?: PackHost } = {
    packName: name,
    register: (registry, host) => {
      if (host) pack.host = host;
      for (const tool of tools) registry.register(tool);
      if (services) registry.provide?.(services);
    },
  };
  return pack;
}

const agentOf = (
  answers: readonly ScriptedAnswer[],
  packs: readonly ToolPack[],
  options: AgentOptions = {},
) => new Agent(scriptedProvider(answers), { packs: [...packs], ...options });

const calls = (...names: string[]): ScriptedAnswer => ({ calls: names.map((name) => ({ name })) });

/** The system prompt of every request, and the answers in between. */
function recordPrompts(answers: readonly ScriptedAnswer[]) {
  const requests: ChatRequest[] = [];
  const answering = answers.map(
    (answer): ScriptedAnswer =>
      (request) => {
        requests.push(request);
        return answer;
      },
  );
  return { requests, answering };
}

describe("host.model", () => {
  test("follows the provider to another model", () => {
    const pack = packWith("@x/watch");
    let model = "small";
    const provider: ChatProvider = {
      id: "acme",
      get model() {
        return model;
      },
      contextTokens: 1000,
      respond: async () => ({ content: "", toolCalls: [], finishReason: "stop" }),
    };
    new Agent(provider, { packs: [pack] });
    expect({ ...pack.host?.model }).toEqual({ provider: "acme", id: "small", contextTokens: 1000 });
    model = "large";
    expect(pack.host?.model?.id).toBe("large");
  });

  test("is absent in a registry without an agent", () => {
    const pack = packWith("@x/watch");
    registerPack({ register: () => undefined } as never, pack, { context: new Conversation() });
    expect(pack.host?.model).toBeUndefined();
    expect(pack.host?.state).toBeDefined();
  });
});

describe("the model of a child agent", () => {
  const delegate = (model: string) =>
    fakeTool("delegate", async (_args, call) => (await call?.startAgent?.({ message: "Go.", model }))?.text);

  test("is resolved by the host", async () => {
    const pack = packWith("@x/agents", { tools: [delegate("fast")] });
    const agent = agentOf([calls("delegate"), "Done."], [pack], {
      resolveModel: (name) => (name === "fast" ? scriptedProvider(["From the fast model."]) : undefined),
    });
    await agent.chat("Go.");
    expect(agent.conversation.sessionContext[2]).toMatchObject({ content: "From the fast model." });
    await expect(pack.host?.resolveModel?.("fast")).resolves.toMatchObject({ id: "scripted" });
    await expect(pack.host?.resolveModel?.("slow")).rejects.toThrow('There is no model "slow".');
  });

  test.each([
    [undefined, 'The model "slow" cannot be used: this program offers only its own model.'],
    [() => undefined, 'There is no model "slow".'],
    [
      () => {
        throw new Error("the server is off");
      },
      'The model "slow" cannot be used: the server is off',
    ],
    [() => ({}) as never, 'There is no model "slow".'],
  ])("is refused with its name if the host has none", async (resolveModel, problem) => {
    const pack = packWith("@x/agents", { tools: [delegate("slow")] });
    const agent = agentOf([calls("delegate"), "Done."], [pack], { ...(resolveModel && { resolveModel }) });
    await agent.chat("Go.");
    expect(agent.conversation.sessionContext[2]?.content).toContain(problem);
    if (!resolveModel) expect(pack.host?.resolveModel).toBeUndefined();
  });

  test("runs a limited number of children at the same time", async () => {
    let running = 0;
    let most = 0;
    const started = deferred();
    const goOn = deferred();
    const child: ChatProvider = {
      respond: async () => {
        running++;
        most = Math.max(most, running);
        if (running === 2) started.resolve();
        await goOn.promise;
        running--;
        return { content: "ok", toolCalls: [], finishReason: "stop" };
      },
    };
    const many = fakeTool("many", async (_args, call) => {
      const work = Array.from({ length: 6 }, () => call?.startAgent?.({ message: "Go.", model: "child" }));
      await started.promise;
      goOn.resolve();
      return (await Promise.all(work)).map((one) => one?.text).join(" ");
    });
    const agent = agentOf([calls("many"), "Done."], [packWith("@x/many", { tools: [many] })], {
      resolveModel: () => child,
      maxConcurrentChildren: 2,
    });
    await agent.chat("Go.");
    expect(agent.conversation.sessionContext[2]?.content).toBe("ok ok ok ok ok ok");
    expect(most).toBe(2);
  });
});

describe("host.state", () => {
  test("belongs to the pack, also inside a preset", () => {
    const inner = packWith("@x/inner");
    const preset = packWith("@x/preset");
    const outer: ToolPack = {
      packName: "@x/preset",
      register: (registry, host) => {
        preset.register(registry, host);
        registerPack(registry, inner, host);
      },
    };
    agentOf([], [outer]);
    inner.host?.state?.set({ n: 1 });
    preset.host?.state?.set({ n: 2 });
    expect(inner.host?.state?.get()).toEqual({ n: 1 });
    expect(preset.host?.state?.get()).toEqual({ n: 2 });
  });

  test("is absent for a pack without a name", () => {
    let host: PackHost | undefined;
    const unnamed: ToolPack = {
      register: (_registry, given) => {
        host = given;
      },
    };
    agentOf([], [unnamed]);
    expect(host).toBeDefined();
    expect(host?.state).toBeUndefined();
  });

  test("gives copies: a change of one has no effect", () => {
    const pack = packWith("@x/plan");
    agentOf([], [pack]);
    const value = { steps: ["a"] };
    pack.host?.state?.set(value);
    value.steps.push("b");
    const copy = pack.host?.state?.get() as typeof value;
    copy.steps.push("c");
    expect(pack.host?.state?.get()).toEqual({ steps: ["a"] });
  });

  test("refuses 65 KB and what is not JSON, and keeps what it has", () => {
    const pack = packWith("@x/plan");
    agentOf([], [pack]);
    const { state } = pack.host ?? {};
    state?.set("kept");
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(() => state?.set("x".repeat(65 * 1024))).toThrow(
      'The state of pack "@x/plan" was not changed: it is 66562 bytes of JSON, and at most 65536 are kept.',
    );
    expect(() => state?.set(cyclic)).toThrow("cannot be written as JSON");
    expect(() => state?.set(() => 1)).toThrow("it must be a JSON value, got function");
    expect(() => state?.set(1n)).toThrow("cannot be written as JSON");
    expect(state?.get()).toBe("kept");
    state?.set("x".repeat(64 * 1024 - 2));
    state?.set(undefined);
    expect(state?.get()).toBeUndefined();
  });

  const counting = () => {
    const pack: ReturnType<typeof packWith> = packWith("@x/count", {
      tools: [
        fakeTool("count", () => {
          const next = ((pack.host?.state?.get() as number | undefined) ?? 0) + 1;
          pack.host?.state?.set(next);
          return `${next}`;
        }),
      ],
    });
    return pack;
  };

  test("is stored with the session, copied with it and rewound with it", async () => {
    const directory = temporaryDirectory();
    const pack = counting();
    const agent = agentOf([calls("count"), "One.", calls("count"), "Two."], [pack]);
    const recorder = recordSession(agent.conversation, join(directory, "a.jsonl"));
    await agent.chat("Count.");
    const { length } = agent.conversation.sessionContext;
    await agent.chat("Count.");
    await recorder.close();
    const stateOf = async (file: string): Promise<unknown> =>
      new Conversation({ session: await loadSession(join(directory, file)) }).packState("@x/count").get();
    expect(await stateOf("a.jsonl")).toBe(2);
    const fork = recordSession(agent.conversation, join(directory, "b.jsonl"));
    // Rewind to before the second message.
    agent.conversation.replace(length, agent.conversation.sessionContext.length - length, []);
    await fork.close();
    expect(pack.host?.state?.get()).toBe(1);
    expect(await stateOf("b.jsonl")).toBe(1);
    expect(await stateOf("a.jsonl")).toBe(2);
    const resumed = new Conversation({ session: await loadSession(join(directory, "a.jsonl")) });
    resumed.replace(length, resumed.sessionContext.length - length, []);
    expect(resumed.packState("@x/count").get()).toBe(1);
    agent.conversation.switchTo(await loadSession(join(directory, "a.jsonl")));
    expect(pack.host?.state?.get()).toBe(2);
    agent.clearContext();
    expect(pack.host?.state?.get()).toBeUndefined();
  });

  test("keeps its place when older messages are replaced by a summary", async () => {
    const pack = counting();
    const agent = agentOf([calls("count"), "One.", calls("count"), "Two."], [pack]);
    await agent.chat("Count.");
    await agent.chat("Count.");
    agent.conversation.replace(1, 5, [{ role: "user", content: "[Summary]" }]);
    const { length } = agent.conversation.sessionContext;
    expect(pack.host?.state?.get()).toBe(2);
    agent.conversation.replace(length - 1, 1, []);
    expect(pack.host?.state?.get()).toBe(2);
    agent.conversation.replace(0, length - 1, []);
    expect(pack.host?.state?.get()).toBeUndefined();
  });

  test("comes back when a journal replays the calls that set it", async () => {
    const recorded = new Map<string, string>();
    const step = async <T>(key: string, run: () => Promise<T>): Promise<T> => {
      const known = recorded.get(key);
      if (known !== undefined) return JSON.parse(known) as T;
      const value = await run();
      recorded.set(key, JSON.stringify(value));
      return value;
    };
    const steps = {
      answer: (key: { turn: number }, ask: () => Promise<ChatResponse>) => step(`a${key.turn}`, ask),
      call: (key: { callId: string; turn: number }, run: () => Promise<ToolResult>) =>
        step(`c${key.turn}${key.callId}`, run),
    };
    const first = agentOf([calls("count", "count"), calls("count"), "Done."], [counting()], { steps });
    await first.chat("Count.");
    const pack = counting();
    const again = agentOf([], [pack], { steps });
    await again.chat("Count.");
    expect(pack.host?.state?.get()).toBe(3);
  });
});

describe("host.directories", () => {
  test("has a directory for each pack, whatever its name", () => {
    const packs = ["@x/memory", "..", "../../etc"].map((name) => packWith(name));
    agentOf([], packs, { directories: { project: "/state/project", user: "/state/user" } });
    expect(packs.map(({ host }) => host?.directories?.project)).toEqual([
      "/state/project/%40x%2Fmemory",
      "/state/project/%2E.",
      "/state/project/%2E.%2F..%2Fetc",
    ]);
    expect(packs[0]?.host?.directories?.user).toBe("/state/user/%40x%2Fmemory");
  });

  test("is absent if the host has no place", () => {
    const pack = packWith("@x/memory");
    agentOf([], [pack]);
    expect(pack.host?.directories).toBeUndefined();
  });
});

describe("what a pack adds to the prompt", () => {
  test("is read when a message starts and stays until it ends", async () => {
    let text = "first";
    const pack = packWith("@x/memory", {
      tools: [
        fakeTool("learn", () => {
          text = "second";
          return "ok";
        }),
      ],
      services: { prompt: () => ({ title: "Memory", text }) },
    });
    const { requests, answering } = recordPrompts([calls("learn"), "Done.", "Done."]);
    const agent = agentOf(answering, [pack], { systemPrompt: "Be brief." });
    await agent.chat("Go.");
    await agent.chat("Go.");
    expect(requests.map(({ messages }) => messages[0]?.content)).toEqual([
      "Be brief.\n\n# Memory\nfirst",
      "Be brief.\n\n# Memory\nfirst",
      "Be brief.\n\n# Memory\nsecond",
    ]);
    expect(agent.conversation.systemPrompt).toBe("Be brief.");
  });

  test("is cut at 2,000 tokens; a pack that fails is left out with a notice", async () => {
    const long = packWith("@x/long", {
      services: { prompt: () => ({ title: "L", text: "x".repeat(9000) }) },
    });
    const broken = packWith("@x/broken", {
      services: {
        prompt: () => {
          throw new Error("no file");
        },
      },
    });
    const lying = packWith("@x/lying", { services: { prompt: () => "text" as never } });
    const silent = packWith("@x/silent", { services: { prompt: () => undefined } });
    const agent = agentOf(["Done."], [broken, lying, silent, long]);
    expect(agent.registry.services.prompts()).toMatchObject([
      { source: "@x/long", tokens: 2000, isCut: true },
    ]);
    const notices: string[] = [];
    for await (const event of agent.streamChat("Go.")) if (event.type === "notice") notices.push(event.text);
    expect(notices).toEqual([
      'The prompt text of pack "@x/broken" is left out: no file',
      'The prompt text of pack "@x/lying" is left out: it must return { title, text } or undefined',
    ]);
  });
});

describe("skills and agents of packs", () => {
  const skill = (name: string, file = `/packs/${name}/SKILL.md`) => ({ name, description: "Use it.", file });

  test("are listed for the model and for tools", async () => {
    const pack = packWith("@x/skills", {
      services: {
        skills: [skill("release-notes")],
        agents: [{ name: "reviewer", description: "Reviews.", systemPrompt: "You review." }],
      },
    });
    const reader = packWith("@x/agents");
    const { requests, answering } = recordPrompts(["Done."]);
    const agent = agentOf(answering, [reader, pack]);
    await agent.chat("Go.");
    expect(requests[0]?.messages[0]?.content).toContain(
      "- release-notes: Use it. (/packs/release-notes/SKILL.md)",
    );
    expect(reader.host?.agents?.().map(({ name }) => name)).toEqual(["reviewer"]);
  });

  test("name both packs if two have the same name", () => {
    const agent = agentOf(
      [],
      [
        packWith("@x/one", { services: { skills: [skill("notes", "/one/SKILL.md")] } }),
        packWith("@x/two", { services: { skills: [skill("notes", "/two/SKILL.md")] } }),
      ],
    );
    expect(agent.registry.services.skills.map(({ file }) => file)).toEqual(["/one/SKILL.md"]);
    expect(agent.registry.services.problems).toEqual([
      'Two packs provide a skill named "notes": @x/one and @x/two. That of @x/one is used; remove one of the packs, or rename one.',
    ]);
  });

  test.each([
    [{ skills: [{ ...skill("a b") }] }, "services.skills[0].name must be letters"],
    [{ skills: [{ name: "a", description: "b" }] }, "services.skills[0].file must be a string"],
    [{ agents: [{ name: "a", description: "b" }] }, "services.agents[0].systemPrompt must be a string"],
    [{ agents: "a" }, "services.agents must be an array of agents"],
    [{ prompt: "a" }, "services.prompt must be a function"],
  ])("are checked when the pack registers: %j", (services, problem) => {
    const pack = packWith("@x/wrong", { tools: [fakeTool("left")], services: services as never });
    const agent = agentOf([], []);
    expect(() => registerPack(agent.registry, pack)).toThrow(problem);
    expect(agent.registry.hasTool("left")).toBe(false);
  });
});

describe("a message that the user did not write", () => {
  test("is marked in the conversation and for the model", async () => {
    const { requests, answering } = recordPrompts(["Noted."]);
    const agent = agentOf(answering, []);
    await agent.chat("It ended: exit code 1.", { from: "job-1" });
    expect(agent.conversation.sessionContext[0]).toEqual({
      role: "user",
      from: "job-1",
      content: "It ended: exit code 1.",
    });
    expect(requests[0]?.messages).toEqual([
      {
        role: "user",
        content: '[A notice from "job-1", not written by the user]\n\nIt ended: exit code 1.',
      },
    ]);
  });
});

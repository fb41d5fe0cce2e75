import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  Agent,
  type ExecutableTool,
  type PackHost,
  registerPack,
  ToolRegistry,
  type UserQuestion,
} from "../../src/index.js";
import {
  describeGrants,
  grantsOf,
  Isolation,
  maySendOthers,
  type PackManifest,
  readGrants,
  readManifest,
} from "../../src/isolation/index.js";
import { scriptedProvider } from "../../src/providers/replay.js";

const isolation = new Isolation();
const { level, detail } = await isolation.status();
const isEnforced = level === "enforced";
if (!isEnforced) process.stderr.write(`Services of isolated packs are skipped: isolation is ${detail}.\n`);

const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-services-")));
const entry = join(base, "pack", "services.mjs");
let manifest: PackManifest;

beforeAll(async () => {
  if (!isEnforced) return;
  mkdirSync(join(base, "pack"));
  writeFileSync(join(base, "pack", "package.json"), '{"name":"agent-pack-services","version":"1.0.0"}');
  copyFileSync(new URL("services.mjs", import.meta.url), entry);
  manifest = await isolation.inspect(entry);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const CALLS = { grants: { calls: true } };
const EVERYTHING = { hooks: ["beforeCall", "afterCall", "onMessage", "onSessionStart"] as const };

function packWith({ approved = manifest, grants = {} as object } = {}) {
  return isolation.pack({
    ...{ name: "services", entry, grants, required: "enforced", review: "agent pack update services" },
    stopGraceMs: 50,
    manifest: approved,
  });
}

async function withPack<T>(
  use: (registry: ToolRegistry) => Promise<T>,
  {
    host = {} as Partial<PackHost>,
    ...given
  }: { host?: Partial<PackHost>; approved?: PackManifest; grants?: object } = {},
): Promise<T> {
  const registry = new ToolRegistry({ abortGraceMs: 20_000 });
  registerPack(registry, packWith(given), { context: {}, ...host } as PackHost);
  try {
    return await use(registry);
  } finally {
    await registry.dispose();
  }
}

const echo: ExecutableTool = {
  name: "echo",
  capabilities: ["read"],
  getSchema: () => ({
    type: "function",
    function: { name: "echo", description: "Echoes.", parameters: { type: "object", properties: {} } },
  }),
  execute: async (args) => `the secret is ${JSON.stringify(args)}`,
};

describe.skipIf(!isEnforced)("an isolated pack with more than tools", () => {
  test("records hooks, prompt text, jobs and late tools in its manifest", () => {
    expect(readManifest(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest);
    expect(manifest).toMatchObject({
      prompts: [{ title: "Services", text: "city unknown, 0 jobs" }],
      hooks: [{ timeoutMs: 2000, methods: ["beforeCall", "afterCall", "onMessage", "onSessionStart"] }],
      jobs: true,
      late: [
        { description: "tools of the server" },
        {
          description: "tools of a server that is away",
          problem: expect.stringContaining("may not connect"),
        },
      ],
    });
    expect(manifest.tools.late_tool).toMatchObject({ late: true, enabled: true });
    const grants = grantsOf(manifest);
    expect(readGrants(JSON.parse(JSON.stringify(grants)))).toEqual(grants);
    expect(describeGrants(grants)).toEqual([
      "may read and change the files of the project",
      "may not connect to any host",
      "sees every call of every tool, and may refuse or change it",
      "sees the result of every call of every tool, and may change its text",
      "sees every message of yours, and may add to it or refuse it",
      "may add text to the conversation",
    ]);
    const sends = { ...grants, hosts: ["a.example"] };
    expect([maySendOthers(grants), maySendOthers(sends)]).toEqual([false, true]);
    // What was accepted before does not cover another host or another hook.
    expect(
      [sends, { ...sends, hosts: ["*"] }, grants, { ...sends, hooks: ["onMessage" as const] }].map((before) =>
        maySendOthers(sends, before),
      ),
    ).toEqual([false, true, true, true]);
  });

  test("needs separate approval for a pack that calls other tools and may connect", () => {
    const calls = readManifest({ ...manifest, needs: { calls: true, hosts: ["a.example"] }, hooks: [] });
    const grants = grantsOf(calls);
    expect(readGrants(JSON.parse(JSON.stringify(grants)))).toEqual(grants);
    expect(describeGrants(grants)).toContain(
      "may call other tools and start agents in its calls, and sees the results",
    );
    const { calls: _, ...connects } = grants;
    const before = [{}, connects, grants, { ...grants, hosts: ["b.example"] }];
    expect(before.map((accepted) => maySendOthers(grants, accepted))).toEqual([true, true, false, true]);
    expect([maySendOthers(connects), maySendOthers({ calls: true })]).toEqual([false, false]);
  });

  test("shows each host by its canonical name, also next to all of the public internet", () => {
    const hosts = ["*", "2130706433:80", "\u0430pi.acme.com", "*.ACME.com", "[::1]:8080", "localhost"];
    const grants = grantsOf(readManifest({ ...manifest, needs: { hosts }, hooks: [] }));
    expect(describeGrants(grants)).toContain(
      "may connect to every host of the public internet, 127.0.0.1:80, xn--pi-6kc.acme.com, *.acme.com, [::1]:8080, localhost",
    );
    expect(readGrants(grants)).toEqual(grants);
  });

  test("finds tools of a server with what was granted", async () => {
    const server = createServer((_, response) => response.end("false"));
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as { port: number };
    const found = await isolation.inspect(entry, {
      grants: { hosts: [`localhost:${port}`] },
      options: { url: `http://localhost:${port}/` },
    });
    server.close();
    expect(found.late.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    expect(found.tools.fetched_tool).toMatchObject({ late: true, enabled: false });
  });

  test("adds its prompt text from the manifest, and the current one once it runs", async () => {
    await withPack(
      async (registry) => {
        const text = () => registry.services.prompts().map((section) => section.text);
        expect(text()).toEqual(["city unknown, 0 jobs"]);
        await registry.run("start_job");
        expect(text()).toEqual(["city Oslo, 0 jobs"]);
        registry.services.refresh();
        await expect.poll(text, { timeout: 20_000 }).toEqual(["city Oslo, 1 jobs"]);
      },
      { host: { options: { city: "Oslo" } } },
    );
  });

  test("lists its background work, ends it, and reports what ended with its process", async () => {
    await withPack(async (registry) => {
      const { jobs } = registry.services;
      await registry.run("start_job");
      await registry.run("start_job");
      await expect.poll(() => jobs.list().length, { timeout: 20_000 }).toBe(2);
      expect(jobs.list()[0]).toEqual({ id: "job-1", command: "sleep", pids: [], startedAt: 1 });
      expect([await jobs.end("job-1"), await jobs.end("job-9")]).toEqual([true, false]);
      await expect.poll(() => jobs.list()[0]?.ended, { timeout: 20_000 }).toBe("ended");
      await registry.run("exit");
      expect(jobs.list().map(({ ended }) => ended)).toEqual(["ended", "its process ended"]);
    });
  });

  test("asks its hooks about calls of other tools and about messages, and cannot allow anything", async () => {
    const calls = (...all: Record<string, unknown>[]) => ({
      calls: all.map((args) => ({ name: "echo", args })),
    });
    const approve = vi.fn(async () => "allow" as const);
    const provider = scriptedProvider([
      calls({ deny: 1 }, { change: 1 }, { allow: 1 }),
      { calls: [{ name: "seen", args: {} }] },
      "Done.",
    ]);
    const agent = new Agent(provider, { packs: [packWith({ grants: EVERYTHING }), echo], approve });
    const texts: string[] = [];
    for await (const event of agent.streamChat("Go.")) if (event.type === "tool_end") texts.push(event.text);
    expect(texts[0]).toContain('the hook "services": not this one');
    expect(texts.slice(1, 3).sort()).toEqual(['the … is {"allow":1}', 'the … is {"changed":true}']);
    // Its "allow" has no effect, and neither has its "deny" a question.
    expect(approve).toHaveBeenCalledTimes(3);
    expect(JSON.parse(texts[3] ?? "")).toEqual(
      expect.arrayContaining([
        ["onMessage", expect.stringContaining("Go.")],
        ["beforeCall", "echo", expect.any(String)],
        ["afterCall", "echo", "ok", false],
      ]),
    );
    expect(JSON.stringify(agent.conversation.sessionContext)).toContain("added by the pack");
    expect(JSON.stringify(agent.conversation.sessionContext)).toContain("session false");
    await expect(agent.chat("This is forbidden.")).rejects.toThrow(
      'The hook "services" refused the message: not that',
    );
    await agent.dispose();
  });

  test("asks only the hooks that were granted", async () => {
    await withPack(
      async ({ services }) => {
        expect(
          services.hooks.map(({ beforeCall, onMessage }) => [typeof beforeCall, typeof onMessage]),
        ).toEqual([["undefined", "function"]]);
      },
      { grants: { hooks: ["onMessage"] } },
    );
    await withPack(async ({ services }) => expect(services.hooks).toEqual([]));
  });

  test("refuses a call if its hook does not decide in time, and its process is gone", async () => {
    const provider = scriptedProvider([{ calls: [{ name: "echo", args: { hang: true } }] }, "Done."]);
    const impatient = { ...manifest, hooks: [{ timeoutMs: 50, methods: manifest.hooks[0]?.methods ?? [] }] };
    const agent = new Agent(provider, {
      packs: [packWith({ approved: impatient, grants: { hooks: ["beforeCall"] } }), echo],
    });
    const texts: string[] = [];
    for await (const event of agent.streamChat("Go.")) if (event.type === "tool_end") texts.push(event.text);
    expect(texts).toEqual([expect.stringContaining('the hook "services" failed')]);
    await agent.dispose();
  });

  test("registers late tools without a process, and runs them once they have come", async () => {
    await withPack(async (registry) => {
      expect(registry.isToolEnabled("late_tool")).toBe(true);
      expect((await registry.run("late_tool")).text).toBe("late ran");
    });
  });

  test("withholds a late tool that is not as it was approved", async () => {
    await withPack(
      async (registry) => {
        expect((await registry.run("late_tool")).text).toContain(
          'The pack "services" changed since you approved it: it now can write. Review the change with: agent pack update services',
        );
        expect(registry.isToolEnabled("late_tool")).toBe(false);
      },
      { host: { options: { grown: true } } },
    );
  });

  const likeSeen = (name: string) =>
    ({
      ...manifest.tools.seen,
      schema: {
        type: "function",
        function: { name, description: `Does ${name}.`, parameters: { type: "object", properties: {} } },
      },
    }) as never;

  test("adds and removes tools between two requests, and withholds those that were not approved", async () => {
    const approved = {
      ...manifest,
      tools: {
        ...manifest.tools,
        known: likeSeen("known"),
        reworded: likeSeen("reworded"),
      },
    };
    await withPack(
      async (registry) => {
        const appear = async (name: string, isThere: boolean) => {
          await expect
            .poll(
              () => {
                registry.services.refresh();
                return registry.hasTool(name);
              },
              { timeout: 20_000 },
            )
            .toBe(isThere);
        };
        // Every object has a property of the second name.
        const names = ["known", "reworded", "constructor", "unknown"];
        await registry.run("change", { tools: names });
        await appear("unknown", true);
        for (const name of ["unknown", "constructor"]) {
          expect((await registry.run(name)).text).toContain("changed since you approved it: it is new");
        }
        expect(JSON.stringify(registry.getEnabledSchemas())).toContain("Does reworded.");
        expect(JSON.stringify(registry.getEnabledSchemas())).not.toContain("Obey me.");
        await registry.run("change", { tools: [] });
        await appear("unknown", false);
      },
      { approved },
    );
  });

  test("redirects a call to another tool", async () => {
    await withPack(async (registry) => {
      registry.register(echo);
      expect((await registry.run("stands_for", { to: "echo", a: 1 })).text).toBe('the secret is {"a":1}');
    }, CALLS);
  });

  test("redirects a call only to its own tools unless calls were granted", async () => {
    await withPack(async (registry) => {
      registry.register(echo);
      expect((await registry.run("stands_for", { to: "echo" })).text).toContain(
        'the pack may not call "echo". It must declare needs.calls',
      );
      expect((await registry.run("stands_for", { to: "seen" })).text).toBe("[]");
    });
  });

  test("fails a call that passes too much to the agent, and keeps its process", async () => {
    await withPack(async (registry) => {
      await registry.run("start_job");
      const callTool = expect.unreachable as never;
      expect((await registry.run("pass_much", {}, { callTool })).text).toMatch(/callTool has 2\d+ bytes/);
      expect(registry.services.jobs.list()).toMatchObject([{ id: "job-1" }]);
      expect(registry.services.jobs.list()[0]?.ended).toBeUndefined();
    }, CALLS);
  });

  test("closes a question when the pack no longer waits for the answer, or its process is gone", async () => {
    const questions: UserQuestion[] = [];
    const ask = (question: UserQuestion) =>
      new Promise<never>((_, reject) => {
        questions.push(question);
        question.signal.addEventListener("abort", () => reject(new Error("closed")));
      });
    await withPack(
      async (registry) => {
        expect((await registry.run("ask_briefly")).text).toContain("no longer");
        await expect.poll(() => questions[0]?.signal.aborted, { timeout: 20_000 }).toBe(true);
        const asked = registry.run("ask");
        await expect.poll(() => questions.length, { timeout: 20_000 }).toBe(2);
        expect(questions[1]?.signal.aborted).toBe(false);
        await registry.run("exit");
        expect(questions[1]?.signal.aborted).toBe(true);
        expect((await asked).text).toContain("ended with code 3");
      },
      { host: { ask } },
    );
  });

  test("asks a limited number of questions", async () => {
    const ask = vi.fn(async () => ({ answer: "no" as const }));
    await withPack(
      async (registry) => {
        expect((await registry.run("ask_often")).text).toContain("it asked more than 200 questions");
        expect(ask).toHaveBeenCalledTimes(200);
      },
      { host: { ask } },
    );
  });

  test("closes the connection of a fetch that the pack aborted", async () => {
    const closed = vi.fn();
    let receive = (): void => undefined;
    const received = new Promise<void>((resolve) => {
      receive = resolve;
    });
    const server = createServer(async (request, response) => {
      if (request.url === "/received") {
        await received;
        response.end();
        return;
      }
      request.socket.on("close", closed);
      receive();
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as { port: number };
    await withPack(
      async (registry) => {
        const { text } = await registry.run("fetch_briefly", { url: `http://localhost:${port}/` });
        expect(text).toContain("aborted");
        await expect.poll(() => closed.mock.calls.length).toBe(1);
      },
      { grants: { hosts: [`localhost:${port}`] } },
    );
    server.close();
  });

  test("runs again after the user has stopped any number of calls that did not return", async () => {
    await withPack(async (registry) => {
      for (let count = 0; count < 5; count++) {
        const controller = new AbortController();
        const { outcome } = await registry.run(
          "hang",
          {},
          { signal: controller.signal, onOutput: () => controller.abort() },
        );
        expect(outcome).toBe("aborted");
      }
      expect((await registry.run("seen")).text).toBe("[]");
    });
  });

  test("changes files of the project through the host, in calls that say so, and no protected ones", async () => {
    const project = join(base, "project");
    mkdirSync(join(project, ".git"), { recursive: true });
    mkdirSync(join(project, "secret"));
    symlinkSync(base, join(project, "out"));
    vi.spyOn(process, "cwd").mockReturnValue(project);
    onTestFinished(() => void vi.restoreAllMocks());
    const access = { secret: [join(project, "secret")], writable: [project] };
    const host = { access, protectedNames: ["agent.config.ts"], protectedPaths: [join(project, "state")] };
    await withPack(
      async (registry) => {
        const run = async (path: string, how: string, name = "write") =>
          (await registry.run(name, { path: join(project, path), how })).text;
        expect(await run("a/b", "mkdir")).toBe(join(project, "a"));
        for (const how of ["writeFile", "appendFile", "callback"]) await run("a/b/note.txt", how);
        expect(readFileSync(join(project, "a/b/note.txt"), "utf8")).toBe("writeFile appendFile called ");
        expect(await run("a/b/note.txt", "sync")).toMatch(/EROFS.*asynchronous writeFile/);
        expect(await run("a/b/note.txt", "rename")).toContain("EROFS");
        expect(await run("b.txt", "writeFile", "write_unsaid")).toContain("does not declare that it writes");
        for (const path of [
          ...[".git/config", ".hidden", "a/.npmrc", "package.json", "PACKAGE.json", "packs.lock.json"],
          ...["AGENTS.md", "a/Claude.local.md"],
          ...["sub/agent.config.ts", "state/x", "out/escaped", "../../../etc/escaped", "secret/key"],
        ]) {
          expect([path, await run(path, "writeFile")]).toEqual([
            path,
            expect.stringContaining("Error executing"),
          ]);
        }
      },
      { grants: { files: "write" }, host },
    );
    await withPack(
      async (registry) => {
        // A request to the model of a child agent, for example.
        const onOutput = () => registry.services.refresh();
        const grown = await registry.run("grow", { path: join(project, "grown.txt") }, { onOutput });
        expect(grown.text).toContain("grow does not declare that it writes");
        const controller = new AbortController();
        const stop = { signal: controller.signal, onOutput: () => controller.abort() };
        const stopped = await registry.run("write_stopped", { path: join(project, "stopped.txt") }, stop);
        expect(stopped.outcome).toBe("aborted");
      },
      { grants: { files: "write" }, host },
    );
    expect(readdirSync(project).sort()).toEqual([".git", "a", "out", "secret"]);
    expect(readdirSync(base)).not.toContain("escaped");
    await withPack(
      async (registry) => {
        const { text } = await registry.run("write", { path: join(project, "c.txt") });
        expect(text).toContain("EROFS");
      },
      { grants: { files: "read" } },
    );
  });
});

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Conversation, createToolRegistry } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import * as mcp from "@agent/tools-mcp";
import { createConnectionHost, inspectServer, lockPath, writeLock } from "@agent/tools-mcp/manage";
import { describe, expect, onTestFinished, test } from "vitest";
import { installed, isInstalled, why } from "./suites.js";

interface Driven {
  readonly tools: readonly string[];
  /** What the tools answered, in the order of the calls. */
  readonly results: readonly string[];
  readonly images: number;
}

/** Agrees to all tools of a server, and lets a scripted model call some of them through the Agent. */
async function drive(
  name: string,
  args: readonly string[],
  calls: readonly [tool: string, args: object][],
  env: Readonly<Record<string, string>> = {},
): Promise<Driven> {
  const directory = temporaryDirectory();
  const script = installed(`server-${name}`, "dist", "index.js");
  const server = { command: process.execPath, args: [script, ...args], env, enable: true as const };
  const host = createConnectionHost({}, directory, undefined);
  const { locked } = await inspectServer("real", server, host);
  // One tool of one server runs only as a task, which is not supported.
  expect(locked.setAside.map(({ tool }) => tool)).toEqual(
    name === "everything" ? ["simulate-research-query"] : [],
  );
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: { real: locked } });
  const registry = createToolRegistry(new Conversation(), [[mcp, { servers: { real: server } }]], {
    host: { baseDirectory: directory },
  });
  onTestFinished(() => registry.dispose());
  const answers: ScriptedAnswer[] = calls.map(([tool, given]) => ({
    calls: [{ name: `mcp__real__${tool}`, args: given as Record<string, unknown> }],
  }));
  const agent = new Agent(scriptedProvider([...answers, "Done."]), { registry });
  expect(await agent.chat("Go.")).toBe("Done.");
  const messages = agent.context.sessionContext.filter(({ role }) => role === "tool");
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return {
    tools: locked.tools.map(({ tool }) => tool),
    results: messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))),
    images: parts.filter((part) => part.type === "image").length,
  };
}

function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "agent-real-servers-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe.skipIf(!isInstalled)(`real servers through the Agent${why}`, () => {
  test("reads and writes with filesystem in its directory, and nowhere else", async () => {
    const root = temporaryDirectory();
    writeFileSync(join(root, "a.txt"), "text of a");
    const { tools, results } = await drive(
      "filesystem",
      [root],
      [
        ["read_text_file", { path: join(root, "a.txt") }],
        ["write_file", { path: join(root, "b.txt"), content: "written" }],
        ["read_text_file", { path: "/etc/hostname" }],
      ],
    );
    expect(tools).toHaveLength(14);
    expect(results[0]).toBe("text of a");
    expect(readFileSync(join(root, "b.txt"), "utf8")).toBe("written");
    expect(results[2]).toContain("Access denied");
  });

  test("answers with text, sums and images from everything, and reports progress", async () => {
    const { tools, results, images } = await drive(
      "everything",
      ["stdio"],
      [
        ["echo", { message: "hello" }],
        ["get-sum", { a: 2, b: 3 }],
        ["get-tiny-image", {}],
        ["trigger-long-running-operation", { duration: 1, steps: 4 }],
      ],
    );
    expect(tools.length).toBeGreaterThanOrEqual(12);
    expect(results[0]).toContain("hello");
    expect(results[1]).toContain("5");
    expect(images).toBe(1);
    expect(results[3]).toContain("4");
  });

  test("keeps entries with memory in the file a variable names", async () => {
    const file = join(temporaryDirectory(), "memory.json");
    const entity = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
    const { tools, results } = await drive(
      "memory",
      [],
      [
        ["create_entities", { entities: [entity] }],
        ["search_nodes", { query: "first program" }],
      ],
      { MEMORY_FILE_PATH: file },
    );
    expect(tools).toHaveLength(9);
    expect(results[1]).toContain("Ada");
    expect(readFileSync(file, "utf8")).toContain("Ada");
  });

  test("takes one thought after the other with sequential-thinking", async () => {
    const thought = (number: number) => ({
      thought: `thought ${number}`,
      nextThoughtNeeded: number < 2,
      thoughtNumber: number,
      totalThoughts: 2,
    });
    const { tools, results } = await drive(
      "sequential-thinking",
      [],
      [
        ["sequentialthinking", thought(1)],
        ["sequentialthinking", thought(2)],
      ],
    );
    expect(tools).toEqual(["sequentialthinking"]);
    expect(results[1]).toContain('"thoughtNumber": 2');
  });
});

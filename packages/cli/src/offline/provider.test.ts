import { Agent, type ToolPack } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { expect, test } from "vitest";
import { DISCLOSURE } from "./answer.js";
import { planRequest } from "./plan.js";
import { OfflineProvider } from "./provider.js";

/** A pack whose `read_file` knows one file. */
const pack: ToolPack = {
  register(registry) {
    registry.register({
      name: "read_file",
      getSchema: () => functionTool("read_file", "Read.", { path: { type: "string" } }),
      execute: async ({ path }) => {
        if (path !== "a.txt") throw new Error(`no such file: ${path}`);
        return "content of a";
      },
    });
  },
};

test("states in the first answer, but not in the second, that this is not a language model", async () => {
  const agent = new Agent(new OfflineProvider(), { packs: [pack] });
  expect(await agent.chat("read a.txt")).toBe(`${DISCLOSURE}\n\ncontent of a`);
  expect(await agent.chat("read a.txt")).toBe("content of a");
});

test("stops after a failing step and reports it", async () => {
  const agent = new Agent(new OfflineProvider(), { packs: [pack] });
  const answer = await agent.chat("read nope.txt then read a.txt then read a.txt");
  expect(answer).toContain("That did not work. Error executing read_file: no such file: nope.txt");
  expect(answer).toContain("The 2 steps after it were not started.");
  expect(answer).not.toContain("content of a");
});

test("gives the same answer to the same conversation, streamed or not", async () => {
  const streamed: string[] = [];
  for await (const event of new Agent(new OfflineProvider(), { packs: [pack] }).streamChat("read a.txt")) {
    if (event.type === "text") streamed.push(event.text);
  }
  expect(streamed.join("")).toBe(
    await new Agent(new OfflineProvider(), { packs: [pack] }).chat("read a.txt"),
  );
});

test("reads what the user wrote, not the notes and files that were added to it", async () => {
  const agent = new Agent(new OfflineProvider(), { packs: [pack] });
  await agent.chat("read a.txt");
  const added = (text: string) => ({ type: "text" as const, text });
  const note = added("<note>\n[The user reverted your changes to a.txt.]\n</note>");
  const file = added('<file path="b.txt" lines="1-2">\nb\n</file>');
  expect(await agent.chat([added("read a.txt"), file, note])).toBe("content of a");
});

test("lists in help what the enabled tools can do, third-party tools by their schema", async () => {
  const answer = await new Agent(new OfflineProvider(), { packs: [pack] }).chat("what can you do?");
  expect(answer).toContain("read lines 1-20 of README.md");
  expect(answer).not.toContain('run "git status"');
});

test("reads a request of any size in reasonable time", () => {
  for (const request of [
    "a ".repeat(100_000),
    `search for ${"in x ".repeat(20_000)}`,
    '"'.repeat(50_000),
    "list src and ".repeat(5_000),
    "replace a with ".repeat(10_000),
  ]) {
    const started = performance.now();
    planRequest(request, []);
    expect(performance.now() - started).toBeLessThan(20_000);
  }
}, 120_000);

import { expect, test } from "vitest";
import { fakeContext, fakeTool } from "../test/fixtures.js";
import { Agent, createToolRegistry, loadSession, ToolRegistry } from "./index.js";
import { recordProvider, replayProvider, scriptedProvider } from "./providers/replay.js";
import { createPathGuard, functionTool, writeFileAtomic } from "./toolkit/index.js";

const agent = (options?: unknown) => new Agent(scriptedProvider(["Done."]), options as object);

test.each<[what: string, call: () => unknown, message: string]>([
  ["Agent options", () => agent(null), "options must be an object, got null."],
  ["registry", () => agent({ registry: 4 }), "registry must be a ToolRegistry, got number 4."],
  [
    "a registry together with tools",
    () => agent({ registry: new ToolRegistry(), tools: [] }),
    '"registry" and "tools" were both given. A registry has its own tools and limits: pass one or the other.',
  ],
  [
    "tools together with packs",
    () => agent({ tools: [], packs: [] }),
    '"tools" and "packs" were both given. They mean the same: pass one of them.',
  ],
  [
    "output of chat",
    () => agent().chat("Hi", { output: {} } as never),
    "chat() resolves to text. For a value of a form, use run() with output.",
  ],
  ["chat options", () => agent().chat("Hi", null as never), "options must be an object, got null."],
  [
    "the signal of chat",
    () => agent().chat("Hi", { signal: 4 } as never),
    "signal must be an AbortSignal, got number 4.",
  ],
  [
    "the signal of streamChat",
    () =>
      agent()
        .streamChat("Hi", { signal: {} } as never)
        .next(),
    "signal must be an AbortSignal, got object.",
  ],
  ["ToolRegistry options", () => new ToolRegistry(null as never), "options must be an object, got null."],
  ["a session's path", () => loadSession(4 as never), "path must be a string, got number 4."],
  [
    "recordProvider",
    () => recordProvider(undefined as never, "a"),
    "provider must be a ChatProvider with respond(), got nothing.",
  ],
  ["a recording's path", () => replayProvider(undefined as never), "path must be a string, got nothing."],
  ["a guard's root", () => createPathGuard(4 as never), "root must be a string, got number 4."],
  [
    "an optional argument that is not there",
    () => functionTool("t", "Test.", { path: { type: "string" } }, ["paht"]),
    'functionTool "t": optional names "paht", which is not a property.',
  ],
])("names %s that is wrong, with the value it got", async (_, call, message) => {
  await expect((async () => await call())()).rejects.toThrow(message);
});

test.each<[what: string, call: () => unknown, message: string]>([
  ["Agent", () => agent({ maxTurn: 4 } as object), 'Agent has no option "maxTurn". Did you mean "maxTurns"?'],
  [
    "chat",
    () => agent().chat("Hi", { sginal: 4 } as object),
    'chat has no option "sginal". Did you mean "signal"?',
  ],
  [
    "streamResume",
    () =>
      agent()
        .streamResume({}, { sginal: 4 } as object)
        .next(),
    'streamResume has no option "sginal". Did you mean "signal"?',
  ],
  [
    "ToolRegistry",
    () => new ToolRegistry({ deadline: 4 } as object),
    'ToolRegistry has no option "deadline". Did you mean "deadlineMs"?',
  ],
  [
    "createToolRegistry",
    () => createToolRegistry(fakeContext(), [], { enabel: [] } as object),
    'createToolRegistry has no option "enabel". Did you mean "enable"?',
  ],
  [
    "register",
    () => new ToolRegistry().register(fakeTool("t"), { enable: false } as object),
    'register has no option "enable". Did you mean "enabled"?',
  ],
  [
    "writeFileAtomic",
    () => writeFileAtomic("never written", "", { folow: false } as object),
    'writeFileAtomic has no option "folow". Did you mean "follow"?',
  ],
])("names an unknown option of %s, with the nearest valid one", async (_, call, message) => {
  await expect((async () => await call())()).rejects.toThrow(message);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ToolRegistry } from "../src/tools/registry.js";
import type {
  ChatTool,
  ExecutableTool,
  JsonSchema,
  ToolCall,
  ToolCapability,
  ToolContext,
} from "../src/tools/tool.js";

/** A tool made of a function; by default it takes any arguments. */
export function fakeTool(
  name: string,
  execute: (args: Record<string, unknown>, call?: ToolCall) => unknown = () => `${name} ran`,
  {
    parameters,
    ...rest
  }: {
    parameters?: JsonSchema;
    capabilities?: ToolCapability[];
    deadlineMs?: number;
    repeatable?: boolean;
  } = {},
): ExecutableTool {
  const schema: ChatTool = {
    type: "function",
    function: {
      name,
      description: `Fake ${name}`,
      parameters: parameters ?? { type: "object", properties: {} },
    },
  };
  // Tests also cover tools that break the promise of returning a string.
  return { name, ...rest, getSchema: () => schema, execute: execute as ExecutableTool["execute"] };
}

/** A registry in which these tools are registered. */
export function registryWith(...tools: ExecutableTool[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

/** A context a tool can be given without any Agent. */
export function fakeContext(overrides: Partial<ToolContext> = {}): ToolContext {
  return { systemPrompt: "Be brief.", sessionContext: [], sessionContextFilePath: "", ...overrides };
}

/** A directory of the test's own, removed when it ends. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-core-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A promise and its handles, for tests that decide when something happens. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

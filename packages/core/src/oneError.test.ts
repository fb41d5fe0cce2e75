import { expect, test } from "vitest";

// The built entries, as a program imports them.
const dist = (entry: string): Promise<Record<string, (...args: unknown[]) => unknown>> =>
  import(new URL(`../dist/${entry}.js`, import.meta.url).href);

const thrown = async (run: () => unknown): Promise<unknown> => {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
};

test("throws an instance of the one AgentError from any entry point", async () => {
  const { AgentError, Agent } = (await dist("index")) as never as typeof import("./index.js");
  const { packOptions } = await dist("toolkit");
  const { scriptedProvider } = await dist("replay");
  const { checkRequest } = await dist("provider");
  const { openTelemetry } = await dist("otel");
  for (const run of [
    () => new Agent(null as never),
    () => packOptions?.("pack", { unknown: 1 }, {}),
    () => scriptedProvider?.(null),
    () => checkRequest?.(null),
    () => openTelemetry?.({ unknown: 1 }),
  ]) {
    expect(await thrown(run)).toBeInstanceOf(AgentError);
  }
});

test("recognises an error of another copy of core with isAgentError", async () => {
  const { isAgentError } = (await dist("index")) as never as typeof import("./index.js");
  const { AgentError } = await import("./errors.js");
  const other = new AgentError("aborted", "stopped");
  expect(other).not.toBeInstanceOf(((await dist("index")) as never as { AgentError: never }).AgentError);
  expect(isAgentError(other, "aborted")).toBe(true);
  expect(isAgentError(other, "busy")).toBe(false);
});

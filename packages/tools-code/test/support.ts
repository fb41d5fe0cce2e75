import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  contentText,
  type ExecutableTool,
  type ToolPack,
} from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import type { CodeOptions } from "@agent/tools-code";
import * as code from "@agent/tools-code";

export interface ScriptSetup extends Omit<AgentOptions, "packs"> {
  readonly tools?: readonly ExecutableTool[];
  /** Further packs. */
  readonly more?: readonly ToolPack[];
  readonly options?: CodeOptions;
  /** Further answers of the model, such as those of child agents. */
  readonly answers?: readonly ScriptedAnswer[];
  readonly signal?: AbortSignal;
}

/** An agent whose model calls `run_script` once with each of these scripts. */
export function scriptAgent(scripts: readonly string[], setup: ScriptSetup = {}): Agent {
  const { tools = [], more = [], options = {}, answers = [], signal: _, ...rest } = setup;
  const calls = scripts.map((script) => ({ calls: [{ name: "run_script", args: { script } }] }));
  return new Agent(scriptedProvider([...calls, ...answers, "Done."]), {
    packs: [[code, options], ...more, ...tools],
    ...rest,
  });
}

/** Runs a script through a whole conversation: the text the model gets, and all events. */
export async function runScript(script: string, setup: ScriptSetup = {}) {
  const agent = scriptAgent([script], setup);
  const events: AgentEvent[] = [];
  let error: unknown;
  try {
    for await (const event of agent.streamChat("go", setup.signal ? { signal: setup.signal } : {})) {
      events.push(event);
    }
  } catch (thrown) {
    error = thrown;
  } finally {
    await agent.dispose();
  }
  const result = agent.context.sessionContext.find(({ role }) => role === "tool");
  const ends = events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  return {
    text: contentText(result?.content ?? ""),
    end: ends.find(({ name }) => name === "run_script"),
    inner: ends.filter(({ name }) => name !== "run_script"),
    events,
    agent,
    error,
  };
}

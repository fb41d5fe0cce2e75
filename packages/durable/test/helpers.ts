import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type AgentOptions, type ExecutableTool } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { onTestFinished } from "vitest";
import {
  createFileEngine,
  type EngineWorker,
  type FollowedEvent,
  type RunContext,
  type RunDefinition,
  type RunEngine,
  type RunEvent,
  startWorker,
  type WorkerOptions,
} from "../src/index.js";

/** A directory for the test, removed after it. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-durable-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An engine on files, closed after the test. */
export function openEngine(directory = temporaryDirectory()): RunEngine {
  const engine = createFileEngine(directory);
  onTestFinished(() => engine.close());
  return engine;
}

/** A definition whose model gives these answers, starting with the first one that is not in the run's journal. */
export function scripted(
  answers: readonly ScriptedAnswer[],
  tools: readonly ExecutableTool[] = [],
  options: (run: RunContext) => AgentOptions = () => ({}),
): RunDefinition {
  return {
    name: "scripted",
    version: "1",
    create(run) {
      const agent = new Agent(scriptedProvider(answers), { steps: run.steps, ...options(run) });
      for (const tool of tools) agent.addTool(tool);
      return { agent, message: "go" };
    },
  };
}

export async function workWith(
  engine: RunEngine,
  definition: RunDefinition,
  options: Partial<WorkerOptions> = {},
): Promise<EngineWorker> {
  const worker = await startWorker(engine, { definitions: [definition], ...options });
  onTestFinished(() => worker.close());
  return worker;
}

/** Everything a follower gets until the run has ended, or is in the given state. */
export async function follow(engine: RunEngine, id: string, until?: string): Promise<FollowedEvent[]> {
  const all: FollowedEvent[] = [];
  for await (const one of engine.events(id, { follow: true })) {
    all.push(one);
    if ("run" in one && one.run.state === until) break;
  }
  return all;
}

export function eventsOf(all: readonly FollowedEvent[]): RunEvent[] {
  return all.flatMap((one) => ("event" in one ? [one.event] : []));
}

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, type AgentEvent, type AgentOptions, type PackHost, type ToolPack } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import * as fs from "@agent/tools-fs";
import { onTestFinished } from "vitest";
import type { LspOptions } from "../src/index.js";
import * as lsp from "../src/index.js";

const SERVER = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));

type ToolEnd = Extract<AgentEvent, { type: "tool_end" }>;

export interface Project {
  readonly root: string;
  readonly log: string;
  path(name: string): string;
  write(name: string, text: string): string;
  read(name: string): string;
}

/** An empty project, removed after the test. */
export function createProject(files: Readonly<Record<string, string>> = {}): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-lsp-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const outside = mkdtempSync(join(tmpdir(), "agent-lsp-log-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  const path = (name: string): string => join(root, name);
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    return path(name);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { root, log: join(outside, "log"), path, write, read: (name) => readFileSync(path(name), "utf8") };
}

/** What the server of the fixtures wrote down. */
export function logOf({ log }: Project): string[] {
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
}

/** Options with the server of the fixtures for `.tst` files. The limits are generous: a busy machine is slow, not wrong. */
export function testServer(project: Project, mode: string, env: Record<string, string> = {}): LspOptions {
  return {
    root: project.root,
    waitMs: 60_000,
    servers: {
      test: {
        command: [process.execPath, SERVER, mode],
        extensions: [".tst"],
        env: { LSP_LOG: project.log, ...env },
      },
    },
  };
}

type Call = readonly [name: string, args: Readonly<Record<string, unknown>>];

export interface Session {
  readonly agent: Agent;
  /** Makes calls one after the other, each in its own turn, and returns how they ended. */
  calls(...calls: readonly Call[]): Promise<ToolEnd[]>;
  /** One call, which returns the text of its result. */
  text(...call: Call): Promise<string>;
}

/** An agent with the file tools and this pack. */
export function createSession(
  project: Project,
  options: LspOptions,
  host: Partial<PackHost> = {},
  agentOptions: Partial<AgentOptions> = {},
  fsOptions: fs.FsOptions = {},
): Session {
  let script: (Call | "end")[] = [];
  const provider = scriptedProvider(
    Array.from({ length: 1000 }, () => () => {
      const next = script.shift();
      return next === undefined || next === "end" ? "Done." : { calls: [{ name: next[0], args: next[1] }] };
    }),
  );
  const withHost: ToolPack = {
    ...lsp,
    register: (registry, given) =>
      lsp.register(registry, { ...(given as PackHost<LspOptions>), ...host, options }),
  };
  const agent = new Agent(provider, {
    packs: [[fs, { root: project.root, ...fsOptions }], withHost],
    maxTurns: 1000,
    ...agentOptions,
  } as AgentOptions);
  onTestFinished(() => agent.dispose());
  const calls = async (...all: readonly Call[]): Promise<ToolEnd[]> => {
    script = [...all];
    const ends: ToolEnd[] = [];
    for await (const event of agent.streamChat("Go.")) if (event.type === "tool_end") ends.push(event);
    // A rename is refused while its server loads, which takes longer on a busy machine.
    return ends.length === 1 && ends[0]?.text.includes("still loading the project")
      ? await calls(...all)
      : ends;
  };
  return {
    agent,
    calls,
    text: async (...call) => (await calls(call))[0]?.text ?? "",
  };
}

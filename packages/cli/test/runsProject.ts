import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { Sandbox } from "./agent.js";

/**
 * A project whose model reads a file and then answers, depending on the conversation, since each process asks it anew.
 */
export function runsProject(answer = "All done.", more = ""): Sandbox {
  const sandbox = new Sandbox();
  sandbox.write("agent.config.mjs", runsConfig(answer, more));
  sandbox.write("a.txt", "hello\n");
  return sandbox;
}

export function runsConfig(answer: string, more = ""): string {
  return `export default {
  provider: {
    model: "scripted",
    async respond({ messages, onText }) {
      const usage = { inputTokens: 10, outputTokens: 5 };
      if (messages.some(({ role }) => role === "tool")) {
        onText?.(${JSON.stringify(answer)});
        return { content: ${JSON.stringify(answer)}, toolCalls: [], finishReason: "stop", usage };
      }
      const call = { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } };
      return { content: null, toolCalls: [call], finishReason: "tool_calls", usage };
    },
  },
  ${more}
};
`;
}

export async function startRun(sandbox: Sandbox, task = "look at a.txt"): Promise<string> {
  const { stdout, code } = await sandbox.run(["runs", "start", "--json", task]);
  expect(code).toBe(0);
  return JSON.parse(stdout).id;
}

/** Lets a worker of the project process all runs, and stops it. */
export const workOff = (sandbox: Sandbox) => sandbox.run(["runs", "work", "--drain", "--trust"]);

/** Serves the page of runs until the test ends; resolves to its address, which carries the token. */
export async function serveRuns(sandbox: Sandbox, ...args: string[]): Promise<URL> {
  const server = sandbox.start(["runs", "serve", "--json", ...args]);
  onTestFinished(() => void server.kill("SIGINT"));
  const [line] = await once(server.stdout, "data");
  return new URL(JSON.parse(String(line)).url);
}

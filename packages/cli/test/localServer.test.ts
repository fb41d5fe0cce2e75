import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";
import { serve } from "./servers.js";

/** The source of a model server, for this process and for one of another user. */
function answer(url: string | undefined): string {
  if (url === "/v1/models") return JSON.stringify({ data: [{ id: "tiny" }] });
  const delta = { role: "assistant", content: "from the server" };
  const chunk = {
    id: "1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: "stop" }],
  };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

async function modelServer(): Promise<{ port: string; asked: () => number }> {
  let asked = 0;
  const { port } = await serve((request, response) => {
    if (request.method === "POST") {
      asked++;
      response.setHeader("content-type", "text/event-stream");
    }
    response.end(answer(request.url));
  });
  return { port, asked: () => asked };
}

const QUESTION = "Use it, now and later?";

describe("a model server that was found on this machine", () => {
  test("answers only after approval: without a terminal only a configured server does", async () => {
    const { port, asked } = await modelServer();
    const { stdout, stderr, code } = await new Sandbox().run(["what can you do?"], {
      env: { AGENT_LOCAL_PORTS: port },
    });
    expect(code).toBe(0);
    expect(stdout).toContain("not a language model");
    expect(stderr).toContain(`--base-url http://127.0.0.1:${port}/v1`);
    expect(asked()).toBe(0);
  });

  test.runIf(hasTerminal())(
    "is asked about once; approval is remembered, and every run reports who answers",
    async () => {
      const { port, asked } = await modelServer();
      const box = new Sandbox();
      const env = { AGENT_LOCAL_PORTS: port };
      const first = await box.runInTerminal(["hi"], [[QUESTION, "y"]], env);
      expect(first.stdout).toContain(`A model server answers at 127.0.0.1:${port}`);
      expect(first.stdout).toContain("run by you.");
      expect(first.stdout).toContain(`tiny at 127.0.0.1:${port}`);
      expect(first.stdout).toContain("from the server");
      const second = await box.runInTerminal(["hi"], [], env);
      expect(second.stdout).not.toContain(QUESTION);
      expect(second.stdout).toContain(`tiny at 127.0.0.1:${port}`);
      expect(asked()).toBe(2);
      // Still no one is there to see who answers.
      expect((await box.run(["what can you do?"], { env })).stdout).toContain("not a language model");
    },
  );

  test.runIf(hasTerminal())("remembers a no too", async () => {
    const { port, asked } = await modelServer();
    const box = new Sandbox();
    const env = { AGENT_LOCAL_PORTS: port };
    await box.runInTerminal(["what can you do?"], [[QUESTION, "n"]], env);
    const second = await box.runInTerminal(["what can you do?"], [], env);
    expect(second.stdout).not.toContain(QUESTION);
    expect(asked()).toBe(0);
  });

  // Only root can start a process of another user.
  test.runIf(hasTerminal() && process.getuid?.() === 0)("is skipped if another user runs it", async () => {
    const script = `const http = require("http"); const answer = ${answer};
      http.createServer((request, response) => response.end(answer(request.url)))
        .listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
    const child = spawn(process.execPath, ["-e", script], { uid: 54_321, cwd: "/" });
    onTestFinished(() => void child.kill());
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const env = { AGENT_LOCAL_PORTS: String(port).trim() };
    const { stdout } = await new Sandbox().runInTerminal(["what can you do?"], [], env);
    expect(stdout).not.toContain(QUESTION);
    expect(stdout).toContain("not a language model");
  });
});

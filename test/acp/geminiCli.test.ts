import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { Agent, type ApprovalRequest, type Approve, contentText } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import * as agents from "@agent/tools-agents";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const MANIFEST = new URL("package.json", import.meta.url);
const PROGRAM = join(externalDirectory(MANIFEST), "node_modules/@google/gemini-cli/bundle/gemini.js");
const isInstalled = isExternalInstalled(MANIFEST);
const why = isInstalled ? "" : " (skipped: run `node test/acp/install.mjs` first)";

interface GeminiRequest {
  readonly contents?: readonly { readonly parts: readonly { readonly functionResponse?: unknown }[] }[];
}

/** A model server that writes a file with its first answer and ends with its second; resolves to its address. */
async function modelServer(path: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { contents = [] } = (await json(request)) as GeminiRequest;
    const isDone = contents.some(({ parts }) => parts.some((part) => part.functionResponse));
    const write = { name: "write_file", args: { file_path: path, content: "from another program\n" } };
    const parts = [isDone ? { text: "It is done." } : { functionCall: write }];
    const answer = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(answer)}\r\n\r\n`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Lets our agent start Gemini CLI for a task; its result, and the file that it was to write. */
async function delegate(approve: Approve) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "agent-gemini-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, "project");
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  };
  mkdirSync(join(home, ".gemini"));
  mkdirSync(project);
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const file = join(project, "out.txt");
  vi.stubEnv("HOME", home);
  vi.stubEnv("GEMINI_API_KEY", "test");
  vi.stubEnv("GEMINI_CLI_TRUST_WORKSPACE", "true");
  vi.stubEnv("GOOGLE_GEMINI_BASE_URL", await modelServer(file));
  const before = process.cwd();
  process.chdir(project);
  onTestFinished(() => {
    process.chdir(before);
    vi.unstubAllEnvs();
  });
  const gemini = {
    description: "Another program.",
    acp: `"${process.execPath}" "${PROGRAM}" --acp --model gemini-2.5-flash`,
    env: ["GEMINI_API_KEY"],
  };
  const call = { calls: [{ name: "agent_run", args: { agent: "gemini", task: "Write out.txt." } }] };
  const agent = new Agent(scriptedProvider([call, "Done."]), {
    tools: [[agents, { agents: { gemini } }]],
    approve,
  });
  onTestFinished(() => agent.dispose());
  await agent.chat("go");
  const result = agent.context.sessionContext.find(({ role }) => role === "tool");
  return { file, result: contentText(result?.content ?? "") };
}

describe.skipIf(!isInstalled)(`with Gemini CLI, an agent of another project${why}`, () => {
  test("asks for the steps of the other program as calls of ours", async () => {
    const asked: ApprovalRequest[] = [];
    const { file, result } = await delegate((request) => {
      asked.push(request);
      return "allow";
    });
    expect(result).toBe("It is done.");
    expect(readFileSync(file, "utf8")).toBe("from another program\n");
    expect(asked.map(({ name }) => name)).toEqual(["agent_run", "agent_program", "agent_permission"]);
    expect(asked[2]?.description).toMatchObject({
      title: expect.stringMatching(/^gemini: .*out\.txt/),
      kind: "edit",
      targets: [{ type: "file", path: file, access: "write" }],
    });
  });

  test("lets the other program write nothing that is denied", async () => {
    const { file } = await delegate(({ name }) =>
      name === "agent_permission" ? { deny: "not this file" } : "allow",
    );
    expect(existsSync(file)).toBe(false);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocks } from "./markdown.js";
import { ROOT } from "./pages.js";

const HERE = fileURLToPath(new URL("../", import.meta.url));
const ANSWER = "The slowest tests are those of the shell.";

function send(response: ServerResponse, choice: object): void {
  response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, ...choice }] })}\n\n`);
}

/** A model's server whose first answer ends in the middle of the text. */
async function serverThatDiesOnce(): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      requests++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (requests === 1) {
        send(response, { delta: { content: ANSWER.slice(0, 20) } });
        // After the client has read the piece.
        setTimeout(() => response.destroy(), 50);
        return;
      }
      for (const piece of ANSWER.match(/.{1,7}/g) ?? []) send(response, { delta: { content: piece } });
      send(response, { delta: {}, finish_reason: "stop" });
      response.end("data: [DONE]\n\n");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests: () => requests };
}

test.each(["README.md", "docs/embedding.md"])(
  "prints the answer once in the streaming loop of %s when the server dies in the middle of it",
  async (page) => {
    const code = codeBlocks(join(ROOT, page), "ts").find((block) => /write\(event\.text\)/.test(block));
    expect(code).toContain("streamChat");
    const { url, requests } = await serverThatDiesOnce();
    mkdirSync(join(HERE, ".turbo"), { recursive: true });
    const directory = mkdtempSync(join(HERE, ".turbo/loops-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, "program.mjs"), code ?? "");
    const child = spawn(process.execPath, ["program.mjs"], {
      cwd: directory,
      env: { ...process.env, OPENAI_BASE_URL: url, OPENAI_API_KEY: "key" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect({ status, errors, output }).toEqual({ status: 0, errors: "", output: ANSWER });
    expect(requests()).toBe(2);
  },
);

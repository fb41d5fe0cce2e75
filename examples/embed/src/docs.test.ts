import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const text = await readFile(new URL("../../../docs/embedding.md", import.meta.url), "utf8");
const snippets = text.split(/^#+ /m).flatMap((section) => {
  const title = section.slice(0, section.indexOf("\n"));
  return Array.from(section.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = ""]) => ({ title, code }));
});

/** Stands in for every server the snippets talk to. */
async function startServer(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.includes("acme")) {
      response
        .setHeader("content-type", "text/event-stream")
        .end('data: {"text":"I am Acme."}\n\ndata: [DONE]\n\n');
      return;
    }
    const message = { role: "assistant", content: "The largest is plan.txt." };
    const delta = { choices: [{ index: 0, delta: message, finish_reason: "stop" }] };
    response
      .setHeader("content-type", "text/event-stream")
      .end(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(snippets)("the program under $title runs", async ({ code }) => {
  const url = await startServer();
  await mkdir(join(HERE, ".turbo"), { recursive: true });
  const directory = await mkdtemp(join(HERE, ".turbo/docs-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const program = join(directory, "program.mjs");
  await writeFile(program, (await transform(code, { loader: "ts", format: "esm" })).code);
  const env = {
    ...process.env,
    OPENAI_API_KEY: "test-key-of-the-docs",
    OPENAI_BASE_URL: `${url}/v1`,
    ACME_URL: `${url}/acme`,
  };
  const run = promisify(execFile)(process.execPath, [program], { cwd: directory, env, timeout: 60_000 });
  const { stdout } = await run;
  expect(stdout).not.toBe("");
});

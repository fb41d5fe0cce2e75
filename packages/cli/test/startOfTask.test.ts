import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Sandbox } from "./agent.js";

/** Writes the address of every module to the file in $READ_FILES before it is loaded. */
const HOOKS = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.READ_FILES, url + "\\n");
  return next(url, context);
}`;
const REGISTER = `import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(HOOKS)}));`;

/** Runs a task, and returns what was loaded when its request arrived, and what afterwards. */
async function filesOfTask(...args: string[]): Promise<{ before: string; after: string }> {
  const box = new Sandbox();
  const list = join(box.root, "files.txt");
  let before = "";
  const server = createServer((request, response) => {
    if (before === "") before = readFileSync(list, "utf8");
    request.resume();
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "Hello." };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const { code, stderr } = await box.run([...args, "say hello"], {
    env: {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(REGISTER)}`,
      READ_FILES: list,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: "none",
      AGENT_MODEL: "m",
    },
  });
  expect(code, stderr).toBe(0);
  return { before, after: readFileSync(list, "utf8").slice(before.length) };
}

test("a task asks the model before anything is loaded that reads configs, asks questions or defines other commands", async () => {
  const { before } = await filesOfTask("--enable", "run_bash");
  expect(before).toMatch(/tools-bash\/dist\/index\.js/);
  for (const late of [
    /cli\/dist\/(subcommands|configLayers|gitTree|restore|chat|provider)-/,
    /^node:(readline|vm)$/m,
    /cosmiconfig|jiti|openai\/(?!dist)/,
  ]) {
    expect(before).not.toMatch(late);
  }
});

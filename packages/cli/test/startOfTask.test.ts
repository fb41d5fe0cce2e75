import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";
import { serve } from "./servers.js";

/** Writes the address of every module to the file in $READ_FILES before it is loaded. */
const HOOKS = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.READ_FILES, url + "\\n");
  return next(url, context);
}`;
const REGISTER = `import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(HOOKS)}));`;

/** Files of the command, by the start of their names, that nothing needs before a model has answered. */
const LATER = ["subcommands", "configLayers", "gitTree", "restore", "chat", "provider"];

/** Runs a task, and returns the addresses of what was loaded when its request arrived. */
async function loadedBeforeRequest(...args: string[]): Promise<string> {
  const box = new Sandbox();
  const list = join(box.root, "files.txt");
  let loaded = "";
  const { origin } = await serve((request, response) => {
    loaded ||= readFileSync(list, "utf8");
    request.resume();
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "Hello." };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
  });
  const { code, stderr } = await box.run([...args, "say hello"], {
    env: {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(REGISTER)}`,
      READ_FILES: list,
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: "none",
      AGENT_MODEL: "m",
    },
  });
  expect(code, stderr).toBe(0);
  return loaded;
}

test("asks the model in a task before anything is loaded that reads configs, asks questions or defines other commands", async () => {
  const built = readdirSync(join(dirname(BIN), "dist"));
  // A file that has another name now would never be loaded under the old one.
  for (const name of LATER) expect(built).toContainEqual(expect.stringMatching(`^${name}-[^.]+\\.js$`));
  const loaded = await loadedBeforeRequest("--enable", "run_bash", "--mode", "auto", "--no-sandbox");
  expect(loaded).toMatch(/tools-bash\/dist\/index\.js/);
  for (const late of [
    new RegExp(`cli/dist/(${LATER.join("|")})-`),
    /^node:(readline|vm)$/m,
    /cosmiconfig|jiti|openai\/(?!dist)/,
  ]) {
    expect(loaded).not.toMatch(late);
  }
});

/** A pack whose tool is known a little later, or never. */
const latePack = (name: string, wait: string): string => `
export const packName = "${name}";
export function register(registry) {
  registry.registerLater("the tools of ${name}", async (registry) => {
    await ${wait};
    registry.register({
      name: "${name}",
      getSchema: () => ({ type: "function", function: { name: "${name}", description: "x", parameters: { type: "object" } } }),
      execute: async () => "x",
    });
  });
}`;

test("the first request has tools that come a little later, and the user learns which are still loading", async () => {
  const box = new Sandbox();
  box.write("soon.mjs", latePack("soon", "new Promise((resolve) => setTimeout(resolve, 200))"));
  box.write("never.mjs", latePack("never", "new Promise(() => {})"));
  box.write("agent.config.json", JSON.stringify({ packs: ["./soon.mjs", "./never.mjs"] }));
  const offered: string[][] = [];
  const { origin } = await serve(async (request, response) => {
    const { tools = [] } = JSON.parse(await text(request));
    offered.push(tools.map((tool: { function: { name: string } }) => tool.function.name));
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "Hello." };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
  });
  const env = { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: "none", AGENT_MODEL: "m" };
  const { stderr } = await box.run(["--trust", "say hello"], { env });
  expect(offered[0]).toContain("soon");
  expect(stderr).toMatch(/Still loading: the tools of never\. The first request goes without these tools/);
});

// The pack as a client of the conformance suite, used like a user would: inspects the server, logs in if an error says
// so, connects, and calls every tool.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation, createToolRegistry } from "@agent/core";
import {
  connectServers,
  createConnectionHost,
  inspectServer,
  LoginNeededError,
  loginServer,
} from "@agent/tools-mcp/manage";

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || "{}");
const directory = mkdtempSync(join(tmpdir(), "agent-conformance-"));
process.env.XDG_CONFIG_HOME = directory;
if (context.client_secret) process.env.CONFORMANCE_SECRET = context.client_secret;

const oauth = {
  ...(context.client_id && { clientId: context.client_id, clientSecretVariable: "CONFORMANCE_SECRET" }),
  // The client metadata document that the suite's authorization servers know.
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
};
const server = { url, oauth, enable: true, timeoutMs: 20_000 };
const host = createConnectionHost({}, directory, undefined);

/** The browser of a user who approves everything. */
async function openBrowser(address) {
  const page = await fetch(address, { redirect: "manual" });
  await fetch(page.headers.get("location"));
}

async function login(scope) {
  const signal = AbortSignal.timeout(20_000);
  await loginServer("suite", server, host, { openBrowser, signal, ...(scope && { scope }) });
}

/** The answers of a user who accepts every default. */
async function ask({ fields }) {
  const filled = fields.filter((field) => field.default !== undefined);
  return { answer: "yes", values: Object.fromEntries(filled.map((field) => [field.name, field.default])) };
}

async function main() {
  try {
    await inspectServer("suite", server, host);
  } catch (error) {
    if (!(error instanceof LoginNeededError)) throw error;
    // A server that moved to another issuer meanwhile refuses the first login: a user tries once more.
    await login().catch((refused) => {
      if (!String(refused).includes("still refuses")) throw refused;
      return login();
    });
  }
  const registry = createToolRegistry(new Conversation());
  try {
    const packHost = { context: new Conversation(), baseDirectory: directory, ask };
    const problems = await connectServers(registry, { suite: server }, packHost);
    // Tools that cannot be used are reported, and the others are used.
    const failures = problems.filter((problem) => !/ (is|are) set aside/.test(problem));
    if (failures.length > 0) throw new Error(failures.join("\n"));
    for (const { name, args } of calls(registry)) await call(registry, name, args);
  } finally {
    await registry.dispose();
  }
}

/** The calls the scenario asks for, or one of every tool. */
function calls(registry) {
  const names = registry.getToolNames().filter((name) => name.startsWith("mcp__"));
  if (context.toolCalls) {
    // A model leaves out what is null: the schema of the tool has no null.
    return context.toolCalls.map(({ name, arguments: args }) => ({
      name: `mcp__suite__${name}`,
      args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)),
    }));
  }
  return names.map((name) => ({ name, args: exampleOf(registry, name) }));
}

function exampleOf(registry, name) {
  const { parameters } = registry
    .getEnabledSchemas()
    .find(({ function: tool }) => tool.name === name).function;
  // This scenario expects the schema of another tool as the client understood it.
  if (name === "mcp__suite__json_schema_echo") {
    const other = registry
      .getEnabledSchemas()
      .find(({ function: tool }) => tool.name.endsWith("2020_12_tool"));
    return { schema: other.function.parameters };
  }
  const values = { string: "text", number: 5, integer: 5, boolean: true, array: [], object: {} };
  const required = parameters.required ?? [];
  return Object.fromEntries(required.map((key) => [key, values[parameters.properties[key]?.type] ?? "text"]));
}

/** Calls a tool; if its error asks for a login with more permissions, logs in and calls again. */
async function call(registry, name, args) {
  let result = await registry.run(name, args);
  const scope = /--scope "([^"]+)"/.exec(result.text)?.[1];
  if (scope) {
    await login(scope);
    result = await registry.run(name, args);
  }
  process.stderr.write(`${name}: ${result.outcome} ${result.text.slice(0, 500)}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

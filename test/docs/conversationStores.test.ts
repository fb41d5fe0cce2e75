import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { ConversationStore } from "@agent/core";
import pg from "pg";
import ts from "typescript";
import { describe, expect, onTestFinished, test } from "vitest";
import { codeBlocks } from "./markdown.js";
import { ROOT } from "./pages.js";

const HERE = fileURLToPath(new URL("../", import.meta.url));
const POSTGRES = process.env.AGENT_TEST_POSTGRES ?? "";
const PAGE = codeBlocks(join(ROOT, "docs/embedding-databases.md"), "ts");
const RECIPE = PAGE.find((code) => code.startsWith("// postgresStore.ts\n"));
/** How the page opens the database. */
const OPEN_POSTGRES = PAGE.find((code) => code.includes("new pg.Pool("))
  ?.match(/^const database[\s\S]*?^const store = .*$/m)?.[0]
  .replace(/connectionString: ".*?"/, "connectionString: process.env.DATABASE");

/** The store that a program opens: that of the page. */
const OPEN = {
  files: 'const store = fileStore("chats");',
  Postgres: `
    const { default: pg } = await import("pg");
    const { postgresStore, TABLE } = await import("./postgresStore.js");
    ${OPEN_POSTGRES}`,
};

/** Pays once and is killed at the point it was given; started again without one, it says what it finds and asks again. */
const programOf = (open: string) => `
  import { appendFileSync } from "node:fs";
  import { Agent, defineTool, fileStore, openConversation } from "@agent/core";
  import { scriptedProvider } from "@agent/core/replay";
  ${open}
  const point = process.argv[2];
  const die = (here) => {
    if (here === point) process.kill(process.pid, "SIGKILL");
  };
  const watched = {
    load: store.load,
    append: async (id, changes, position) => {
      const has = (type, role) => changes.some((one) => one.type === type && one.message?.role === role);
      if (has("message", "assistant")) die("before the call is stored");
      await store.append(id, changes, position);
      if (has("message", "assistant")) die("after the call is stored");
      if (has("result", "tool")) die("after the result is stored");
    },
  };
  const { conversation, close } = await openConversation(watched, "order-7");
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    capabilities: ["write"],
    execute: () => {
      die("before it pays");
      appendFileSync("paid.txt", "paid\\n");
      die("after it paid");
      return "Paid.";
    },
  });
  console.log(JSON.stringify(conversation.sessionContext.map(({ content }) => content)));
  const script = point === undefined ? ["I know."] : [{ calls: [{ name: "pay" }] }, "It is paid."];
  console.log(await new Agent(scriptedProvider(script), { conversation, tools: [pay] }).chat("Pay."));
  await close();
  process.exit(0);
`;

/** Writes the program next to the store of the page; returns its directory. */
function writeProgram(program: string): string {
  mkdirSync(join(HERE, ".turbo"), { recursive: true });
  const directory = mkdtempSync(join(HERE, ".turbo/stores-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const recipe = ts.transpileModule(RECIPE ?? "", { compilerOptions }).outputText;
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  writeFileSync(join(directory, "postgresStore.js"), recipe);
  writeFileSync(join(directory, "program.mjs"), program);
  return directory;
}

async function run(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ["program.mjs", ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { output, errors, ended: signal ?? code };
}

/** A separate schema, so that other tests of the same server are not disturbed. */
async function freshDatabase(): Promise<string> {
  const schema = `stores_${crypto.randomUUID().replaceAll("-", "")}`;
  const client = new pg.Client({ connectionString: POSTGRES });
  await client.connect();
  await client.query(`create schema ${schema}`);
  onTestFinished(async () => {
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
  });
  const url = new URL(POSTGRES);
  url.searchParams.set("options", `-c search_path=${schema}`);
  return url.href;
}

const INTERRUPTED = expect.stringMatching(/^Interrupted: .* may or may not have run/);
/** Where it is killed, what the next program finds, and how often it was paid. */
const KILLS: readonly (readonly [string, readonly unknown[], number])[] = [
  ["before the call is stored", ["Pay."], 0],
  ["after the call is stored", ["Pay.", null, INTERRUPTED], 0],
  ["before it pays", ["Pay.", null, INTERRUPTED], 0],
  ["after it paid", ["Pay.", null, INTERRUPTED], 1],
  ["after the result is stored", ["Pay.", null, "Paid."], 1],
];

const stores = Object.entries(OPEN);
if (POSTGRES === "") process.stdout.write("Skipped: the Postgres recipe. It needs AGENT_TEST_POSTGRES.\n");
describe.each(stores)("a conversation in %s", (name, open) => {
  test.skipIf(name === "Postgres" && POSTGRES === "").each(KILLS)(
    "loses nothing and does nothing twice when the program is killed %s",
    async (point, found, paid) => {
      const directory = writeProgram(programOf(open));
      const env = name === "Postgres" ? { DATABASE: await freshDatabase() } : {};

      expect(await run(directory, [point], env)).toMatchObject({ errors: "", ended: "SIGKILL" });
      const next = await run(directory, [], env);
      expect(next).toMatchObject({ errors: "", ended: 0 });
      const [contents, answer] = next.output.split("\n");
      expect(JSON.parse(contents ?? "")).toEqual(found);
      expect(answer).toBe("I know.");
      const file = join(directory, "paid.txt");
      expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe("paid\n".repeat(paid));
      // The third program finds what the second one added.
      const last = await run(directory, [], env);
      expect(JSON.parse(last.output.split("\n")[0] ?? "")).toEqual([...found, "Pay.", "I know."]);
    },
  );
});

test.skipIf(POSTGRES === "")(
  "keeps a program with the Postgres recipe alive when Postgres closes its idle connections",
  async () => {
    const directory = writeProgram(`
      import { createInterface } from "node:readline";
      import { once } from "node:events";
      import { openConversation } from "@agent/core";
      ${OPEN.Postgres}
      const { conversation, flush } = await openConversation(store, "order-7");
      const lines = createInterface({ input: process.stdin });
      conversation.append({ role: "user", content: "one" });
      await flush();
      console.log("idle");
      await once(lines, "line");
      conversation.append({ role: "user", content: "two" });
      await flush();
      console.log((await openConversation(store, "order-7")).conversation.sessionContext.length);
      process.exit();`);
    const url = new URL(await freshDatabase());
    const name = `idle-${crypto.randomUUID()}`;
    url.searchParams.set("application_name", name);
    const child = spawn(process.execPath, ["program.mjs"], {
      cwd: directory,
      env: { ...process.env, DATABASE: url.href },
    });
    const [ended, errors] = [once(child, "close"), createInterface({ input: child.stderr })];
    const closed = once(errors, "line");
    const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await output.next()).value).toBe("idle");
    const client = new pg.Client({ connectionString: POSTGRES });
    await client.connect();
    const sql = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
    await client.query(sql, [name]);
    await client.end();
    await closed;
    child.stdin.write("continue\n");
    expect((await output.next()).value).toBe("2");
    expect(await ended).toEqual([0, null]);
  },
);

test.skipIf(POSTGRES === "")(
  "the Postgres recipe refuses an append to a conversation that was deleted or changed",
  async () => {
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    const recipe = ts.transpileModule(RECIPE ?? "", { compilerOptions }).outputText;
    const { postgresStore, TABLE } = (await import(`data:text/javascript,${encodeURIComponent(recipe)}`)) as {
      postgresStore: (database: pg.Pool) => ConversationStore;
      TABLE: string;
    };
    const database = new pg.Pool({ connectionString: await freshDatabase() });
    onTestFinished(() => database.end());
    await database.query(TABLE);
    const store = postgresStore(database);
    const said = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;
    await store.append("ann/1", [said("one"), said("two")], 0);
    await expect(store.append("ann/1", [said("again")], 1)).rejects.toThrow("another process");
    await expect(store.append("ann/1", [said("later")], 3)).rejects.toThrow("another process");
    await store.append("ann/1", [said("three")], 2);
    expect(await store.load("ann/1")).toEqual([said("one"), said("two"), said("three")]);
    await database.query("delete from conversation_changes where conversation = $1", ["ann/1"]);
    await expect(store.append("ann/1", [said("four")], 3)).rejects.toThrow("another process");
    expect(await store.load("ann/1")).toEqual([]);
  },
);

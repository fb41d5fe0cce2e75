/** The setup of a program in the documentation, and its expected output. */
export interface Program {
  /** All of its standard output, or a part of it. */
  readonly prints: string | RegExp;
  /** A part of its standard error; without it, that must be empty. */
  readonly says?: RegExp;
  /** Code around a partial program, or code that checks its effects. */
  readonly before?: string;
  readonly after?: string;
  /** Its standard input. */
  readonly input?: string;
  /** URLs in the page, and the variables with those of this machine. Without the variables it is skipped. */
  readonly servers?: Readonly<Record<string, string>>;
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "reader", version: "1" } },
};
const MCP_CLIENT = `${JSON.stringify(INITIALIZE)}\n`;
const ACP_EDITOR = `${JSON.stringify({ ...INITIALIZE, params: { protocolVersion: 1, clientCapabilities: {} } })}\n`;
/** Prints what the model got about its calls. */
const PRINT_RESULTS = `
for (const message of agent.conversation.sessionContext) if (message.role === "tool") console.log(message.content);`;

/** By the id of the snippet. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  "README.md#in-your-product": { prints: "slow.test.ts takes the longest.", says: /^✓ run_bash\n$/ },
  "README.md#as-a-pack-author": {
    before: 'import { Conversation, createToolRegistry } from "@agent/core";',
    after: `
      const registry = createToolRegistry(new Conversation(), [{ packName, packApiVersion, register }]);
      console.log(/^[1-6]$/.test(await registry.execute("dice_roll", { sides: 6 })));`,
    prints: "true\n",
  },
  "docs/configuration.md#from-a-program": {
    before: `
      import { execFileSync } from "node:child_process";
      import { writeFileSync } from "node:fs";
      writeFileSync("agent.config.json", '{ "packs": ["@agent/tools-fs"] }');
      execFileSync("agent", ["tools", "--trust"]);`,
    prints: /agent\.config\.json \[ '@agent\/tools-fs' \]\n$/,
  },
  "packages/terminal/README.md#-agent-terminal:2": {
    input: "Say hello.\n",
    prints: /^\/help lists the commands\.\n> Hello there\.\n/,
  },
  "packages/terminal/README.md#slash-commands": {
    input: "/time\n/quit\n",
    prints: /\n> \d+:\d\d:\d\d [AP]M\n/,
  },
  "packages/terminal/README.md#what-is-asked": {
    input: "Deploy.\n",
    prints: /\? deploy\n[\s\S]*It is live\.\n/,
  },
  "docs/embedding.md#embedding-the-agent:2": { prints: "The largest is plan.txt.", says: /^\[list_dir\]\n$/ },
  "docs/embedding.md#tools-of-your-own": {
    after: PRINT_RESULTS,
    prints: /^It is late\.\n\d+:\d\d:\d\d [AP]M\n$/,
  },
  "docs/embedding.md#what-an-answer-took-and-structured-answers": {
    prints: "Hello. 0 unknown cost 1 stop\n{ city: 'Oslo', people: 717710 }\n",
  },
  "docs/embedding.md#who-is-asking-one-agent-definition-for-many-users": {
    after: PRINT_RESULTS,
    prints: "You are Ann.\nann\n",
  },
  "docs/embedding.md#deciding-about-single-requests": {
    prints: "Here it is.\nFound.\n",
    after: PRINT_RESULTS,
  },
  "docs/embedding.md#sub-agents": { prints: '717,710.\n{"people":717710}\n', after: PRINT_RESULTS },
  "docs/embedding.md#answering-again-editing-and-branching": { prints: "Uno.\n2 2\n" },
  "docs/embedding-servers.md#users-by-a-token": { prints: "202\n403\n" },
  "docs/embedding-servers.md#a-support-desk": {
    after: `
      const request = (token, action, number = "7") =>
        new Request("http://localhost/chat?case=" + number, {
          headers: { authorization: "Bearer " + token, "content-type": "application/json" },
          ...(action && { method: "POST", body: JSON.stringify(action) }),
        });
      const post = async (...asked) => (await handlers.POST(request(...asked))).status;
      const { body } = await handlers.GET(request("token-of-bob"));
      const texts = body.pipeThrough(new TextDecoderStream()).getReader();
      let seen = "";
      const until = async (wanted) => {
        while (!wanted.test(seen)) seen += (await texts.read()).value;
        return wanted.exec(seen);
      };
      const hello = { type: "send", content: "Where is my money?" };
      console.log(await post("token-of-ann", hello, "8"), await post("no-token", hello), await post("token-of-ann", hello));
      const [, id] = await until(/"type":"approval","request":{"id":"([^"]+)"/);
      const decision = { type: "decide", id, decision: "allow" };
      console.log(await post("token-of-ann", decision), await post("token-of-bob", decision));
      await until(/"type":"done"/);
      console.log(/acme paid order 17 of ann back/.test(seen));
      await handlers.close();`,
    prints: "403 403 202\n403 202\ntrue\n",
  },
  "docs/embedding-servers.md#budgets-of-a-tenant": {
    prints: "Hello.\nYour company has used up its budget for today.\nHello.\n",
  },
  "docs/embedding.md#traces-and-metrics": { prints: "Hello.\n" },
  "docs/embedding-servers.md#serverless": {
    after: `
      const ask = (signal) => {
        const body = JSON.stringify({ user: "ann", message: "Hi." });
        return POST(new Request("http://localhost/", { method: "POST", body, signal }));
      };
      console.log(await (await ask()).text(), (await store.load("ann")).length);
      // A stream that is stopped must not end as if the answer were complete.
      const stopped = await ask(AbortSignal.abort());
      await stopped.text().catch((error) => console.log(error.message));
      // A client that leaves does not keep the conversation open, also where the platform does not abort the signal.
      const disposed = new Promise((resolve) => {
        const { dispose } = Agent.prototype;
        Agent.prototype.dispose = function () {
          resolve("Disposed.");
          return dispose.call(this);
        };
      });
      const left = await ask();
      await left.body.cancel();
      console.log(await Promise.race([disposed, new Promise((resolve) => setTimeout(resolve, 20_000, "Open."))]));
      process.exit();`,
    prints: /^Hello\. \d+\nAborted\.\nDisposed\.\n$/,
  },
  "docs/embedding-servers.md#durable-runs-behind-a-page": { prints: "202\nHello, Ann.\n" },
  "docs/embedding-servers.md#when-the-model-s-server-fails": { prints: "Here I am.\n" },
  "docs/embedding-databases.md#files": { prints: "[ 'I am Ann.', 'Hello, Ann.' ]\n" },
  "docs/embedding-databases.md#postgres:2": {
    servers: { "postgres://agent@db.example/agent": "AGENT_TEST_POSTGRES" },
    prints: "Hello.\n2\n",
  },
  "docs/embedding-databases.md#as-json": { prints: "[ 'Hi.', 'Hello.' ]\n" },
  "docs/embedding.md#asking-a-user-first": {
    prints:
      "deploy denied Tool call denied: deploy may change something, and no one is here to ask.\nlook ok Done.\n",
  },
  "docs/embedding.md#asking-a-user-first:2": { prints: /name: 'deploy',[\s\S]*\nIt is live\.\n$/ },
  "docs/embedding.md#hooks": {
    prints:
      'denied Tool call denied: the hook "freeze": Production is frozen.\nok Deployed to staging.\nTell the others.\n',
  },
  "docs/embedding.md#steering-and-stopping": { prints: "true\nTwo.\ntrue\n" },
  "docs/embedding.md#keeping-a-conversation": { prints: "Again!\n" },
  "docs/embedding.md#another-model-and-your-own-provider": { prints: "Hello there.\nAnn.\n" },
  "docs/providers.md#providers": { prints: "Hello there.\n" },
  // Prices count only at the vendor's own address.
  "docs/providers.md#facts-about-models": {
    before: "delete process.env.ANTHROPIC_BASE_URL;",
    prints: /^\d+ [\d.]+ \[ 'low', .*\]\n$/,
  },
  "docs/providers.md#choosing-one-by-name": {
    prints: "google [ 'GEMINI_API_KEY', 'GOOGLE_API_KEY' ] gemini-flash-latest\ngemini-of-the-list\n",
  },
  "docs/providers.md#writing-one": { prints: 'You said: "hello"\n' },
  "docs/providers.md#testing-one": { prints: /^acme\n(ok {3}.*\n){17}All checks passed\.\n/ },
  "docs/isolated-packs.md#for-authors": {
    after: "console.log(packName, needs);",
    prints: "agent-pack-forecast { hosts: [ 'api.acme.com' ] }\n",
  },
  "packages/evals/README.md#-agent-evals:2": {
    prints: /^true 3\nCASE[\s\S]*writes a file +my-model +always +3\/3 [\s\S]*1 hold, 0 fail/,
  },
  "docs/writing-a-pack.md#writing-a-pack": {
    before: 'import { Conversation, createToolRegistry } from "@agent/core";',
    after: `
      const registry = createToolRegistry(new Conversation(), [{ packName, packApiVersion, register }]);
      console.log(Number.isNaN(Date.parse(await registry.execute("clock_now"))));`,
    prints: "false\n",
  },
  "docs/writing-a-pack.md#state-and-text-for-the-prompt": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";`,
    after: `
      const add = (step) => ({ calls: [{ name: "plan_add", args: { step } }] });
      const agent = new Agent(
        scriptedProvider([
          add("Read."),
          add("Write."),
          "Planned.",
          ({ messages }) => messages[0].content,
        ]),
        { tools: [{ packName, packApiVersion, register }] },
      );
      await agent.chat("Plan.");
      console.log(await agent.chat("What is the plan?"));`,
    prints: "# The plan\nRead.\nWrite.\n",
  },
  "docs/writing-a-pack.md#messages-and-sessions": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";`,
    after: `
      const agent = new Agent(scriptedProvider([({ messages }) => messages[0].content]), {
        tools: [{ packName, packApiVersion, register }],
      });
      await agent.chat("password: x").catch((error) => console.log(error.code));
      console.log(await agent.chat("Hello."));`,
    prints:
      'message_denied\nHello.\n\n[Added by "careful", not written by the user]\nAnswer in one sentence.\n',
  },
  "docs/writing-a-pack.md#the-model-child-agents-and-waking": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";`,
    after: `
      const agent = new Agent(
        scriptedProvider([{ calls: [{ name: "second_opinion", args: { question: "Is it?" } }] }, "Done."]),
        {
          tools: [{ packName, packApiVersion, register }],
          resolveModel: (name) => (name === "critic" ? scriptedProvider(["It is not."]) : undefined),
        },
      );
      await agent.chat("Ask.");
      ${PRINT_RESULTS}`,
    prints: "It is not.\n",
  },
  "docs/writing-a-pack.md#2-write-a-tool:2": {
    after: `
      const [add, list] = notesTools([]);
      console.log(await add?.execute({ text: "Buy milk" }));
      console.log(await list?.execute({}));`,
    prints: "Note 1.\nBuy milk\n",
  },
  "docs/writing-a-pack.md#describe-what-a-call-does": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";
      import { createPathGuard } from "@agent/core/toolkit";`,
    after: `
      writeFileSync("note.txt", "hello");
      const agent = new Agent(
        scriptedProvider([{ calls: [{ name: "notes_shout", args: { path: "note.txt" } }] }, "Done."]),
        {
          tools: [shout(createPathGuard("."))],
          approve: ({ description, preview }) => {
            console.log(description.title, preview.changes[0].hunks[0].lines);
            return "allow";
          },
        },
      );
      for await (const event of agent.streamChat("go"))
        if (event.type === "tool_end") console.log(event.text, event.value, event.view.files[0].added);`,
    prints: "note.txt [ '-hello', '+HELLO' ]\nWrote 5 letters. { letters: 5 } 1\n",
  },
  "docs/writing-a-pack.md#run-commands": {
    before: `
      import { writeFileSync } from "node:fs";
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";`,
    after: `
      writeFileSync("package.json", JSON.stringify({ scripts: { hello: "echo hi", fail: "exit 3" } }));
      const run = (script) => ({ calls: [{ name: "scripts_run", args: { script } }] });
      const agent = new Agent(scriptedProvider([run("hello"), run("hello"), run("fail"), "Done."]), {
        tools: [runScript],
        approve: ({ description: { title, always } }) => {
          console.log("asked:", title);
          return { always: "scripts_run(" + always[0].pattern + ")" };
        },
      });
      for await (const event of agent.streamChat("go"))
        if (event.type === "tool_end") console.log(event.summary, JSON.stringify(event.text));`,
    prints:
      'asked: npm run hello\nexit code 0 "hi\\n"\nexit code 0 "hi\\n"\nasked: npm run fail\nexit code 3 ""\n',
  },
  "docs/writing-a-pack.md#secrets-late-tools-and-commands": {
    before: `
      import { createServer } from "node:http";
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";`,
    after: `
      process.env.ACME_TOKEN = "a-token-of-the-docs";
      const asked = [];
      const server = createServer((request, response) => {
        asked.push(request.headers.authorization);
        response.end('["Oslo"]');
      });
      await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
      const url = "http://127.0.0.1:" + server.address().port;
      const agent = new Agent(
        scriptedProvider([
          { calls: [{ name: "tides_watch", args: { harbour: "Oslo" } }] },
          { calls: [{ name: "tides_describe", args: { harbour: "Oslo" } }] },
          "High.",
        ]),
        { tools: [[{ packName, secrets, register }, { url }]], enable: ["tides_watch"] },
      );
      await agent.registry.services.loaded();
      const [command] = agent.registry.services.commands;
      const { send } = await command.run("Oslo", new AbortController().signal);
      console.log(send, await agent.chat(send), asked);
      ${PRINT_RESULTS}
      await agent.dispose();
      server.close();`,
    prints:
      "How is the tide in Oslo? High. [ 'Bearer a-token-of-the-docs' ]\nWatching Oslo.\nOslo is deep.\n",
  },
  "packages/acp/README.md#-agent-acp:2": { input: ACP_EDITOR, prints: /"agentInfo":\{"name":"my-agent"/ },
  "packages/core/README.md#-agent-core:2": { prints: "It said HELLO.\n" },
  "packages/durable/README.md#a-program-that-runs": {
    prints:
      /^the run is queued\n[\s\S]*tool_start\ntool_end\ntext\ndone\n(the run is \w+\n)*the run is done\nDone\.\n$/,
  },
  "packages/durable/README.md#approvals": {
    before: `
      import { defineTool } from "@agent/core";
      import { createFileEngine, defineRun, startRun, startWorker } from "@agent/durable";`,
    after: `
      // Another agent continues after the decision, so the answer depends on the conversation alone.
      const model = {
        respond: async ({ messages }) =>
          messages.at(-1).role === "tool"
            ? { content: "Done.", toolCalls: [], finishReason: "stop" }
            : { content: null, toolCalls: [{ id: "1", type: "function", function: { name: "note", arguments: "{}" } }], finishReason: "tool_calls" },
      };
      const note = defineTool({ name: "note", description: "d", input: { type: "object" }, capabilities: ["write"], execute: () => "Noted." });
      const create = (run) => {
        const agent = createAgent(model, run);
        agent.addTool(note);
        return { agent, message: "Go." };
      };
      const engine = createFileEngine("runs");
      const run = defineRun({ name: "r", version: "1", create });
      const worker = await startWorker(engine, { definitions: [run] });
      const id = await startRun(engine, run, {});
      for await (const one of engine.events(id, { follow: true })) {
        if ("event" in one) continue;
        console.log(one.run.state);
        const [waiting] = (await engine.get(id)).approvals;
        if (one.run.state === "waiting" && waiting) await engine.decide(id, waiting.key, "allow");
      }
      console.log((await engine.get(id)).result.text);
      await worker.close();
      await engine.close();`,
    prints: /waiting\n[\s\S]*done\nDone\.\n$/,
  },
  "packages/durable/README.md#many-machines:2": {
    servers: {
      "postgres://agent@db.example/agent": "AGENT_TEST_POSTGRES",
      "redis://queue.example:6379": "AGENT_TEST_REDIS",
    },
    prints: /queued: \d+/,
  },
  "packages/durable/README.md#traces": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";
      import { createFileEngine, defineRun, startRun, startWorker } from "@agent/durable";
      const engine = createFileEngine("runs");
      const create = (run) => ({ agent: new Agent(scriptedProvider(["Traced."]), { steps: run.steps }), message: "Go." });
      const review = defineRun({ name: "r", version: "1", create });
      const input = {};`,
    after: `
      const [{ id }] = await engine.list();
      for await (const _ of engine.events(id, { follow: true }));
      console.log((await engine.get(id)).result.text);
      process.exit();`,
    prints: "Traced.\n",
  },
  "packages/preset-default/README.md#-agent-preset-default:2": { prints: /^plan\.txt\n[\s\S]*^src\/\n$/m },
  "packages/preset-default/README.md#-agent-preset-default:3": { prints: "src/greet.ts\n[1 file]\n" },
  "packages/provider-ai-sdk/README.md#-agent-provider-ai-sdk:2": { prints: "Hello there.\n" },
  "packages/provider-anthropic/README.md#-agent-provider-anthropic:2": { prints: "Hello there.\n" },
  "packages/provider-google/README.md#-agent-provider-google:2": { prints: "Hello there.\n" },
  "packages/provider-openai/README.md#-agent-provider-openai:2": { prints: "Hello there.\n" },
  // The client of openai refuses a second address.
  "packages/provider-openai/README.md#options": {
    before: "delete process.env.OPENAI_BASE_URL;",
    prints: "Hello there.\n",
  },
  "packages/tools-bash/README.md#-agent-tools-bash:2": {
    prints: /^\{"stdout":"hello world\\n","stderr":"","exit_code":0,"signal":null,"timed_out":false,/,
  },
  "packages/tools-bash/README.md#options": {
    before: `
      import { Conversation, createToolRegistry } from "@agent/core";
      import * as bash from "@agent/tools-bash";
      const options = (`,
    after: `);
      const registry = createToolRegistry(new Conversation(), [[bash, options]], { enable: ["run_bash"] });
      console.log(await registry.execute("run_bash", { command: "git push" }));
      await registry.services.dispose();`,
    prints: /People push\./,
  },
  "packages/tools-bash/README.md#-sandbox-network-hosts-": {
    before: `
      import { Conversation, createToolRegistry } from "@agent/core";
      import * as bash from "@agent/tools-bash";
      const options = (`,
    after: `);
      const registry = createToolRegistry(new Conversation(), [[bash, options]]);
      console.log(registry.hasTool("run_bash"));
      await registry.services.dispose();`,
    prints: "true\n",
  },
  "packages/web/README.md#tokens-and-other-origins": {
    before: `
      import { Agent } from "@agent/core";
      import { scriptedProvider } from "@agent/core/replay";
      import { createChatHandlers } from "@agent/web/server";
      const handlers = createChatHandlers({
        allowedHosts: ["api.example.com"],
        identify: (request) => (request.headers.get("authorization") === "Bearer t" ? "ann" : undefined),
        open: () => new Agent(scriptedProvider(["Hello."])),
      });
      globalThis.sessionStorage = { getItem: () => "t" };
      globalThis.fetch = async (url, init) => {
        const request = new Request(url, init);
        return await handlers[request.method](request);
      };`,
    after: `
      await chat.send("Hi");
      const answer = () => JSON.stringify(chat.getState().messages);
      await new Promise((resolve) => chat.subscribe(() => answer().includes("Hello.") && resolve()));
      console.log(answer());
      process.exit(0);`,
    prints: /"content":"Hi".*"text":"Hello\."/,
  },
  "packages/tools-fs/README.md#-agent-tools-fs:2": { prints: /-eggs\n\+bread\n[\s\S]*notes\.txt\n/ },
  "packages/tools-fs/README.md#protected-files": { prints: /^Replaced package\.json/ },
  "docs/sub-agents.md#for-pack-authors": { prints: "The review is done.\n" },
  "docs/sub-agents.md#for-embedders": { prints: "{ files: 3 }\n" },
  "docs/sub-agents.md#for-embedders:2": { prints: "draft was removed.\n" },
  "packages/tools-agents/README.md#-agent-tools-agents:2": { prints: "explore look\nThere is a teapot.\n" },
  "packages/tools-code/README.md#-agent-tools-code:2": {
    prints: 'stock ok {"count":3}\nstock ok {"count":5}\nstock ok {"count":4}\nrun_script ok ["tea"]\n',
  },
  "packages/tools-mcp/README.md#a-pack-as-an-mcp-server": {
    input: MCP_CLIENT,
    prints: /"serverInfo":\{"name":/,
  },
  "packages/tools-search/README.md#-agent-tools-search:2": {
    prints: /^src\/greet\.ts:1:\/\/ TODO: greet by name\n\[1 matching line /,
  },
};

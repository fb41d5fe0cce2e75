/** The setup of a block of shell commands, and its expected output. */
export interface CommandBlock {
  /** The output of all its commands, standard error included. */
  readonly shows: readonly RegExp[];
  /** Files of the project besides the usual ones, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Blocks of the same page that are files of the project, by path. */
  readonly blocks?: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input?: string;
  /** The user's input in a terminal, each answer when its question has appeared. */
  readonly typed?: readonly (readonly [question: RegExp, answer: string])[];
  /** Whether a vendor's model answers; otherwise the offline assistant does. */
  readonly model?: boolean;
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "reader", version: "1" } },
};

/** Blocks of shell commands, by id. Commands of npm that install our packages are run by the publish tests. */
export const COMMANDS: Readonly<Record<string, CommandBlock>> = {
  "docs/start.md#a-first-task-without-a-key": {
    shows: [/offline assistant/, /plan\.txt/, /src\/greet\.ts:1:/],
  },
  "docs/start.md#a-model": { model: true, shows: [/^Hello there\.$/m] },
  "docs/start.md#the-chat": { typed: [[/^> /m, "/quit\r"]], shows: [/offline/i] },
  "docs/start.md#the-first-opt-in": {
    model: true,
    typed: [[/Run this command\?/, "y\r"]],
    shows: [/run_bash +off/, /All pass\./],
    files: { "package.json": '{ "scripts": { "test": "echo tests passed" } }' },
  },
  "docs/start.md#the-first-opt-in:2": {
    typed: [
      [/Packs,/, "\r"],
      [/run shell commands/, "y\r"],
      [/delete files/, "\r"],
      [/Ask you before/, "\r"],
      [/Run commands with/, "\r"],
      [/Let a command run/, "\r"],
      [/Run commands in a sandbox/, "\r"],
    ],
    shows: [/Wrote .*agent\.config\.ts/],
  },
  "docs/tools.md#try-one-without-a-model": {
    shows: [/^plan\.txt$/m, /^src\/greet\.ts:1:\/\/ TODO/m, /^# Shop$/m],
  },
  "docs/mcp-and-editors.md#write-a-server-in-one-minute:3": {
    blocks: {
      "greeter.ts": "docs/mcp-and-editors.md#write-a-server-in-one-minute",
      "agent.config.json": "docs/mcp-and-editors.md#write-a-server-in-one-minute:2",
    },
    input: `${JSON.stringify(INITIALIZE)}\n${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`,
    shows: [/greet +on/, /"serverInfo"/, /"name":"greet"/],
  },
  "docs/evals.md#running": {
    blocks: { "evals/port.eval.ts": "docs/evals.md#a-case" },
    shows: [/passed {2}changes one setting/, /scripted +≥ 80 % +1\/1/, /1 hold, 0 fail/],
  },
  "packages/cli/README.md#-agent-cli": { shows: [/src\/greet\.ts:1:/] },
  "packages/cli/README.md#use": {
    model: true,
    typed: [[/^> /m, "/quit\r"]],
    files: { "a.txt": "the content of a\n" },
    shows: [/"type":"result","exitCode":0/, /run_bash +off/, /the content of a/, /Hello there\./],
  },
};

/** Config files, by id: a command that reads each, and its output. */
export const CONFIGS: Readonly<
  Record<string, { readonly command: string; readonly shows: readonly RegExp[] }>
> = {
  "README.md#in-a-terminal:2": {
    command: "agent tools",
    shows: [/read_file +on/, /run_bash +on +enabled by .*, asks first/],
  },
  "docs/configuration.md#configuration": {
    command: "agent tools",
    shows: [/search_text +on/, /run_bash +on +enabled by .*, asks first/],
  },
  "docs/configuration.md#limits-of-cost-and-tokens": {
    command: "agent mcp list",
    shows: [/docs/, /docs-server/],
  },
  "docs/chat-reference.md#calls-that-ask-first": {
    command: "agent config --explain",
    shows: [/permissions +\{"allow":\["run_bash\(npm test \*\)","write_file\(src\/\*\*\)"\]/],
  },
  "docs/chat-reference.md#colours-and-your-own-keys": {
    command: "agent config --explain",
    shows: [/vim +true/, /keys +\{"f2":"next-mode","ctrl-t":"\/tools"/],
  },
  "docs/mcp-and-editors.md#connect-a-server-in-one-minute:2": {
    command: "agent mcp list",
    shows: [/files/, /server-filesystem/],
  },
  "docs/tools.md#on-and-off": {
    command: "agent tools",
    shows: [/run_bash +on +enabled by .*, asks first/, /move +off/],
  },
  "docs/tools.md#errors-right-after-an-edit:2": {
    command: "agent tools",
    shows: [/lsp_diagnostics +on/, /lsp_rename +on/],
  },
  "packages/tools-lsp/README.md#-agent-tools-lsp:2": {
    command: "agent tools",
    shows: [/lsp_references +on/],
  },
  "packages/tools-lsp/README.md#options": { command: "agent tools", shows: [/lsp_symbols +on/] },
  "packages/cli/README.md#configure": {
    command: "agent tools",
    shows: [/run_bash +on +enabled by .*, asks first/, /my_tool +on/],
  },
  "packages/tools-agents/README.md#agents-of-other-programs": {
    command: "agent tools",
    shows: [/agent_run +on/],
  },
  "docs/sub-agents.md#for-users": { command: "agent tools", shows: [/agent_run +on/] },
  "docs/code-mode.md#code-mode": { command: "agent tools", shows: [/run_script +on/] },
  "packages/tools-mcp/README.md#-agent-tools-mcp:2": {
    command: "agent mcp list",
    shows: [/files/, /github/, /https:\/\/docs\.example\.com\/mcp/],
  },
  "packages/hooks/README.md#-agent-hooks:2": { command: "agent tools", shows: [/write_file +on/] },
  "packages/tools-web/README.md#-agent-tools-web:2": {
    command: "agent tools",
    shows: [/web_fetch +on/, /web_search +on/],
  },
  "examples/pack-http/README.md#example-pack-http": { command: "agent tools", shows: [/http_fetch +on/] },
};

/** Commands with their output, by id, and what was done before; "…" matches anything. */
export const TRANSCRIPTS: Readonly<Record<string, string>> = {
  "README.md#in-a-terminal": "",
  "docs/cli.md#json:2": "",
  "docs/configuration.md#configuration:2": "",
  "docs/configuration.md#layers": "agent init --enable run_bash --confirm run_bash",
  "docs/configuration.md#trust": "agent init --enable run_bash && echo '// a change' >> agent.config.ts",
  "packages/cli/README.md#-agent-cli:2": "",
  "packages/cli/README.md#use:2": "",
};

/** Snippets that another test reads from the page and runs, by the test's file. */
export const RUN_ELSEWHERE: Readonly<Record<string, RegExp>> = {
  "test/docs/conversationStores.test.ts": /^docs\/embedding-databases\.md#postgres$/,
  "packages/web/test/element.test.ts": /^packages\/web\/README\.md#without-a-build-step$/,
  "test/docs/express.test.ts": /^packages\/web\/README\.md#on-the-server:2$/,
  "test/toolchains/next.test.ts": /^packages\/web\/README\.md#(on-the-server|in-the-page)$/,
  "test/publish/publish.test.ts": /^docs\/writing-a-pack\.md#/,
  "test/docs/docs.test.ts": /^docs\/fleets\.md#as-systemd-units/,
  "test/docs/editors.test.ts": /^docs\/mcp-and-editors\.md#(zed|jetbrains|neovim(:2)?)$/,
  "test/docs/kit.test.ts": /^packages\/testing\/README\.md#-agent-testing:2$/,
  "examples/comparison/test/tasks.test.ts": /^docs\/comparison\.md#/,
};

/** Snippets that cannot run here as written, with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "README.md#-agent": "it builds and tests everything, this test included",
  "docs/benchmarks.md#how-it-is-measured": "it measures for minutes",
  "docs/cli.md#json": "it is the form of a result: packages/cli/test/task.test.ts has its fields",
  "docs/fleets.md#on-one-machine": "workers run until they are stopped: packages/cli/test/runs.test.ts",
  "docs/fleets.md#on-many-machines": "addresses of servers: packages/cli/test/runsServers.test.ts",
  "docs/fleets.md#as-containers": "a file of variables for the containers below",
  "docs/fleets.md#as-containers:2":
    "it needs Docker; its command runs in packages/cli/test/runsServers.test.ts",
  "docs/fleets.md#backup-and-retention":
    "addresses of servers: packages/cli/test/runsServers.test.ts; files: packages/durable/src/files/faults.test.ts",
  "docs/fleets.md#tenants": "packages/cli/test/runs.test.ts",
  "docs/fleets.md#outages": "packages/cli/test/runs.test.ts",
  "docs/fleets.md#later-and-not-too-late":
    "workers run until they are stopped: packages/cli/test/runs.test.ts",
  "docs/fleets.md#again-and-again": "packages/cli/test/runsOperate.test.ts",
  "docs/fleets.md#further-messages-steps-and-forks": "packages/cli/test/runsOperate.test.ts",
  "docs/fleets.md#many-at-a-time": "packages/cli/test/runsOperate.test.ts",
  "docs/fleets.md#when-a-run-waits-for-someone": "packages/cli/test/runsOperate.test.ts",
  "docs/fleets.md#traces": "packages/cli/test/runsTraces.test.ts",
  "docs/mcp-and-editors.md#connect-a-server-in-one-minute": "test/mcp/add.test.ts",
  "docs/providers.md#writing-one:2": "its provider is examined by the program under Testing one",
  "docs/providers.md#writing-one:3":
    "such a package is loaded by its name in packages/cli/test/providerNames.test.ts",
  "docs/evals.md#a-case": "a file of the commands below it",
  "docs/mcp-and-editors.md#write-a-server-in-one-minute": "a file of the commands below it",
  "docs/mcp-and-editors.md#write-a-server-in-one-minute:2": "a file of the commands below it",
  "examples/fastify/README.md#example-fastify":
    "it serves until it is stopped: examples/fastify/src/app.test.ts",
  "examples/web/README.md#an-agent-in-a-web-page":
    "it serves until it is stopped: examples/web/src/app.test.ts",
};

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables, as people paste them
import { expect, test } from "vitest";
import { type PastedServer, readPasted } from "../src/paste/pastedServers.js";

const brief = ({ name, options }: PastedServer) => ({ [name]: options });

test.each([
  [
    ["npx -y @modelcontextprotocol/server-filesystem@1.2 ."],
    { filesystem: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem@1.2", "."] } },
  ],
  [
    ["npx", "-y", "@x/y-mcp", "--flag", "a b"],
    { y: { command: "npx", args: ["-y", "@x/y-mcp", "--flag", "a b"] } },
  ],
  [
    ["uvx mcp-server-git --repository ."],
    { git: { command: "uvx", args: ["mcp-server-git", "--repository", "."] } },
  ],
  [
    ["docker run -i --rm ghcr.io/github/github-mcp-server:1"],
    { github: { command: "docker", args: ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server:1"] } },
  ],
  [["'/opt/my tool/serve' --x"], { serve: { command: "/opt/my tool/serve", args: ["--x"] } }],
  [["https://mcp.linear.app/mcp"], { linear: { url: "https://mcp.linear.app/mcp" } }],
  [["docs", "https://example.com/mcp"], { docs: { url: "https://example.com/mcp" } }],
  [["mine", "--", "node", "a.js"], { mine: { command: "node", args: ["a.js"] } }],
  [
    ["claude mcp add --transport http sentry https://mcp.sentry.dev/mcp"],
    { sentry: { url: "https://mcp.sentry.dev/mcp" } },
  ],
  [
    ["claude mcp add air -e AIRTABLE_API_KEY=abc -s user -- npx -y airtable-mcp-server --a"],
    { air: { command: "npx", args: ["-y", "airtable-mcp-server", "--a"], env: ["AIRTABLE_API_KEY"] } },
  ],
  [
    ['claude mcp add-json w \'{"type":"http","url":"https://w.example/mcp"}\''],
    { w: { url: "https://w.example/mcp" } },
  ],
  [
    ["codex mcp add figma --url https://mcp.figma.com/mcp --bearer-token-env-var FIGMA_TOKEN"],
    { figma: { url: "https://mcp.figma.com/mcp", headers: { Authorization: "Bearer ${FIGMA_TOKEN}" } } },
  ],
  [
    ["gemini mcp add mine python server.py --port 8080"],
    { mine: { command: "python", args: ["server.py", "--port", "8080"] } },
  ],
  [
    [`code --add-mcp '{"name":"fetch","command":"uvx","args":["mcp-server-fetch"]}'`],
    { fetch: { command: "uvx", args: ["mcp-server-fetch"] } },
  ],
  [
    ["GITHUB_TOKEN=ghp_abcdefgh12345678 npx -y @modelcontextprotocol/server-github"],
    {
      github: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-github"],
        env: ["GITHUB_TOKEN"],
      },
    },
  ],
  [
    ["env", "API_KEY=abc", "LEVEL=info", "npx", "some-mcp"],
    { some: { command: "npx", args: ["some-mcp"], env: { API_KEY: "${API_KEY}", LEVEL: "info" } } },
  ],
  [
    [
      "docker run -i --rm -e GITHUB_TOKEN -e LEVEL=info --env=API_KEY=abc -v /a:/b ghcr.io/github/github-mcp-server stdio",
    ],
    {
      github: {
        command: "docker",
        args: [
          ...["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "-e", "LEVEL=info", "--env=API_KEY", "-v", "/a:/b"],
          ...["ghcr.io/github/github-mcp-server", "stdio"],
        ],
        env: ["GITHUB_TOKEN", "API_KEY"],
      },
    },
  ],
  [["$ npx @playwright/mcp@latest"], { playwright: { command: "npx", args: ["@playwright/mcp@latest"] } }],
  [["`npx -y x-mcp`"], { x: { command: "npx", args: ["-y", "x-mcp"] } }],
  [["npx -y x-mcp \\\n  --root /a"], { x: { command: "npx", args: ["-y", "x-mcp", "--root", "/a"] } }],
  [["<https://mcp.sentry.dev/mcp>"], { sentry: { url: "https://mcp.sentry.dev/mcp" } }],
  [
    ["cursor://anysphere.cursor-deeplink/mcp/install?name=c&config=eyJjb21tYW5kIjoibnB4IC15IHgifQ=="],
    { c: { command: "npx", args: ["-y", "x"] } },
  ],
  [
    [
      `https://insiders.vscode.dev/redirect/mcp/install?name=p&config=${encodeURIComponent('{"command":"npx","args":["p"]}')}`,
    ],
    { p: { command: "npx", args: ["p"] } },
  ],
  [
    [`vscode:mcp/install?${encodeURIComponent('{"name":"v","url":"https://v.example/mcp"}')}`],
    { v: { url: "https://v.example/mcp" } },
  ],
])("understands %j", (words, expected) => {
  expect(Object.assign({}, ...readPasted(words).map(brief))).toEqual(expected);
});

const ENTRY = { command: "npx", args: ["-y", "x"] };

test.each([
  [
    "Claude's block",
    JSON.stringify({ mcpServers: { a: ENTRY, b: { type: "http", url: "https://b.example" } } }),
  ],
  [
    "VS Code's block, with comments",
    `{ // mine\n "servers": { "a": ${JSON.stringify(ENTRY)}, "b": { "url": "https://b.example", }, } }`,
  ],
  ["VS Code's settings", JSON.stringify({ mcp: { servers: { a: ENTRY, b: { url: "https://b.example" } } } })],
  [
    "Zed's block",
    JSON.stringify({
      context_servers: { a: { source: "custom", ...ENTRY }, b: { url: "https://b.example" } },
    }),
  ],
  [
    "Zed's older block",
    JSON.stringify({
      context_servers: {
        a: { command: { path: "npx", args: ["-y", "x"] } },
        b: { url: "https://b.example" },
      },
    }),
  ],
  [
    "opencode's block",
    JSON.stringify({
      mcp: {
        a: { type: "local", command: ["npx", "-y", "x"] },
        b: { type: "remote", url: "https://b.example" },
      },
    }),
  ],
  [
    "Codex's block",
    '[mcp_servers.a]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  \'x\',\n]\n\n[mcp_servers."b"]\nurl = "https://b.example"',
  ],
  [
    "a list",
    JSON.stringify([
      { name: "a", ...ENTRY },
      { name: "b", url: "https://b.example" },
    ]),
  ],
  [
    "a block between fences",
    `\`\`\`json\n${JSON.stringify({ mcpServers: { a: ENTRY, b: { url: "https://b.example" } } })}\n\`\`\``,
  ],
  ["entries without braces", `"a": ${JSON.stringify(ENTRY)},\n"b": {"httpUrl": "https://b.example"},`],
])("understands %s", (_, text) => {
  expect(Object.assign({}, ...readPasted([text]).map(brief))).toEqual({
    a: ENTRY,
    b: { url: "https://b.example" },
  });
});

test("replaces secrets with names of variables, and keeps plain settings and references", () => {
  const block = {
    mcpServers: {
      github: {
        command: "gh",
        args: ["stdio"],
        env: {
          GITHUB_TOKEN: "ghp_0123456789abcdef",
          LOG_LEVEL: "info",
          OTHER: "${env:MY_OTHER}",
          ASKED: "${input:the-key}",
        },
      },
      api: {
        url: "https://api.example/mcp",
        headers: { Authorization: "Bearer abc123", "X-Toolset": "repos" },
      },
    },
  };
  const servers = readPasted([JSON.stringify(block)]);
  expect(Object.assign({}, ...servers.map(brief))).toEqual({
    github: {
      command: "gh",
      args: ["stdio"],
      env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", LOG_LEVEL: "info", OTHER: "${MY_OTHER}", ASKED: "${THE_KEY}" },
    },
    api: {
      url: "https://api.example/mcp",
      headers: { Authorization: "Bearer ${API_TOKEN}", "X-Toolset": "repos" },
    },
  });
  expect(servers.map(({ variables }) => variables)).toEqual([
    ["GITHUB_TOKEN", "MY_OTHER", "THE_KEY"],
    ["API_TOKEN"],
  ]);
  expect(servers.map(({ secrets }) => secrets)).toEqual([
    { GITHUB_TOKEN: "ghp_0123456789abcdef" },
    { API_TOKEN: "abc123" },
  ]);
});

test("converts Codex's names of variables to ours, and puts a secret of its block into no config", () => {
  const text = `# of ~/.codex/config.toml
[mcp_servers.docs]
command = "docs-mcp"
args = ["stdio"]
env_vars = ["HOME_PAGE"]
startup_timeout_sec = 20
[mcp_servers.docs.env]
API_KEY = "abc"
[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "us-east-1" }
env_http_headers = { X-Team = "TEAM" }`;
  const servers = readPasted([text]);
  expect(Object.assign({}, ...servers.map(brief))).toEqual({
    docs: { command: "docs-mcp", args: ["stdio"], env: ["HOME_PAGE", "API_KEY"] },
    figma: {
      url: "https://mcp.figma.com/mcp",
      headers: { "X-Region": "us-east-1", "X-Team": "${TEAM}", Authorization: "Bearer ${FIGMA_TOKEN}" },
    },
  });
  expect(servers[0]).toMatchObject({ secrets: { API_KEY: "abc" }, ignored: ["startup_timeout_sec"] });
});

test("does not take a placeholder for a value", () => {
  const [server] = readPasted(['{"x":{"command":"c","args":["a"],"env":{"API_KEY":"<YOUR_KEY>"}}}']);
  expect(server).toMatchObject({ options: { env: ["API_KEY"] }, variables: ["API_KEY"], secrets: {} });
});

test.each([
  ["figma-mcp --figma-api-key=abcdef0123", /"--figma-api-key" holds a secret/],
  ["x --token abcdef", /"--token" holds a secret/],
  ["npx -y server-postgres postgresql://me:hidden@localhost/db", /argument "…" holds a secret/],
  ["x --database-url=postgresql://me:hidden@localhost/db", /"--database-url" holds a secret/],
  ["npx mcp-remote https://a.example --header 'Authorization: Bearer abc'", /holds a secret/],
  ["npx mcp-remote https://a.example --header Authorization:abc", /holds a secret/],
  ["npx mcp-remote https://a.example '--header=X-Api-Key: abc'", /holds a secret/],
  ["https://x.example/mcp?apiKey=abcdef", /address holds a secret/],
  ["https://user:password@x.example/mcp", /holds a password/],
  ['{"a":{"type":"sse","url":"https://x.example/sse"}}', /streamable HTTP/],
  ['{"a": }', /not JSON/],
  ['{"a": 1}', /holds no server/],
  ["claude mcp add --transport sse a https://a.example/sse", /streamable HTTP/],
  ["export API_KEY=abc; npx x-mcp", /^"export" needs a shell/],
  ["npx x-mcp && echo hi", /^"&&" needs a shell/],
  ["@scope/some-mcp", /Paste the command that starts it: npx -y @scope\/some-mcp/],
  ["mcpServers:\n  - name: x", /These lines are not understood/],
  ["[mcp_servers.a]\ncommand = npx", /not valid TOML, line 2: invalid value/],
  ['[mcp_servers.a]\ncommand = "x" args', /not valid TOML, line 2: each key-value/],
  ['"unclosed', /quote/],
  ["", /Nothing was pasted/],
])("refuses %s with a message", (text, message) => {
  expect(() => readPasted([text])).toThrow(message);
});

test.each([
  "x --max-tokens 100 --auth true",
  "npx mcp-remote https://a.example --header Authorization:${AUTH_HEADER}",
  "npx mcp-remote https://a.example --header 'X-Region: eu'",
  "docker run -i auth-server:latest",
  "npx server-postgres postgresql://me@localhost/db",
])("accepts %s, which only looks like a secret", (line) => {
  expect(readPasted([line])).toHaveLength(1);
});

test("replaces an address that has a password by the name of its variable", () => {
  const [server] = readPasted(["DATABASE_URL=postgresql://me:hidden@localhost/db npx x-mcp"]);
  expect(JSON.stringify(server?.options)).not.toContain("hidden");
  expect(server).toMatchObject({ options: { env: ["DATABASE_URL"] }, variables: ["DATABASE_URL"] });
});

test("repeats nothing of a line with an unclosed quote, which may contain a secret", () => {
  expect(() => readPasted(["KEY=hidden npx 'x"])).toThrow(/^A quote \('\) is not closed\.$/);
});

test("accepts from another tool's command a server name that every object has", () => {
  const [server] = readPasted(["claude mcp add constructor -- npx x-mcp"]);
  expect(server).toMatchObject({ name: "constructor", options: { command: "npx", args: ["x-mcp"] } });
});

test("adjusts a name to fit, and reports keys that mean nothing here", () => {
  const [server] = readPasted(['{"My Server__x":{"command":"c","args":[],"autoApprove":["a"]}}']);
  expect(server).toMatchObject({ name: "My-Server_x", ignored: ["autoApprove"] });
});

test("refuses without a wait a text full of comments that never end", () => {
  expect(() => readPasted([`{${"/* ".repeat(1_000_000)}}`])).toThrow("This is not JSON");
});

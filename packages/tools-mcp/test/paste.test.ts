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
])("%j is understood", (words, expected) => {
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
  ["entries without braces", `"a": ${JSON.stringify(ENTRY)},\n"b": {"httpUrl": "https://b.example"},`],
])("%s is understood", (_, text) => {
  expect(Object.assign({}, ...readPasted([text]).map(brief))).toEqual({
    a: ENTRY,
    b: { url: "https://b.example" },
  });
});

test("secrets become names of variables; plain settings and references stay", () => {
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

test("a placeholder is no value", () => {
  const [server] = readPasted(['{"x":{"command":"c","args":["a"],"env":{"API_KEY":"<YOUR_KEY>"}}}']);
  expect(server).toMatchObject({ options: { env: ["API_KEY"] }, variables: ["API_KEY"], secrets: {} });
});

test.each([
  ["figma-mcp --figma-api-key=abcdef0123", /"--figma-api-key" holds a secret/],
  ["x --token abcdef", /"--token" holds a secret/],
  ["https://x.example/mcp?apiKey=abcdef", /address holds a secret/],
  ["https://user:password@x.example/mcp", /holds a password/],
  ['{"a":{"type":"sse","url":"https://x.example/sse"}}', /streamable HTTP/],
  ['{"a": }', /not JSON/],
  ['{"a": 1}', /holds no server/],
  ['"unclosed', /quote/],
  ["", /Nothing was pasted/],
])("%s is refused in words", (text, message) => {
  expect(() => readPasted([text])).toThrow(message);
});

test("what only looks like a secret passes", () => {
  expect(readPasted(["x --max-tokens 100 --auth true"])[0]?.options).toMatchObject({ command: "x" });
});

test("a name is made to fit, and keys that mean nothing here are told", () => {
  const [server] = readPasted(['{"My Server__x":{"command":"c","args":[],"autoApprove":["a"]}}']);
  expect(server).toMatchObject({ name: "My-Server_x", ignored: ["autoApprove"] });
});

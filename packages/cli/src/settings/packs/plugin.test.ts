import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isPluginFolder, readPlugin } from "./plugin.js";

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
const DATA = "/data";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-plugin-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
}

describe("the manifest of a plugin", () => {
  test("is read, and what is ignored is named", () => {
    write(
      "plugin.json",
      `\uFEFF${JSON.stringify({
        $schema: SCHEMA,
        name: "acme.tools",
        version: "1.2.0",
        author: { name: "A" },
        hooks: "./hooks.json",
        extensions: { "com.example.client": {} },
      })}`,
    );
    for (const name of ["hooks/hooks.json", "com.example.client/x", "docs/a.md", "skills/x/SKILL.md"])
      write(name, "");
    expect(readPlugin(folder, DATA)).toEqual({
      name: "acme.tools",
      version: "1.2.0",
      servers: {},
      ignored: [
        'the unknown field "hooks" of plugin.json',
        'the extension "com.example.client"',
        'the folder "com.example.client"',
        'the folder "hooks"',
      ],
    });
  });

  test.each<[string, object | string, string]>([
    ["no JSON", "{", "is not a JSON object"],
    ["no schema", { name: "a" }, '"$schema" must be'],
    ["another version", { $schema: SCHEMA.replace("1.0.0", "2.0.0"), name: "a" }, "2.0.0"],
    ["no name", { $schema: SCHEMA }, '"name" must have'],
    ["a name with two hyphens", { $schema: SCHEMA, name: "a--b" }, '"name" must have'],
    ["a path as name", { $schema: SCHEMA, name: "../x" }, '"name" must have'],
    ["a number as version", { $schema: SCHEMA, name: "a", version: 1 }, '"version" must be a string'],
    ["a text as author", { $schema: SCHEMA, name: "a", author: "me" }, '"author" must be an object'],
    ["a text as keywords", { $schema: SCHEMA, name: "a", keywords: "x" }, '"keywords" must be'],
  ])("is refused with %s", (_, manifest, reason) => {
    write("plugin.json", manifest);
    expect(() => readPlugin(folder, DATA)).toThrow(reason);
  });

  test("is not followed out of the folder", () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "agent-plugin-")));
    writeFileSync(join(outside, "plugin.json"), JSON.stringify({ $schema: SCHEMA, name: "a" }));
    symlinkSync(join(outside, "plugin.json"), join(folder, "plugin.json"));
    expect(() => readPlugin(folder, DATA)).toThrow("is not a JSON object");
    rmSync(outside, { recursive: true });
  });

  test("does not make a plugin of a package that is a pack", () => {
    write("plugin.json", { $schema: SCHEMA, name: "a" });
    expect(isPluginFolder(folder)).toBe(true);
    write("package.json", { name: "a", keywords: ["agent-pack"] });
    expect(isPluginFolder(folder)).toBe(false);
  });
});

describe("the MCP servers of a plugin", () => {
  const read = (mcpServers: unknown, more: object = {}) => {
    write("plugin.json", { $schema: SCHEMA, name: "a" });
    write("mcp.json", { $schema: MCP_SCHEMA, mcpServers, ...more });
    return readPlugin(folder, DATA);
  };

  test("get their folder and their data", () => {
    const local = {
      type: "stdio",
      command: "./bin/server",
      args: [`\${PLUGIN_DATA}/x`, "y"],
      env: { CONFIG: `\${PLUGIN_ROOT}/c` },
    };
    const remote = { type: "streamable-http", url: "https://example.com/mcp", headers: { "X-A": "b" } };
    expect(read({ local, remote })).toMatchObject({
      ignored: [],
      servers: {
        local: {
          command: join(folder, "bin/server"),
          args: ["/data/x", "y"],
          cwd: folder,
          env: { CONFIG: `${folder}/c`, PLUGIN_ROOT: folder, PLUGIN_DATA: DATA },
        },
        remote: { url: "https://example.com/mcp", headers: { "X-A": "b" } },
      },
    });
  });

  test.each<[object, string]>([
    [{ type: "stdio" }, '"command" is missing'],
    [{ type: "stdio", command: "../x" }, "is neither a name nor a path"],
    [{ type: "stdio", command: "./../x" }, "is neither a name nor a path"],
    [{ type: "stdio", command: "/bin/sh" }, "is neither a name nor a path"],
    [{ type: "stdio", command: "x", cwd: `\${PLUGIN_ROOT}/..` }, "is not in the plugin"],
    [{ type: "stdio", command: "x", cwd: "data" }, "is not in the plugin"],
    [{ type: "stdio", command: "x", env: { PLUGIN_ROOT: "/" } }, "cannot be set"],
    [{ type: "stdio", command: "x", shell: true }, 'the field "shell" is unknown'],
    [{ type: "stdio", command: "x", env: { KEY: `\${OPENAI_API_KEY}` } }, "is not defined in a plugin"],
    [{ type: "sse", url: "https://example.com" }, 'the transport "sse" cannot be used'],
    [{ type: "streamable-http", url: "http://example.com" }, "must start with https://"],
    [{ type: "streamable-http", url: "https://a:b@example.com" }, "must start with https://"],
  ])("%j is left out, and the others are used", (server, reason) => {
    const { servers, ignored } = read({ bad: server, good: { type: "stdio", command: "node" } });
    expect(Object.keys(servers)).toEqual(["good"]);
    expect(ignored).toEqual([expect.stringContaining(reason)]);
  });

  test("are left out as a whole if mcp.json has other fields", () => {
    const { servers, ignored } = read({ good: { type: "stdio", command: "node" } }, { inputs: [] });
    expect([servers, ignored]).toEqual([{}, [expect.stringContaining("and nothing else")]]);
  });
});

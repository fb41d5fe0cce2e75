import { execFile } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  Agent,
  type ApprovalRequest,
  Conversation,
  createToolRegistry,
  definePack,
  defineTool,
} from "@agent/core";
import { decideCall, matchesGlob, parseRule, type Ruling } from "@agent/core/host";
import { scriptedProvider } from "@agent/core/replay";
import * as preset from "@agent/preset-default";
import * as web from "@agent/tools-web";
import { expect, onTestFinished, test } from "vitest";
import { project, started } from "./editor.js";

const text = { type: "string" } as const;

const rework = defineTool({
  name: "rework",
  description: "Replaces a line of a file.",
  input: {
    type: "object",
    properties: { path: text, from: text, to: text },
    required: ["path", "from", "to"],
  },
  capabilities: ["write"],
  titleFrom: "path",
  pathArguments: ["path"],
  describe: ({ path }) => ({
    targets: [
      { type: "file", path: realpathSync(path), access: "read" },
      { type: "file", path: realpathSync(path), access: "write" },
    ],
  }),
  preview: (input) => ({ changes: [changeOf(input)], shows: ["from", "to"] }),
  execute(input, call) {
    const change = changeOf(input);
    writeFileSync(input.path, readFileSync(input.path, "utf8").replace(input.from, input.to));
    call.report({ ok: true, view: { type: "diff", files: [change] } });
    return "Replaced.";
  },
});

function changeOf({ path, from, to }: { path: string; from: string; to: string }) {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  const shown = lines.flatMap((line) => (line === from ? [`-${line}`, `+${to}`] : [` ${line}`]));
  const hunks = [{ oldStart: 1, newStart: 1, lines: shown }];
  return { path: realpathSync(path), change: "edited" as const, added: 1, removed: 1, hunks };
}

const launch = defineTool({
  name: "launch",
  description: "Runs a command.",
  input: { type: "object", properties: { command: text }, required: ["command"] },
  capabilities: ["execute"],
  titleFrom: "command",
  // Only the tool itself understands its commands.
  permissions: {
    check: () => undefined,
    match: (patterns, targets) =>
      patterns.map((pattern) =>
        targets.map((target) =>
          target.type === "command" && matchesGlob(pattern, target.text) ? "covers" : "none",
        ),
      ),
  },
  // One target for each command of a list.
  describe: ({ command }) => ({
    targets: command.split("; ").map((one) => ({ type: "command", text: one })),
  }),
  execute: ({ command }, call) =>
    new Promise<string>((done) => {
      execFile("/bin/sh", ["-c", command], (error, stdout) => {
        const exitCode = Number(error?.code ?? 0);
        call.onOutput(stdout);
        const view = { type: "output", text: stdout, exitCode } as const;
        call.report({ ok: exitCode === 0, summary: `exit code ${exitCode}`, view });
        done(stdout);
      });
    }),
});

const load = defineTool({
  name: "load",
  description: "Fetches a page.",
  input: { type: "object", properties: { url: text }, required: ["url"] },
  capabilities: ["read", "network"],
  kind: "fetch",
  titleFrom: "url",
  describe: ({ url }) => ({ title: url, targets: [{ type: "url", url }] }),
  async execute({ url }, call) {
    const page = await fetch(url, { signal: call.signal });
    call.report({ ok: page.ok, summary: `HTTP ${page.status}` });
    return await page.text();
  },
});

const thirdParty = definePack({ name: "third-party", setup: () => ({ tools: [rework, launch, load] }) });

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** What an editor gets about the calls, with the names of the tools replaced and without texts for the model. */
async function presented(
  packs: NonNullable<Parameters<typeof createToolRegistry>[1]>,
  calls: readonly Call[],
  cwd: string,
) {
  const enable = calls.map(({ name }) => name);
  const editor = await started(
    {
      packs,
      enable,
      capabilities: { terminal: true },
      answers: [...calls.map((call) => ({ calls: [call] })), "Done."],
    },
    cwd,
  );
  await editor.prompt("Go.");
  const names = new RegExp(`\\b(?:${calls.map(({ name }) => name).join("|")})\\b`, "g");
  const requested = editor.updates
    .filter((update) => update.sessionUpdate === "tool_call")
    .map(({ title, kind }) => ({ title: title.replace(names, "TOOL"), kind }));
  const asked = editor.permissions.map(({ toolCall: { title, kind, locations, content } }) => ({
    title: title?.replace(names, "TOOL"),
    kind,
    locations,
    content: content?.filter(({ type }) => type === "diff"),
  }));
  const ended = editor.updates
    .filter((update) => update.sessionUpdate === "tool_call_update")
    .filter(({ status }) => status === "completed" || status === "failed")
    .map(({ status, locations, content }) => ({
      status,
      locations,
      content: content?.filter(({ type }) => type === "diff"),
    }));
  const exits = await Promise.all(editor.terminals.all.map(({ exit }) => exit));
  return { requested, asked, ended, exits };
}

/** How each call is decided about under these rules. */
async function rulings(
  tools: Parameters<typeof createToolRegistry>[1],
  calls: readonly Call[],
  root: string,
  rules: { readonly allow?: readonly string[]; readonly deny?: readonly string[] },
): Promise<Ruling["type"][]> {
  const found: Ruling["type"][] = [];
  const registry = createToolRegistry(new Conversation(), tools);
  for (const { name } of calls) registry.enable(name);
  const approve = async ({ name, args, capabilities, description }: ApprovalRequest) => {
    const ruling = await decideCall(
      { name, args, capabilities, description: description ?? {} },
      {
        tools: registry,
        root,
        rules: {
          allow: (rules.allow ?? []).map((rule) => parseRule(rule)),
          ask: [],
          deny: (rules.deny ?? []).map((rule) => parseRule(rule)),
        },
        granted: [],
        confirm: new Set(),
        mode: "ask",
      },
    );
    found.push(ruling.type);
    return { deny: "only asked" };
  };
  const answers = [...calls.map((call) => ({ calls: [call] })), "Done."];
  await new Agent(scriptedProvider(answers), { registry, approve }).chat("Go.");
  return found;
}

test("presents third-party tools and applies rules to them like built-in ones", async () => {
  const server = createServer((_request, response) => response.end("the page")).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}/page`;
  const cwd = project();
  const path = join(cwd, "a.txt");
  const command = "echo out; exit 3";
  const ours: Call[] = [
    { name: "edit_file", args: { path, old_text: "two", new_text: "2" } },
    { name: "run_bash", args: { command } },
    { name: "web_fetch", args: { url } },
  ];
  const theirs: Call[] = [
    { name: "rework", args: { path, from: "two", to: "2" } },
    { name: "launch", args: { command } },
    { name: "load", args: { url } },
  ];
  const builtIn = [preset, [web, { allow: [host], unknown: "allow" }]] as const;

  writeFileSync(path, "one\ntwo\n");
  const shown = await presented(builtIn, ours, cwd);
  writeFileSync(path, "one\ntwo\n");
  expect(await presented([thirdParty], theirs, cwd)).toEqual(shown);
  expect(shown.requested).toEqual([
    { title: `TOOL ${path}`, kind: "edit" },
    { title: command, kind: "execute" },
    { title: expect.stringContaining(url), kind: "fetch" },
  ]);
  expect(shown.asked[0]?.content).toEqual([
    { type: "diff", path, oldText: "one\ntwo\n", newText: "one\n2\n" },
  ]);
  expect(shown.ended.map(({ status }) => status)).toEqual(["completed", "failed", "completed"]);

  writeFileSync(path, "one\ntwo\n");
  for (const [rules, expected] of [
    [{ deny: ["file.write(*.txt)", "net.fetch(127.0.0.1)"] }, ["deny", "ask", "deny"]],
    [{ allow: ["file.read(*.txt)", "file.write(*.txt)", "net.fetch(127.0.0.1)"] }, ["allow", "ask", "allow"]],
    [{ deny: ["shell.run(echo *)"] }, ["ask", "deny", "ask"]],
    [{}, ["ask", "ask", "ask"]],
  ] as const) {
    expect(await rulings(builtIn, ours, cwd, rules)).toEqual(expected);
    expect(await rulings([thirdParty], theirs, cwd, rules)).toEqual(expected);
  }
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  argument,
  expectClearErrors,
  expectComplete,
  expectInvalidArgument,
  expectMethodsComplete,
} from "@agent/test-support";
import { afterAll, describe, test } from "vitest";
import { fakeContext, fakeTool } from "../test/fixtures.js";
import * as host from "./host.js";
import * as core from "./index.js";
import * as replay from "./providers/replay.js";
import * as toolkit from "./toolkit/index.js";

const directory = mkdtempSync(join(tmpdir(), "agent-arguments-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, "file");
const recording = join(directory, "recording.json");
writeFileSync(recording, '{"format":"agent-recording","version":1,"exchanges":[]}');
const intactSession = join(directory, "intact.json");
writeFileSync(intactSession, '{"format":"agent-session","version":1,"systemPrompt":"","messages":[]}');

const ANY = ["nothing", "null", "number", "text", "object", "list"] as const;
const scripted = () => replay.scriptedProvider(["Done."]);
const agent = (options?: core.AgentOptions) => new core.Agent(scripted(), options);
const registry = (options?: core.ToolRegistryOptions) => new core.ToolRegistry(options);
const withTool = () => {
  const one = registry();
  one.register(fakeTool("t"));
  return one;
};
/** The text of a call that the registry refused, thrown: it never throws itself. */
const failing = async (text: Promise<string>) => {
  if ((await text).startsWith("Error executing")) throw new Error(await text);
};
const textOf = (result: host.PreparedCall | core.ToolResult) => ("outcome" in result ? result.text : "");
const request = { messages: [], tools: [], signal: new AbortController().signal };
const pack = { register: () => undefined };
const session = { systemPrompt: "", messages: [] };

const conversation = (options?: core.ConversationOptions) => new core.Conversation(options);
const definition = { name: "t", description: "Test.", input: { type: "object" }, execute: () => "" };

const saving = () =>
  agent({
    conversation: new core.Conversation({ sessionContextFilePath: join(directory, "session.json") }),
  });

/** An agent with a call that waits for a decision; what is not decided is allowed. */
const waiting = async () => {
  const script = [{ calls: [{ name: "t", args: {} }] }, "Done."];
  let asked = 0;
  const one = new core.Agent(replay.scriptedProvider(script), {
    tools: [fakeTool("t")],
    approve: () => (asked++ === 0 ? "suspend" : "allow"),
  });
  await one.chat("Hi").catch(() => undefined);
  return one;
};

const CORE = [
  argument("textStream", "events", [], (value) => core.textStream(value).next()),
  argument("contentText", "content", ["text", "list"], (value) => core.contentText(value)),
  argument("Agent.chat", "id", ["nothing", "text"], (value) => agent().chat("Hi", { id: value })),
  argument("Agent.chat", "replaces", ["nothing"], (value) => agent().chat("Hi", { replaces: value })),
  argument("Agent.retry", "options", ["nothing", "object"], async (value) => {
    const one = agent();
    one.conversation.append({ role: "user", content: "Hi" });
    await one.retry(value);
  }),
  argument("openConversation", "store", [], (value) => core.openConversation(value, "a")),
  argument("fileStore", "directory", ["text"], (value) => core.fileStore(value)),
  argument("openConversation", "id", ["text"], (value) => core.openConversation(core.memoryStore(), value)),
  argument("Conversation.infoOf", "message", ["object"], (value) => conversation().infoOf(value)),
  argument("Conversation.indexOf", "id", ["text"], (value) => conversation().indexOf(value)),
  argument("Conversation.branch", "id", ["nothing"], (value) => conversation().branch(value)),
  argument("Conversation.rewind", "end", ["number"], (value) => conversation().rewind(value)),
  argument("Conversation.noteWaiting", "calls", ["list"], (value) => conversation().noteWaiting(value)),
  argument("agentTool", "definition", [], (value) => core.agentTool(value)),
  argument("Agent(options)", "toolChoice", ["nothing"], (value) => agent({ toolChoice: value })),
  argument("Agent(options)", "beforeRequest", ["nothing"], (value) => agent({ beforeRequest: value })),
  argument("Agent(options)", "stopWhen", ["nothing"], (value) => agent({ stopWhen: value })),
  argument("wrapProvider", "provider", [], (value) =>
    core.wrapProvider(value, (request, ask) => ask(request)),
  ),
  argument("wrapProvider", "respond", [], (value) => core.wrapProvider(scripted(), value)),
  argument("terminateOnSignals", "services", [], (value) => host.terminateOnSignals(value)),
  argument("Agent", "provider", [], (value) => new core.Agent(value)),
  argument("Agent", "options", ["nothing", "object"], (value) => agent(value)),
  argument("Agent(options)", "systemPrompt", ["nothing", "text"], (value) => agent({ systemPrompt: value })),
  argument("Agent(options)", "tools", ["nothing", "list"], (value) => agent({ tools: value })),
  argument("Agent(options)", "packs", ["nothing", "list"], (value) => agent({ packs: value })),
  argument("Agent(options)", "only", ["nothing", "list"], (value) => agent({ only: value })),
  argument("Agent(options)", "readOnly", ["nothing"], (value) => agent({ readOnly: value })),
  argument("Agent(options)", "context", ["nothing"], (value) => agent({ context: value })),
  argument("Agent(options)", "pack", [], (value) => agent({ tools: [value] })),
  argument("Agent(options)", "enable", ["nothing", "list"], (value) => agent({ enable: value })),
  argument("Agent(options)", "disable", ["nothing", "list"], (value) => agent({ disable: value })),
  argument("Agent(options)", "registry", ["nothing"], (value) => agent({ registry: value })),
  argument("Agent(options)", "conversation", ["nothing"], (value) => agent({ conversation: value })),
  argument("Agent(options)", "hooks", ["nothing", "list"], (value) => agent({ hooks: value })),
  argument("Agent(options)", "hook", [], (value) => agent({ hooks: [value] })),
  argument("Agent(options)", "steps", ["nothing"], (value) => agent({ steps: value })),
  argument("Agent(options)", "telemetry", ["nothing"], (value) => agent({ telemetry: value })),
  argument("Agent(options)", "approve", ["nothing"], (value) => agent({ approve: value })),
  argument("Agent(options)", "maxTurns", ["nothing", "number"], (value) => agent({ maxTurns: value })),
  argument("Agent(options)", "maxRepeats", ["nothing", "number"], (value) => agent({ maxRepeats: value })),
  argument("Agent(options)", "maxTurnOutputBytes", ["nothing", "number"], (value) =>
    agent({ maxTurnOutputBytes: value }),
  ),
  argument("Agent(options)", "maxCallsPerAnswer", ["nothing", "number"], (value) =>
    agent({ maxCallsPerAnswer: value }),
  ),
  argument("Agent(options)", "maxOutputRetries", ["nothing", "number"], (value) =>
    agent({ maxOutputRetries: value }),
  ),
  argument("Agent(options)", "maxChildAgents", ["nothing", "number"], (value) =>
    agent({ maxChildAgents: value }),
  ),
  argument("Agent(options)", "maxChildDepth", ["nothing", "number"], (value) =>
    agent({ maxChildDepth: value }),
  ),
  argument("Agent(options)", "contextTokens", ["nothing", "number"], (value) =>
    agent({ contextTokens: value }),
  ),
  argument("Agent.chat", "message", ["text"], (value) => agent().chat(value)),
  argument("Agent.chat", "options", ["nothing", "object"], (value) => agent().chat("Hi", value)),
  argument("Agent.chat", "signal", ["nothing"], (value) => agent().chat("Hi", { signal: value })),
  argument("Agent.streamChat", "message", ["text"], (value) => agent().streamChat(value).next()),
  argument("Agent.streamChat", "options", ["nothing", "object"], (value) =>
    agent().streamChat("Hi", value).next(),
  ),
  argument("Agent.run", "message", ["text"], (value) => agent().run(value)),
  argument("Agent.run", "options", ["nothing", "object"], (value) => agent().run("Hi", value)),
  argument("Agent.run", "output", ["nothing", "object"], (value) =>
    new core.Agent(replay.scriptedProvider(["{}"])).run("Hi", { output: value }),
  ),
  argument("Agent.resume", "decisions", ["object"], async (value) => (await waiting()).resume(value)),
  argument("Agent.resume", "options", ["nothing", "object"], async (value) =>
    (await waiting()).resume({}, value),
  ),
  argument("Agent.resume", "signal", ["nothing"], async (value) =>
    (await waiting()).resume({}, { signal: value }),
  ),
  argument("Agent.streamResume", "decisions", ["object"], async (value) =>
    (await waiting()).streamResume(value).next(),
  ),
  argument("Agent.streamResume", "options", ["nothing", "object"], async (value) =>
    (await waiting()).streamResume({}, value).next(),
  ),
  argument("Agent.steer", "message", ["text"], (value) => agent().steer(value)),
  argument("Agent.compact", "options", ["nothing", "object"], (value) => agent().compact(value)),
  argument("Agent.setApproval", "approve", [], (value) =>
    agent().setApproval({
      approve: value,
      rules: { decide: () => ({ type: "ask" }), allow: () => undefined },
    }),
  ),
  argument("Agent.setApproval", "rules", [], (value) =>
    agent().setApproval({ approve: () => "allow", rules: value }),
  ),
  argument(
    "Agent.startAgent",
    "systemPrompt",
    ["nothing", "text"],
    (value) => agent().startAgent({ message: "Hi", systemPrompt: value }).done,
  ),
  argument("Agent.onBackgroundEvent", "listener", [], (value) => agent().onBackgroundEvent(value)),
  argument("Agent.startAgent", "onEvent", ["nothing"], (value) =>
    agent().startAgent({ message: "Hi" }, value),
  ),
  argument("Agent.setEffort", "effort", ["nothing"], (value) => agent().setEffort(value)),
  argument("Conversation", "options", ["nothing", "object"], (value) => new core.Conversation(value)),
  argument("Conversation(options)", "systemPrompt", ["nothing", "text"], (value) =>
    conversation({ systemPrompt: value }),
  ),
  argument("Conversation(options)", "session", ["nothing"], (value) => conversation({ session: value })),
  argument("Conversation(options)", "sessionContextFilePath", ["nothing", "text"], (value) =>
    conversation({ sessionContextFilePath: value }),
  ),
  argument("Conversation.setSystemPrompt", "prompt", ["text"], (value) =>
    conversation().setSystemPrompt(value),
  ),
  argument("Conversation.onChange", "listener", [], (value) => conversation().onChange(value)),
  argument("Conversation.onChange", "recording", ["nothing", "object"], (value) =>
    conversation().onChange(() => undefined, value),
  ),
  argument("Conversation.detailsOf", "message", ANY, (value) => conversation().detailsOf(value)),
  argument("Conversation.addSpending", "tokens", ["number"], (value) =>
    conversation().addSpending({ tokens: value, cost: 0 }),
  ),
  argument("Conversation.append", "id", ["nothing", "text"], (value) =>
    conversation().append({ role: "user", content: "Hi" }, value),
  ),
  argument("Conversation.append", "message", ["object"], (value) => conversation().append(value)),
  argument("Conversation.openRound", "answer", ["object"], (value) => conversation().openRound(value)),
  argument("Conversation.reopenRound", "pending", [], (value) => conversation().reopenRound(value)),
  argument("Conversation.replace", "start", ["number"], (value) => conversation().replace(value, 0, [])),
  argument("Conversation.replace", "count", ["number"], (value) => conversation().replace(0, value, [])),
  argument("Conversation.replace", "messages", ["list"], (value) => conversation().replace(0, 0, value)),
  argument("Conversation.switchTo", "session", [], (value) => conversation().switchTo(value)),
  argument("Conversation.packState", "pack", ["text"], (value) => conversation().packState(value)),
  argument("Conversation.statesSince", "version", ["number"], (value) => conversation().statesSince(value)),
  argument("Conversation.replayStates", "changes", ["list"], (value) => conversation().replayStates(value)),
  argument("Conversation.settlePending", "text", ["text"], (value) => conversation().settlePending(value)),
  argument("recordSession", "conversation", [], (value) => core.recordSession(value, "never written")),
  argument("recordSession", "path", ["text"], (value) => core.recordSession(conversation(), value)),
  argument("recordSession", "options", ["nothing", "object"], (value) =>
    core.recordSession(conversation(), "never written", value),
  ),
  argument("definePack", "definition", [], (value) => core.definePack(value)),
  argument("definePack", "name", ["text"], (value) =>
    core.definePack({ name: value, setup: () => ({ tools: [] }) }),
  ),
  argument("typedSchema", "schema", ["object"], (value) => core.typedSchema(value)),
  argument("definePack", "setup", [], (value) => core.definePack({ name: "a", setup: value })),
  argument("off", "tool", ["object"], (value) => core.off(value)),
  argument("defineTool", "definition", [], (value) => core.defineTool(value)),
  argument("defineTool", "name", ["text"], (value) => core.defineTool({ ...definition, name: value })),
  argument("defineTool", "description", ["text"], (value) =>
    core.defineTool({ ...definition, description: value }),
  ),
  argument("defineTool", "input", [], (value) => core.defineTool({ ...definition, input: value })),
  argument("defineTool", "execute", [], (value) => core.defineTool({ ...definition, execute: value })),
  argument("Agent.addTool", "tool", [], (value) => agent().addTool(value)),
  argument("Agent.addTool", "options", ["nothing", "object"], (value) =>
    agent().addTool(fakeTool("t"), value),
  ),
  argument("Agent.removeTool", "name", ANY, (value) => agent().removeTool(value)),
  argument("Agent.enableTool", "name", ANY, (value) => agent().enableTool(value)),
  argument("Agent.disableTool", "name", ANY, (value) => agent().disableTool(value)),
  argument("Agent.setSystemPrompt", "prompt", ["text"], (value) => agent().setSystemPrompt(value)),
  argument("Agent.saveContext", "reason", ["text"], (value) => failing(saving().saveContext(value))),
  argument("Agent.saveContext", "options", ["nothing", "object"], (value) =>
    saving().saveContext("why", value),
  ),
  argument("Agent.saveContext", "reject", ["nothing"], (value) =>
    saving().saveContext("why", { reject: value }),
  ),
  argument("ToolRegistry", "options", ["nothing", "object"], (value) => registry(value)),
  argument("ToolRegistry(options)", "deadlineMs", ["nothing", "number"], (value) =>
    registry({ deadlineMs: value }),
  ),
  argument("ToolRegistry(options)", "maxResultBytes", ["nothing", "number"], (value) =>
    registry({ maxResultBytes: value }),
  ),
  argument("ToolRegistry(options)", "secrets", ["nothing"], (value) => registry({ secrets: value })),
  argument("ToolRegistry.register", "tool", [], (value) => registry().register(value)),
  argument("ToolRegistry.register", "options", ["nothing", "object"], (value) =>
    registry().register(fakeTool("t"), value),
  ),
  argument("ToolRegistry.register", "enabled", ["nothing"], (value) =>
    registry().register(fakeTool("t"), { enabled: value }),
  ),
  argument("ToolRegistry.register", "source", ["nothing", "text"], (value) =>
    registry().register(fakeTool("t"), { source: value }),
  ),
  argument("ToolRegistry.onRegister", "listener", [], (value) => registry().onRegister(value)),
  argument("ToolRegistry.claimSecrets", "pack", ["text"], (value) => registry().claimSecrets(value, [])),
  argument("ToolRegistry.claimSecrets", "variables", ["list"], (value) =>
    registry().claimSecrets("pack", value),
  ),
  argument("ToolRegistry.hostFor", "pack", ["text"], (value) => registry().hostFor(value)),
  argument("ToolRegistry.provide", "services", ["object"], (value) => registry().provide(value)),
  argument("ToolRegistry.registerLater", "description", ["text"], (value) =>
    registry().registerLater(value, async () => undefined),
  ),
  argument("ToolRegistry.onRefresh", "refresh", [], (value) => registry().onRefresh(value)),
  argument("ToolRegistry.registerLater", "load", [], (value) => registry().registerLater("late", value)),
  argument("ToolRegistry.prepare", "name", ANY, async (value) => await withTool().prepare(value)),
  argument("ToolRegistry.prepare", "arguments", ["nothing", "object"], async (value) =>
    failing(Promise.resolve(textOf(await withTool().prepare("t", value)))),
  ),
  argument("ToolRegistry.run", "name", ANY, async (value) => await withTool().run(value)),
  argument("ToolRegistry.run", "arguments", ["nothing", "object"], async (value) =>
    failing(Promise.resolve(textOf(await withTool().run("t", value)))),
  ),
  argument("ToolRegistry.run", "call", ["nothing", "object"], async (value) =>
    failing(Promise.resolve(textOf(await withTool().run("t", {}, value)))),
  ),
  argument("ToolRegistry.unregister", "name", ANY, (value) => registry().unregister(value)),
  argument("ToolRegistry.enable", "name", ANY, (value) => registry().enable(value)),
  argument("ToolRegistry.disable", "name", ANY, (value) => registry().disable(value)),
  argument("ToolRegistry.withhold", "name", ANY, (value) => registry().withhold(value, "it changed")),
  argument("ToolRegistry.withhold", "reason", ["text"], (value) => registry().withhold("a", value)),
  argument("ToolRegistry.release", "name", ANY, (value) => registry().release(value)),
  argument("ToolRegistry.hasTool", "name", ANY, (value) => registry().hasTool(value)),
  argument("ToolRegistry.isToolEnabled", "name", ANY, (value) => registry().isToolEnabled(value)),
  argument("ToolRegistry.getCapabilities", "name", ANY, (value) => registry().getCapabilities(value)),
  argument("ToolRegistry.describeTool", "name", ANY, (value) => registry().describeTool(value)),
  argument("ToolRegistry.ruleFacts", "name", ANY, (value) => registry().ruleFacts(value)),
  argument("ToolRegistry.isRepeatable", "name", ANY, (value) => registry().isRepeatable(value)),
  argument("ToolRegistry.titleFrom", "name", ANY, (value) => registry().titleFrom(value)),
  argument("ToolRegistry.aboutCall", "name", ANY, (value) => registry().aboutCall(value, {})),
  argument("ToolRegistry.aboutCall", "args", ANY, (value) => registry().aboutCall("unknown", value)),
  argument("ToolRegistry.execute", "name", ANY, (value) => failing(withTool().execute(value))),
  argument("ToolRegistry.execute", "arguments", ["nothing", "object"], (value) =>
    failing(withTool().execute("t", value)),
  ),
  argument("ToolRegistry.execute", "call", ["nothing", "object"], (value) =>
    failing(withTool().execute("t", {}, value)),
  ),
  argument("ToolRegistry.execute", "signal", ["nothing"], (value) =>
    failing(withTool().execute("t", {}, { signal: value })),
  ),
  argument("createToolRegistry", "context", [], (value) => core.createToolRegistry(value)),
  argument("createToolRegistry", "packs", ["nothing", "list"], (value) =>
    core.createToolRegistry(fakeContext(), value),
  ),
  argument("createToolRegistry", "options", ["nothing", "object"], (value) =>
    core.createToolRegistry(fakeContext(), [], value),
  ),
  argument("registerPack", "registry", [], (value) => core.registerPack(value, pack)),
  argument("registerPack", "pack", [], (value) => core.registerPack(registry(), value)),
  argument("registerPack", "host", ["nothing", "object"], (value) =>
    core.registerPack(registry(), pack, value),
  ),
  argument("saveSessionContextTool", "context", [], (value) => core.saveSessionContextTool(value)),
  argument("saveSession", "path", ["text"], (value) =>
    core.saveSession(value === "x" ? join(directory, "saved.json") : value, session),
  ),
  argument("saveSession", "session", [], (value) => core.saveSession(join(directory, "s.json"), value)),
  argument("saveSession(session)", "session.messages", ["list"], (value) =>
    core.saveSession(join(directory, "m.json"), { ...session, messages: value }),
  ),
  argument("loadSession", "path", ["text"], (value) =>
    core.loadSession(value === "x" ? intactSession : value),
  ),
];

const PROVIDERS = [
  argument("scriptedProvider", "answers", ["list"], (value) => replay.scriptedProvider(value)),
  argument("scriptedProvider.respond", "request", [], (value) => scripted().respond(value)),
  argument("scriptedProvider(answers)", "script", ["text"], (value) =>
    replay.scriptedProvider([value]).respond(request),
  ),
  argument("recordProvider", "provider", [], (value) => replay.recordProvider(value, file)),
  argument("recordProvider", "path", ["text"], (value) => replay.recordProvider(scripted(), value)),
  argument("recordProvider.respond", "request", [], (value) =>
    replay.recordProvider(scripted(), file).respond(value),
  ),
  argument("replayProvider", "path", ["text"], (value) =>
    replay.replayProvider(value === "x" ? recording : value),
  ),
  argument("replayProvider.respond", "request", [], (value) =>
    replay.replayProvider(recording).respond(value),
  ),
];

// What they read came from a model, which gets a plain message.
const READERS = [
  argument("requireString", "args", [], (value) => toolkit.requireString(value, "path")),
  argument("requireString", "path", ["text"], (value) => toolkit.requireString({ path: value }, "path")),
  argument("requireString", "name", ["text"], (value) => toolkit.requireString({ x: "there" }, value)),
  argument("requireString", "options", ["nothing", "object"], (value) =>
    toolkit.requireString({ path: "a" }, "path", value),
  ),
  argument("optionalString", "args", ["object"], (value) => toolkit.optionalString(value, "path", "")),
  argument("optionalString", "path", ["nothing", "text"], (value) =>
    toolkit.optionalString({ path: value }, "path", ""),
  ),
  argument("optionalBoolean", "args", ["object"], (value) => toolkit.optionalBoolean(value, "path", true)),
  argument("optionalBoolean", "all", ["nothing"], (value) =>
    toolkit.optionalBoolean({ all: value }, "all", true),
  ),
  argument("optionalInteger", "args", ["object"], (value) => toolkit.optionalInteger(value, "limit", 1)),
  argument("optionalInteger", "limit", ["nothing", "number"], (value) =>
    toolkit.optionalInteger({ limit: value }, "limit", 1),
  ),
  argument("optionalInteger", "range", ["nothing", "object"], (value) =>
    toolkit.optionalInteger({}, "limit", 1, value),
  ),
  argument("optionalStringArray", "args", ["object"], (value) =>
    toolkit.optionalStringArray(value, "paths", []),
  ),
  argument("optionalStringArray", "paths", ["nothing", "list"], (value) =>
    toolkit.optionalStringArray({ paths: value }, "paths", []),
  ),
];

const TOOLKIT = [
  argument("writeFileAtomic", "path", ["text"], (value) =>
    toolkit.writeFileAtomic(value === "x" ? file : value, ""),
  ),
  argument("writeFileAtomic", "data", ["text"], (value) => toolkit.writeFileAtomic(file, value)),
  argument("writeFileAtomic", "options", ["nothing", "object"], (value) =>
    toolkit.writeFileAtomic(file, "", value),
  ),
  argument("createPathGuard", "root", ["nothing", "text"], (value) =>
    toolkit.createPathGuard(value === "x" ? directory : value),
  ),
  argument("createPathGuard.resolve", "path", ["text"], (value) => toolkit.createPathGuard().resolve(value)),
  argument("createPathGuard.resolve", "options", ["nothing", "object"], (value) =>
    toolkit.createPathGuard().resolve("a", value),
  ),
  argument("createPathGuard.target", "path", ["text"], (value) =>
    toolkit.createPathGuard().target(value, "read"),
  ),
  argument("createPathGuard.target", "access", [], (value) => toolkit.createPathGuard().target("a", value)),
  argument("createPathGuard.contains", "canonicalPath", ["text"], (value) =>
    toolkit.createPathGuard().contains(value),
  ),
  argument("errorMessage", "thrown", ANY, (value) => toolkit.errorMessage(value)),
  argument("isRecord", "value", ANY, (value) => toolkit.isRecord(value)),
  argument("quote", "text", ["text"], (value) => toolkit.quote(value)),
  argument("escapeInvisible", "text", ["text"], (value) => toolkit.escapeInvisible(value)),
  argument("functionTool", "name", ["text"], (value) => toolkit.functionTool(value, "", {})),
  argument("functionTool", "description", ["text"], (value) => toolkit.functionTool("t", value, {})),
  argument("functionTool", "properties", ["object"], (value) => toolkit.functionTool("t", "", value)),
  argument("functionTool", "optional", ["nothing", "list"], (value) =>
    toolkit.functionTool("t", "", {}, value),
  ),
  argument("compileSchema", "schema", ["object"], (value) => toolkit.compileSchema(value)),
  argument("compileSchema", "where", ["nothing", "text"], (value) => toolkit.compileSchema({}, value)),
  argument("onAbort", "signal", ["nothing"], (value) => toolkit.onAbort(value, () => undefined)),
  argument("orAborted", "signal", ["nothing"], (value) => toolkit.orAborted(Promise.resolve(), value)),
  argument("onAbort", "listener", [], (value) => toolkit.onAbort(undefined, value)),
  argument("didYouMean", "name", ["text"], (value) => toolkit.didYouMean(value, [])),
  argument("createRedactor", "secrets", [], (value) => toolkit.createRedactor(value)),
  argument("didYouMean", "options", ["nothing", "object"], (value) => toolkit.didYouMean("a", [], value)),
  argument("didYouMean", "known", ["text", "list"], (value) => toolkit.didYouMean("a", value)),
  argument("packOptions", "packName", ["text"], (value) => toolkit.packOptions(value, {}, {})),
  argument("packOptions", "options", ["nothing", "object"], (value) => toolkit.packOptions("p", value, {})),
  argument("packOptions", "properties", ["object"], (value) => toolkit.packOptions("p", {}, value)),
  argument("checkOptions", "options", ["object"], (value: object) => toolkit.checkOptions("f", value, {})),
  argument("check.registry", "registry", [], (value) => toolkit.check.registry(value)),
  argument("check.text", "it", ["text"], (value) => toolkit.check.text("it", value)),
  argument("check.number", "it", ["number"], (value) => toolkit.check.number("it", value)),
  argument("check.object", "it", ["object"], (value) => toolkit.check.object("it", value)),
  argument("check.boolean", "it", [], (value) => toolkit.check.boolean("it", value)),
  argument("check.function", "it", [], (value) => toolkit.check.function("it", value)),
  argument("check.positive", "it", ["number"], (value) => toolkit.check.positive("it", value)),
  argument("truncateMiddle", "text", ["text"], (value) => toolkit.truncateMiddle(value, 10)),
  argument("truncateMiddle", "maxBytes", ["number"], (value) => toolkit.truncateMiddle("text", value)),
  argument("truncateMiddle", "hint", ["nothing", "text"], (value) => toolkit.truncateMiddle("a", 1, value)),
];

// An error must be easy to make, and one who asks about an error may hold anything.
const FREE = ["AgentError", "isAgentError", "invalidArgument", "contextType", "memoryStore"];

// Called with values of the author's own program, some of them for every file: they check nothing.
const UNCHECKED = [
  "GitConfigs",
  "IgnoreScope",
  "Watchdog",
  "applyEdits",
  "assertAccess",
  "assertNotProcessSecret",
  "assertOpenedIsNotProcessSecret",
  "canonicalPath",
  "canonicalPaths",
  "compactDiff",
  "countOf",
  "delay",
  "describeValue",
  "diffLines",
  "draftTitle",
  "escapeToLine",
  "fileDiff",
  "findAccessNeed",
  "findOnWindows",
  "findProgram",
  "findRepository",
  "foldPath",
  "hasEnded",
  "isInside",
  "isProcessSecret",
  "isSecretName",
  "isSecretValue",
  "killWindowsTree",
  "lazyConstant",
  "lineStart",
  "lockDirectory",
  "lockFile",
  "lockHolder",
  "matchesName",
  "mountOf",
  "mountOfDirectory",
  "namesOpenFiles",
  "newlinesBetween",
  "nextLine",
  "nodeModule",
  "openedPath",
  "pinDirectory",
  "prepareLockDirectory",
  "processTag",
  "quoteForShell",
  "quotePath",
  "readRegularFile",
  "safeVariables",
  "shorten",
  "startableProgram",
  "temporaryName",
  "truncateUtf8",
  "truncateUtf8Start",
  "tryAcquireLock",
  "unsavedText",
  "utf8Boundary",
  "withTimeout",
];

describe.each([
  ["@agent/core", core, CORE],
  ["@agent/core/replay", replay, PROVIDERS],
  ["@agent/core/toolkit", toolkit, [...READERS, ...TOOLKIT]],
])("%s", (_, module, cases) => {
  test("has a row for every function", () => expectComplete(module, cases, [...FREE, ...UNCHECKED]));
});

test.each([
  [core.Agent, ["streamRetry", "takeSteering", "settled", "getTools", "clearContext", "dispose"]],
  [core.Conversation, ["clear", "changes", "flush", "reserve", "whole"]],
  [
    core.ToolRegistry,
    ["getToolNames", "getEnabledSchemas", "getSharedSchemas", "getFreeform", "describeTools", "dispose"],
  ],
])("%o has a row for every method", (type, free) => expectMethodsComplete(type, CORE, free));

test.each([...CORE, ...PROVIDERS, ...READERS, ...TOOLKIT])(
  "$of: names a wrong $argument, with the value it got",
  expectClearErrors,
);

// A schema has its own error.
test.each(TOOLKIT.filter(({ argument: name }) => name !== "schema"))(
  "$of: reports a wrong $argument with the code of a wrong argument",
  expectInvalidArgument,
);

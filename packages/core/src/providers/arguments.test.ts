import {
  argument,
  expectClearErrors,
  expectComplete,
  expectInvalidArgument,
  expectMethodsComplete,
} from "@agent/test-support";
import { test } from "vitest";
import * as provider from "./index.js";

const ANY = ["nothing", "null", "number", "text", "object", "list"] as const;
const { signal } = new AbortController();
const nothing = (): undefined => undefined;
const text = (): string => "";

const notices = new provider.Notices();
const builder = () => new provider.AnswerBuilder("m", {});
const tools = () => new provider.ToolAdapter("Acme", provider.objectSchema, notices);
const body = () => new Response("").body as ReadableStream<Uint8Array>;
const idle = { signal, reset: nothing, stop: nothing, expired: undefined };
const reader = { add: nothing };

const policy = { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1 };
const attempts = { model: "m", timeoutMs: 1000, retries: policy, redact: (one: string) => one };
const options = {
  model: "m",
  baseURL: "http://127.0.0.1",
  headers: {},
  fetch: async () => new Response("{}"),
  timeoutMs: 1000,
  retries: policy,
  secrets: [],
  hints: {},
};
const endpoint = new provider.HttpEndpoint(options);
const pages = { first: "/models", read: () => [] };
const request = { messages: [], tools: [], signal };
const answer = { content: "", toolCalls: [], finishReason: "stop" } as const;
const wire = {
  request: () => ({ path: "/", body: "{}" }),
  reader: () => ({ whole: () => answer, add: nothing, end: () => answer }),
};
const rules = {
  owner: "AcmeProvider",
  ownFields: [],
  checks: {},
  keyVariables: ["ACME_API_KEY"],
  baseURLVariable: "ACME_BASE_URL",
  baseURL: "http://127.0.0.1",
};

/** Arguments of programs. What came from a server may be anything, and every reader takes it. */
const CASES = [
  argument("adaptContent", "content", ["text", "list"], (value) => provider.adaptContent(value, () => true)),
  argument("adaptContent", "accepts", [], (value) => provider.adaptContent("x", value)),
  argument("contentText", "content", ["text", "list"], (value) => provider.contentText(value)),
  argument("contentParts", "content", ["text", "list"], (value) => provider.contentParts(value)),
  argument("systemTexts", "messages", ["list"], (value) => provider.systemTexts(value)),
  argument("outputInstruction", "format", ["object"], (value) => provider.outputInstruction(value)),
  argument("createRedactor", "secrets", [], (value) => provider.createRedactor(value)),
  argument("callArguments", "call", ["object"], (value) => provider.callArguments(value)),
  argument("fitCallId", "id", ["text"], (value) => provider.fitCallId(value, /^x$/)),
  argument("fitCallId", "fits", [], (value) => provider.fitCallId("x", value)),
  argument("fitCallId", "length", ["nothing", "number"], (value) => provider.fitCallId("x", /^y$/, value)),
  argument("JsonTexts.get", "source", ["object", "list"], (value) => new provider.JsonTexts().get(value)),
  argument("JsonTexts.keep", "source", ["object", "list"], (value) =>
    new provider.JsonTexts().keep(value, "{}"),
  ),
  argument("JsonTexts.keep", "written", ["text"], (value) => new provider.JsonTexts().keep({}, value)),
  argument("jsonBody", "fields", ["object"], (value) => provider.jsonBody(value, {})),
  argument("jsonBody", "texts", ["object"], (value) => provider.jsonBody({}, value)),
  argument("jsonItems", "items", ["list"], (value) => provider.jsonItems(value)),
  argument("pickKeywords", "schema", ["object"], (value) => provider.pickKeywords(value, new Set())),
  argument("pickKeywords", "known", [], (value) => provider.pickKeywords({}, value)),
  argument("mapSchemas", "change", [], (value) => provider.mapSchemas({}, value)),
  argument("objectSchema", "schema", ["nothing", "object"], (value) => provider.objectSchema(value)),
  argument("MediaFitter", "limits", ["object"], (value) => new provider.MediaFitter(value, notices)),
  argument("MediaFitter", "notices", ["object"], (value) => new provider.MediaFitter({}, value)),
  argument("MediaFitter.fit", "request", [], (value) => new provider.MediaFitter({}, notices).fit(value)),
  argument("Notices.say", "request", ["object"], (value) => notices.say(value, "It was left out.")),
  argument("Notices.say", "text", ["text"], (value) => notices.say({}, value)),
  argument(
    "ToolAdapter",
    "server",
    ["text"],
    (value) => new provider.ToolAdapter(value, nothing as never, notices),
  ),
  argument("ToolAdapter", "adapt", [], (value) => new provider.ToolAdapter("Acme", value, notices)),
  argument(
    "ToolAdapter",
    "notices",
    ["object"],
    (value) => new provider.ToolAdapter("Acme", text as never, value),
  ),
  argument("ToolAdapter.texts", "request", [], (value) => tools().texts(value, (tool) => tool)),
  argument("ToolAdapter.texts", "write", [], (value) => tools().texts(request, value)),
  argument("TurnList.add", "role", ["text"], (value) => new provider.TurnList().add(value, "{}")),
  argument("TurnList.add", "text", ["text"], (value) => new provider.TurnList().add("user", value)),
  argument("TurnList.toJson", "name", ["text"], (value) => new provider.TurnList().toJson(value)),
  argument("AnswerBuilder", "model", ["text"], (value) => new provider.AnswerBuilder(value, {})),
  argument("AnswerBuilder", "callbacks", ["object"], (value) => new provider.AnswerBuilder("m", value)),
  argument("AnswerBuilder.addArguments", "index", ["number"], (value) => builder().addArguments(value, "{")),
  argument("AnswerBuilder.finish", "finishReason", ["text"], (value) => builder().finish(value)),
  argument("AnswerBuilder.finish", "usage", ["nothing", "object"], (value) =>
    builder().finish("stop", value),
  ),
  argument("AnswerLimits.addCharacters", "count", ["number"], (value) =>
    new provider.AnswerLimits().addCharacters(value),
  ),
  argument("answerPieces", "message", ["object"], (value) => provider.answerPieces(value, "m")),
  argument("answerPieces", "model", ["text"], (value) =>
    provider.answerPieces({ role: "assistant", content: "" }, value),
  ),
  argument("readTokenUsage", "reported", ["object"], (value) => provider.readTokenUsage(value)),
  argument("runAttempts", "options", [], (value) => provider.runAttempts(value, { signal }, async () => "")),
  argument("runAttempts", "request", [], (value) => provider.runAttempts(attempts, value, async () => "")),
  argument("runAttempts", "attempt", [], (value) => provider.runAttempts(attempts, { signal }, value)),
  argument("HttpEndpoint", "options", [], (value) => new provider.HttpEndpoint(value)),
  argument("HttpEndpoint.attempts", "request", [], (value) => endpoint.attempts(value, async () => "")),
  argument("HttpEndpoint.attempts", "attempt", [], (value) => endpoint.attempts({ signal }, value)),
  argument("HttpEndpoint.open", "path", ["text"], (value) => endpoint.open(value, undefined, idle)),
  argument("HttpEndpoint.open", "idle", [], (value) => endpoint.open("/", undefined, value)),
  argument("HttpEndpoint.readJson", "response", [], (value) => endpoint.readJson(value, idle)),
  argument("HttpEndpoint.readJson", "idle", [], (value) => endpoint.readJson(new Response("{}"), value)),
  argument("HttpEndpoint.readStream", "response", [], (value) => endpoint.readStream(value, idle, reader)),
  argument("HttpEndpoint.readStream", "idle", [], (value) =>
    endpoint.readStream(new Response("{}"), value, reader),
  ),
  argument("HttpEndpoint.readStream", "reader", [], (value) =>
    endpoint.readStream(new Response("{}"), idle, value),
  ),
  argument("statusError", "response", [], (value) => provider.statusError(value)),
  argument("statusError", "hints", ["nothing", "object"], (value) =>
    provider.statusError(new Response(""), value),
  ),
  argument("statusError", "redact", ["nothing"], (value) =>
    provider.statusError(new Response(""), {}, value),
  ),
  argument("parseJson", "text", ["text"], (value) => provider.parseJson(value === "x" ? "{}" : value)),
  argument("listModelPages", "endpoint", [], (value) => provider.listModelPages(value, pages)),
  argument("listModelPages", "pages", [], (value) => provider.listModelPages(endpoint, value)),
  argument("listModelPages", "signal", ["nothing"], (value) =>
    provider.listModelPages(endpoint, pages, value),
  ),
  argument("readProviderOptions", "options", [], (value) =>
    provider.readProviderOptions(value, rules as never),
  ),
  argument("readProviderOptions", "rules", [], (value) =>
    provider.readProviderOptions({ model: "m", apiKey: "key" }, value),
  ),
  argument("headerSecrets", "headers", ["object"], (value) => provider.headerSecrets(value)),
  argument("fetchSameOrigin", "url", ["text"], (value) => provider.fetchSameOrigin(value, {}, options.fetch)),
  argument("fetchSameOrigin", "init", ["object"], (value) =>
    provider.fetchSameOrigin("http://127.0.0.1", value, options.fetch),
  ),
  argument("fetchSameOrigin", "send", ["nothing"], (value) =>
    provider.fetchSameOrigin("http://127.0.0.1", {}, value === undefined ? options.fetch : value),
  ),
  argument("readEvents", "body", [], (value) => provider.readEvents(value, nothing, nothing)),
  argument("readEvents", "onData", [], (value) => provider.readEvents(body(), value, nothing)),
  argument("readEvents", "onBytes", [], (value) => provider.readEvents(body(), nothing, value)),
  argument("readText", "body", [], (value) => provider.readText(value, nothing)),
  argument("readText", "onBytes", [], (value) => provider.readText(body(), value)),
  argument("askWire", "endpoint", [], (value) => provider.askWire(value, wire, request)),
  argument("askWire", "wire", [], (value) => provider.askWire(endpoint, value, request)),
  argument("askWire", "request", [], (value) => provider.askWire(endpoint, wire, value)),
  argument("modelFacts", "table", ["object"], (value) => provider.modelFacts(value, "m")),
  argument("modelFacts", "model", ["text"], (value) => provider.modelFacts({}, value)),
  argument("fitEffort", "request", ["object"], (value) => provider.fitEffort(value, "m", [], notices)),
  argument("fitEffort", "model", ["text"], (value) => provider.fitEffort({}, value, [], notices)),
  argument("fitEffort", "notices", [], (value) => provider.fitEffort({}, "m", [], value)),
  argument("withCost", "response", ["object"], (value) => provider.withCost(value, undefined)),
  argument("checkRequest", "request", [], (value) => provider.checkRequest(value)),
];

/** Readers of what a server sent: whatever it is, they answer or throw an `AttemptError`. */
const SERVER_DATA = [
  argument("bodyError", "content", ANY, (value) => provider.bodyError(value)),
  argument("callId", "value", ANY, (value) => provider.callId(value)),
  argument("callName", "value", ANY, (value) => provider.callName(value)),
  argument("isRecord", "value", ANY, (value) => provider.isRecord(value)),
  argument("jsonText", "value", ANY, (value) => provider.jsonText(value)),
  argument("recordsIn", "list", ANY, (value) => provider.recordsIn(value)),
  argument("sumTokens", "counts", ANY, (value) => provider.sumTokens(value)),
  argument("AnswerBuilder.addText", "text", ANY, (value) => builder().addText(value)),
  argument("AnswerBuilder.addReasoning", "text", ANY, (value) => builder().addReasoning(value)),
  argument("AnswerBuilder.addArguments", "text", ANY, (value) => builder().addArguments(0, value)),
  argument("AnswerBuilder.addCall", "id", ANY, (value) => builder().addCall(value, "t")),
  argument("AnswerBuilder.addCall", "name", ANY, (value) => builder().addCall("1", value)),
  argument("AnswerBuilder.addOwn", "value", ANY, (value) => builder().addOwn(value)),
  argument("AnswerBuilder.endText", "companion", ANY, (value) => builder().endText(value)),
];

// An error must be easy to make.
const FREE = ["AttemptError", "incompleteAnswer", "invalidOption"];

test("@agent/core/provider has a row for every function", () =>
  expectComplete(provider, [...CASES, ...SERVER_DATA], FREE));

test.each([
  [provider.AnswerBuilder, []],
  [provider.AnswerLimits, ["addCall"]],
  [provider.HttpEndpoint, []],
  [provider.JsonTexts, []],
  [provider.MediaFitter, []],
  [provider.Notices, []],
  [provider.ToolAdapter, []],
  [provider.TurnList, []],
])("%o has a row for every method", (type, free) =>
  expectMethodsComplete(type, [...CASES, ...SERVER_DATA], free),
);

test.each([...CASES, ...SERVER_DATA])(
  "$of: names a wrong $argument, with the value it got",
  expectClearErrors,
);

test.each(CASES)("$of: reports a wrong $argument with the code of a wrong argument", expectInvalidArgument);

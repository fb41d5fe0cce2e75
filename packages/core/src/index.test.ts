import { expect, test } from "vitest";

test("the public API of @agent/core", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "Agent",
    "AgentError",
    "Conversation",
    "PACK_API_VERSION",
    "SaveSessionContextTool",
    "TOOL_CAPABILITIES",
    "ToolRegistry",
    "agentTool",
    "contentText",
    "contextType",
    "createToolRegistry",
    "definePack",
    "defineTool",
    "isAgentError",
    "loadSession",
    "off",
    "recordSession",
    "registerPack",
    "saveSession",
    "wrapProvider",
  ]);
});

test("the public API of @agent/core/provider and @agent/core/replay", async () => {
  expect(Object.keys(await import("./providers/index.js")).sort()).toEqual([
    "AnswerBuilder",
    "AnswerLimits",
    "AttemptError",
    "HttpEndpoint",
    "JsonTexts",
    "MediaFitter",
    "Notices",
    "PROVIDER_KEY_VARIABLES",
    "ToolAdapter",
    "TurnList",
    "adaptContent",
    "answerPieces",
    "askWire",
    "bodyError",
    "callArguments",
    "callId",
    "callName",
    "checkRequest",
    "contentParts",
    "contentText",
    "createRedactor",
    "fetchSameOrigin",
    "fitCallId",
    "fitEffort",
    "headerSecrets",
    "incompleteAnswer",
    "invalidOption",
    "isRecord",
    "jsonBody",
    "jsonItems",
    "jsonText",
    "listModelPages",
    "mapSchemas",
    "modelFacts",
    "objectSchema",
    "outputInstruction",
    "parseJson",
    "pickKeywords",
    "readEvents",
    "readProviderOptions",
    "readText",
    "readTokenUsage",
    "recordsIn",
    "runAttempts",
    "statusError",
    "sumTokens",
    "systemTexts",
    "withCost",
  ]);
  expect(Object.keys(await import("./providers/replay.js")).sort()).toEqual([
    "recordProvider",
    "replayProvider",
    "scriptedProvider",
  ]);
});

test("the public API of @agent/core/toolkit", async () => {
  expect(Object.keys(await import("./toolkit/index.js")).sort()).toEqual([
    "check",
    "checkOptions",
    "compileSchema",
    "createPathGuard",
    "didYouMean",
    "draftTitle",
    "errorMessage",
    "escapeInvisible",
    "functionTool",
    "invalidArgument",
    "isRecord",
    "onAbort",
    "optionalBoolean",
    "optionalInteger",
    "optionalString",
    "optionalStringArray",
    "packOptions",
    "quote",
    "requireString",
    "truncateMiddle",
    "writeFileAtomic",
  ]);
});

test("isAgentError knows an error of another copy of core by its shape", async () => {
  const { isAgentError } = await import("./index.js");
  const foreign = Object.assign(new Error("x"), { name: "AgentError", code: "busy" });
  expect(isAgentError(foreign)).toBe(true);
  expect(isAgentError(foreign, "aborted")).toBe(false);
  expect(isAgentError(new Error("x"))).toBe(false);
});

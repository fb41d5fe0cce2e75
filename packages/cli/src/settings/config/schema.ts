import type { JsonSchema } from "@agent/core";
import { EFFORTS, MODES } from "@agent/core/host";

const name = { type: "string", minLength: 1 };
const amount = { type: "number", minimum: 0 };
const positive = { type: "number", exclusiveMinimum: 0 };
const names = (description: string) => ({ type: "array", items: name, description });

const effort = { type: "string", enum: [...EFFORTS], description: "How much the model thinks" };

const pack = {
  anyOf: [
    { ...name, description: "A package's name, or a path relative to the config" },
    { type: "object", description: "An imported pack, or a tool made with defineTool" },
    {
      type: "array",
      minItems: 1,
      maxItems: 2,
      prefixItems: [{ anyOf: [name, { type: "object" }] }, { type: "object" }],
      description: "A pack with its options",
    },
  ],
};

const price = {
  type: "object",
  properties: { input: amount, output: amount, cachedInput: amount, cacheWrite: amount },
  required: ["input", "output"],
  additionalProperties: false,
};

const provider = {
  type: "object",
  properties: {
    name,
    model: name,
    baseURL: { ...name, format: "uri" },
    apiKey: { ...name, description: "Better in the provider's variable, such as OPENAI_API_KEY" },
    headers: { type: "object", additionalProperties: { type: "string" } },
    body: { type: "object", description: "More fields for each request" },
    timeoutMs: { ...positive, description: "The longest silence of the server" },
  },
  // A provider has its own options and checks them itself.
  additionalProperties: true,
};

const outages = {
  type: "object",
  properties: {
    attempts: { type: "integer", minimum: 0, description: "How often a run asks again without progress" },
    firstDelayMs: { ...positive, description: "The first wait; each further one is twice as long" },
    maxDelayMs: { ...positive, description: "The longest wait, unless the server asks for a longer one" },
    deadlineMs: { ...positive, description: "How long a run tries before it fails" },
  },
  additionalProperties: false,
  description: "What a worker does with a run whose model's server fails for a time",
};

const systemPrompt = {
  anyOf: [
    { type: "string" },
    {
      type: "object",
      properties: {
        role: { type: "string" },
        work: { type: "string" },
        style: { type: "string" },
        environment: { type: "boolean" },
        append: { type: "string" },
      },
      additionalProperties: false,
    },
  ],
  description: "Replaces the default system prompt, or parts of it",
};

const statusLine = {
  anyOf: [
    {
      type: "array",
      items: {
        type: "string",
        enum: [
          "mode",
          "context",
          "jobs",
          "model",
          "effort",
          "cost",
          "branch",
          "session",
          "tokens",
          "directory",
        ],
      },
    },
    { type: "object", properties: { command: name }, required: ["command"], additionalProperties: false },
  ],
  description: "The parts of the row below the input line, or a command that prints it",
};

/** The actions of chat keys, besides commands such as `/tools`. */
export const KEY_ACTIONS: readonly string[] = [
  "send",
  "newline",
  "stop",
  "complete",
  "next-mode",
  "expand",
  "background",
  "clear-screen",
  "suspend",
  "search-history",
  "open-editor",
  "paste-image",
  "older",
  "newer",
  "undo",
  "left",
  "right",
  "word-left",
  "word-right",
  "line-start",
  "line-end",
  "delete-word",
  "delete-next-word",
  "delete-to-start",
  "delete-to-end",
  "put-back",
  "rewind",
  "none",
];

const keys = {
  type: "object",
  additionalProperties: {
    anyOf: [
      { type: "string", enum: [...KEY_ACTIONS] },
      { type: "string", pattern: "^/" },
    ],
  },
  description: "Keys of the chat and what they do: an action, a command such as /tools, or none",
};

const profile = {
  type: "object",
  properties: {
    systemPrompt,
    tools: names("Only these tools are on, if they are available at all"),
    model: name,
    effort,
  },
  additionalProperties: false,
};

/**
 * The keys of a config, as JSON Schema. It is published as `@agent/cli/config.schema.json`, so that an editor completes
 * and checks a config in JSON or YAML. Checks that a schema cannot express are in checkConfig.ts.
 */
export const CONFIG_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Configuration of agent",
  type: "object",
  properties: {
    $schema: { type: "string" },
    packs: { type: "array", items: pack, description: 'The tool packs. Default: ["@agent/preset-default"]' },
    enable: names("Tools to turn on although their pack declares them off"),
    disable: names("Tools to turn off"),
    confirm: names("Tools whose calls run only after approval"),
    permissions: {
      type: "object",
      properties: {
        allow: names("Calls that run without a question, such as run_bash(npm test *)"),
        ask: names("Calls that are asked about"),
        deny: names("Calls that never run"),
      },
      additionalProperties: false,
    },
    mode: { type: "string", enum: [...MODES], description: "How much runs without a question at first" },
    sandbox: {
      type: "boolean",
      description: "Whether commands run in a sandbox in auto mode and where no one can be asked",
    },
    readOnly: { type: "boolean", description: "Only tools that declare nothing but reading" },
    addDirs: names("More directories in which tools may write without asking"),
    provider: { anyOf: [name, provider], description: "A provider's name, or one with settings" },
    model: { ...name, description: "The model, with its provider if you like: anthropic/claude-sonnet-5-5" },
    fallback: { ...name, description: "A model that answers if the first one fails" },
    prices: {
      type: "object",
      additionalProperties: price,
      description: "Dollars per million tokens, by the model's name",
    },
    systemPrompt,
    agents: { type: "object", additionalProperties: profile, description: "Named roles for --agent" },
    notify: {
      anyOf: [
        positive,
        { const: false },
        {
          type: "object",
          properties: { afterMs: positive, by: { type: "string", enum: ["bell", "osc9", "osc777"] } },
          additionalProperties: false,
        },
      ],
      description: "After how many milliseconds a turn notifies you, and how",
    },
    title: { type: "boolean", description: "Whether the chat sets the title of the terminal" },
    progress: { type: "boolean", description: "Whether the terminal's tab shows that work runs" },
    statusLine,
    theme: {
      type: "string",
      enum: ["auto", "dark", "light", "high-contrast", "colour-blind"],
      description: "The colours of the chat",
    },
    keys,
    vim: { type: "boolean", description: "Whether the chat's input line has the keys of vi" },
    screenReader: {
      type: "boolean",
      description:
        "Whether the chat is plain text from top to bottom, from its next start on. Only in your own config",
    },
    effort,
    maxTurns: { ...positive, description: "How often the model is asked for one message" },
    maxCost: { ...positive, description: "What a chat, a task or a run may cost, in dollars" },
    maxTokens: { ...positive, description: "How many tokens a chat, a task or a run may take" },
    waitMs: {
      ...positive,
      description: "How long a message waits for a usage limit to end, in milliseconds",
    },
    smallModel: { ...name, description: "A cheaper model for summaries and for reading pages" },
    maxRepeats: { ...positive, description: "How often the same calls may give the same results in a row" },
    contextTokens: { ...positive, description: "The conversation's budget in tokens, estimated" },
    maxRetries: {
      type: "integer",
      minimum: 0,
      description: "How often a failed request is repeated. Default 3",
    },
    runs: {
      type: "object",
      properties: {
        outages,
        approvalTimeoutMs: {
          ...positive,
          description: "After what time a call without a decision is denied",
        },
      },
      additionalProperties: false,
      description: "For agent runs work",
    },
  },
  additionalProperties: false,
};

// The same conversation with the frameworks a user would otherwise pick, each as its own documentation shows it.
const MAX_TURNS = 100;

/** Some want a newer Node, or a package that the registry does not have: those do not load everywhere. */
export const PEERS = { "AI SDK": aiSdk, "OpenAI Agents SDK": agentsSdk, LangChain: langChain };

async function aiSdk({ baseURL, tool, model, schema, question }) {
  const { generateText, streamText, stepCountIs, tool: defineTool, jsonSchema } = await import("ai");
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const lookup = defineTool({
    description: schema.description,
    inputSchema: jsonSchema(schema.parameters),
    execute: tool,
  });
  const settings = {
    model: createOpenAICompatible({ name: "bench", apiKey: "k", baseURL, includeUsage: true })(model),
    tools: { [schema.name]: lookup },
    prompt: question,
    stopWhen: stepCountIs(MAX_TURNS),
    maxRetries: 0,
  };
  return async ({ stream }) =>
    stream ? await streamText(settings).text : (await generateText(settings)).text;
}

async function agentsSdk({ baseURL, tool, model, schema, question }) {
  const {
    Agent,
    OpenAIChatCompletionsModel,
    run,
    setTracingDisabled,
    tool: defineTool,
  } = await import("@openai/agents");
  const { default: OpenAI } = await import("openai");
  setTracingDisabled(true);
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
  const lookup = defineTool({
    name: schema.name,
    description: schema.description,
    parameters: { ...schema.parameters, additionalProperties: true },
    strict: false,
    execute: tool,
  });
  const agent = new Agent({
    name: "bench",
    model: new OpenAIChatCompletionsModel(client, model),
    tools: [lookup],
  });
  return async ({ stream }) => {
    const result = await run(agent, question, { stream, maxTurns: MAX_TURNS });
    if (stream) for await (const _event of result);
    return result.finalOutput;
  };
}

async function langChain({ baseURL, tool, model, schema, question }) {
  const { createAgent, tool: defineTool } = await import("langchain");
  const { ChatOpenAI } = await import("@langchain/openai");
  const lookup = defineTool(tool, {
    name: schema.name,
    description: schema.description,
    schema: schema.parameters,
  });
  const chat = new ChatOpenAI({ model, apiKey: "k", maxRetries: 0, configuration: { baseURL } });
  const agent = createAgent({ model: chat, tools: [lookup] });
  const messages = [{ role: "user", content: question }];
  const options = { recursionLimit: 3 * MAX_TURNS };
  return async ({ stream }) => {
    if (!stream) return (await agent.invoke({ messages }, options)).messages.at(-1).text;
    let text = "";
    for await (const [chunk] of await agent.stream({ messages }, { ...options, streamMode: "messages" })) {
      if (chunk.getType() === "ai") text += chunk.text;
    }
    return text;
  };
}

import { Agent, type ChatProvider, defineTool, type Telemetry } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";

const POPULATION: Readonly<Record<string, number>> = { Oslo: 717_710, Bergen: 291_940 };

const population = defineTool({
  name: "population",
  description: "Tells how many people live in a city.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  capabilities: ["read"],
  execute: ({ city }) => {
    const people = POPULATION[String(city)];
    if (people === undefined) throw new Error(`no figure for ${city}.`);
    return String(people);
  },
});

const research = defineTool({
  name: "research",
  description: "Lets its own agent answer a question.",
  input: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  execute: async ({ question }, call) => {
    const answer = await call?.startAgent?.({
      message: String(question),
      tools: ["population"],
      label: "researcher",
    });
    return answer?.text ?? "Only an agent can do research.";
  },
});

/** An agent with a tool and a tool that starts a child agent. */
export function createAssistant(telemetry: Telemetry, provider: ChatProvider = sampleModel()): Agent {
  const agent = new Agent(provider, { telemetry, disable: ["save_session_context"] });
  agent.addTool(population);
  agent.addTool(research);
  return agent;
}

/** A scripted model with answers about two cities, so that the example runs without a network. */
function sampleModel(): ChatProvider {
  const usage = { inputTokens: 210, outputTokens: 34 };
  const ask = (name: string, args: unknown) => ({
    content: null,
    toolCalls: [
      { id: `call_${name}`, type: "function" as const, function: { name, arguments: JSON.stringify(args) } },
    ],
    finishReason: "tool_calls" as const,
    usage,
  });
  const say = (content: string) => ({ content, toolCalls: [], finishReason: "stop" as const, usage });
  const script = scriptedProvider([
    ask("research", { question: "How many people live in Oslo?" }),
    ask("population", { city: "Oslo" }),
    say("717710 people live in Oslo."),
    ask("population", { city: "Atlantis" }),
    say("Oslo has 717710 people; no one has counted Atlantis."),
  ]);
  return { ...script, id: "sample", model: "sample-1" };
}

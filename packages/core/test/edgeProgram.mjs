// What a worker at the edge does with core: chat, a tool, a structured answer, a long result, an abort.
import { Agent, defineTool, isAgentError, saveSession } from "@agent/core";
import { fitCallId } from "@agent/core/provider";
import { scriptedProvider } from "@agent/core/replay";

/** Resolves to what was seen; rejects if core does not work here. */
export async function useCore() {
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    execute: ({ at }) => `${at}: ${"ä".repeat(2_000_000)}`,
  });
  const agent = new Agent(
    scriptedProvider([{ calls: [{ name: "look", args: { at: "the sea" } }] }, "Blue.", '{"deep":true}']),
  );
  agent.addTool(tool);
  const events = [];
  for await (const event of agent.streamChat("Look.")) events.push(event.type);
  const schema = { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] };
  const { output: value } = await agent.run("Deep?", { output: schema });
  const waiting = new Agent({ respond: () => new Promise(() => undefined) });
  const controller = new AbortController();
  const chat = waiting.chat("Wait.", { signal: controller.signal });
  controller.abort();
  const aborted = await chat.catch((error) => isAgentError(error, "aborted"));
  const saved = await saveSession("session.jsonl", { systemPrompt: "", messages: [] }).then(
    () => "saved",
    (error) => error.code,
  );
  return { events, value, aborted, saved, id: fitCallId("not an id", /^\w+$/).length };
}

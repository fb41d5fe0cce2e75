import type { Agent } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine } from "@agent/internal";
import type { CommandContext, SlashCommand } from "./context.js";
import { endableIds, statusLines } from "./status.js";
import { toolLines } from "./toolLines.js";

/** Commands about tools and what they run. */
export const TOOL_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/tools": {
    usage: "/tools",
    help: "the tools, whether they are on, and why",
    run: (_argument, { agent: { registry }, settings, switched, view }) => {
      registry.services.refresh();
      return toolLines(registry.describeTools(), settings, switched, view.columns);
    },
  },
  "/enable": {
    usage: "/enable NAME",
    help: "let the model use a tool, in this chat",
    words: ({ agent }) => toolNames(agent, false),
    run: (name, context) => switchTool(name, true, context),
  },
  "/disable": {
    usage: "/disable NAME",
    help: "take a tool away from the model, in this chat",
    words: ({ agent }) => toolNames(agent, true),
    run: (name, context) => switchTool(name, false, context),
  },
  "/expand": {
    usage: "/expand",
    help: "show the whole of any call that was shortened",
    run: expand,
  },
  "/status": {
    usage: "/status [end ID]",
    help: "what runs, what runs in the background, what has ended; or end one",
    words: ({ log, settings }, before) => (before.length === 1 ? ["end"] : endableIds(log, settings.jobs)),
    run: status,
  },
};

async function expand(_argument: string, { view }: CommandContext): Promise<readonly string[]> {
  const labels = view.expandable;
  if (labels.length === 0) return ["Nothing was shortened."];
  const items = labels.map((label, place) => ({ value: String(place), label }));
  const place = await view.pick("Show all of", items);
  if (place !== undefined) view.expand(Number(place));
  return [];
}

function toolNames(agent: Agent, enabled: boolean): string[] {
  return agent.registry.getToolNames().filter((name) => agent.registry.isToolEnabled(name) === enabled);
}

function switchTool(name: string, on: boolean, { agent, settings, switched }: CommandContext): string[] {
  if (name === "") return [`Which tool? ${on ? "/enable" : "/disable"} NAME; /tools lists them.`];
  const exists = on ? agent.enableTool(name) : agent.disableTool(name);
  if (!exists) {
    const hint = didYouMean(name, agent.registry.getToolNames(), { otherwise: "/tools lists them." });
    return [`There is no tool ${quote(name)}. ${hint}`];
  }
  if (!on) settings.permissions.leaveOff(name);
  switched.set(name, on);
  return [`${name} is ${on ? "on" : "off"} in this chat.`];
}

async function status(argument: string, context: CommandContext): Promise<readonly string[]> {
  const { log, settings, stopTurn, view } = context;
  if (argument === "") return statusLines(log, settings.jobs, view.columns);
  const id = /^end\s+(\S+)$/.exec(argument)?.[1];
  if (id === undefined) return ["Use /status, or /status end ID with an ID that /status shows."];
  const call = log.running.find(({ number }) => id === `#${number}` || id === String(number));
  if (call) {
    if (call.pid !== undefined && (await settings.jobs.endProcess?.(call.pid))) {
      return [`Ended #${call.number} ${escapeToLine(call.name)}. The answer continues.`];
    }
    // A single call cannot be stopped, because the calls of an answer share one signal: stop the whole answer.
    stopTurn();
    return [`Ending #${call.number} ${escapeToLine(call.name)}, and with it the answer it was for.`];
  }
  if (await settings.jobs.end(id)) return [`Ended ${escapeToLine(id)}.`];
  const known = endableIds(log, settings.jobs);
  return [
    `No running call or job is called ${quote(id)}. ${known.length === 0 ? "Nothing is running." : `Running: ${escapeToLine(known.join(", "))}.`}`,
  ];
}

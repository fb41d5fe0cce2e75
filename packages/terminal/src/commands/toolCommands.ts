import type { Agent, BackgroundJob, BackgroundJobs, ToolInfo } from "@agent/core";
import type { Permissions } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine, firstSentence } from "@agent/internal";
import type { CallLog, FinishedLoggedCall, LoggedCall } from "../chat/callLog.js";
import type { ChatOptions } from "../chat/types.js";
import { runningJobs } from "../screen/statusRow.js";
import { formatDuration } from "../text/amounts.js";
import { cutToWidth, textWidth, wrapWords } from "../text/width.js";
import type { CommandContext, SlashCommand } from "./context.js";

const STATE_COLUMNS = 7;
// In a narrower window the second line begins below the name.
const LEAST_TEXT_COLUMNS = 40;
const SHOWN_FINISHED = 20;
const SHORTEST_TITLE = 12;
// Descriptions are written for a model and can be long.
const LONGEST_DESCRIPTION = 300;

/** Commands about tools and their running work. */
export const TOOL_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/tools": {
    usage: "/tools",
    help: "list the tools, whether they are on, and why",
    run: (_argument, { agent: { registry }, options, permissions, switched, view }) => {
      registry.services.refresh();
      return toolLines(registry.describeTools(), options, permissions, switched, view.columns);
    },
  },
  "/enable": {
    usage: "/enable NAME",
    help: "turn a tool on in this chat",
    words: ({ agent }) => toolNames(agent, false),
    run: (name, context) => switchTool(name, true, context),
  },
  "/disable": {
    usage: "/disable NAME",
    help: "turn a tool off in this chat",
    words: ({ agent }) => toolNames(agent, true),
    run: (name, context) => switchTool(name, false, context),
  },
  "/expand": {
    usage: "/expand",
    help: "show a shortened call whole",
    run: expand,
  },
  "/status": {
    usage: "/status [end ID]",
    help: "list running, background and finished calls; or stop one",
    words: ({ log, agent }, before) => (before.length === 1 ? ["end"] : endableIds(log, jobsOf(agent))),
    run: status,
  },
};

async function expand(_argument: string, { view }: CommandContext): Promise<readonly string[]> {
  const labels = view.expandable;
  if (labels.length === 0) return ["Nothing was shortened."];
  const items = labels.map((label, place) => ({ value: String(place), label }));
  const place = await view.pick("Show in full", items);
  if (place !== undefined) view.expand(Number(place));
  return [];
}

function toolNames(agent: Agent, enabled: boolean): string[] {
  return agent.registry.getToolNames().filter((name) => agent.registry.isToolEnabled(name) === enabled);
}

function switchTool(name: string, on: boolean, { agent, permissions, switched }: CommandContext): string[] {
  if (name === "") return [`Which tool? ${on ? "/enable" : "/disable"} NAME; /tools lists them.`];
  const exists = on ? agent.enableTool(name) : agent.disableTool(name);
  if (!exists) {
    const hint = didYouMean(name, agent.registry.getToolNames(), { otherwise: "/tools lists them." });
    return [`There is no tool ${quote(name)}. ${hint}`];
  }
  if (!on) permissions.leaveOff(name);
  switched.set(name, on);
  return [`${name} is ${on ? "on" : "off"} in this chat.`];
}

async function status(argument: string, context: CommandContext): Promise<readonly string[]> {
  const { log, agent, stopTurn, view } = context;
  const jobs = jobsOf(agent);
  if (argument === "") return statusLines(log, jobs, view.columns);
  const id = /^end\s+(\S+)$/.exec(argument)?.[1];
  if (id === undefined) return ["Use /status, or /status end ID with an ID that /status shows."];
  const call = log.running.find(({ number }) => id === `#${number}` || id === String(number));
  if (call) {
    if (call.pid !== undefined && (await jobs.endProcess?.(call.pid))) {
      return [`Stopped ${escapeToLine(call.name)} #${call.number}. The response continues.`];
    }
    // A single call cannot be stopped, because the calls of an answer share one signal: stop the whole answer.
    stopTurn();
    return [`Stopping ${escapeToLine(call.name)} #${call.number} and the response it belongs to.`];
  }
  if (await jobs.end(id)) return [`Stopped ${escapeToLine(id)}.`];
  const known = endableIds(log, jobs);
  return [
    `No running call or job is called ${quote(id)}. ${known.length === 0 ? "Nothing is running." : `Running: ${escapeToLine(known.join(", "))}.`}`,
  ];
}

/** Background work of all packs together. */
function jobsOf({ registry }: Agent): BackgroundJobs {
  return registry.services.jobs;
}

/**
 * The output of `/tools`: every tool with why it is enabled or disabled and, below, the first sentence of its
 * description.
 */
function toolLines(
  tools: readonly ToolInfo[],
  { explainTool }: ChatOptions,
  { confirm }: Permissions,
  switched: ReadonlyMap<string, boolean>,
  columns: number,
): string[] {
  if (tools.length === 0) return ["There are no tools: no pack is loaded."];
  const longest = Math.max(...tools.map(({ name }) => name.length));
  const textColumn = STATE_COLUMNS + longest + 2;
  const indent = columns - textColumn < LEAST_TEXT_COLUMNS ? STATE_COLUMNS : textColumn;
  return tools.flatMap((tool) => {
    const why =
      tool.withheld ?? (switched.has(tool.name) ? "changed in this chat" : (explainTool?.(tool) ?? ""));
    const facts = [why, tool.capabilities.join(", "), ...(confirm.has(tool.name) ? ["asks first"] : [])];
    const state = `  ${tool.enabled && tool.withheld === undefined ? "on " : "off"}  ${tool.name.padEnd(longest)}`;
    return [
      ...wrapWords(`${state}  ${escapeToLine(facts.filter(Boolean).join(" · "))}`, columns, indent),
      ...wrapWords(
        " ".repeat(indent) + escapeToLine(firstSentence(tool.description, LONGEST_DESCRIPTION)),
        columns,
        indent,
      ),
    ];
  });
}

interface Row {
  readonly label: string;
  readonly title: string;
  readonly facts: string;
}

/** The output of `/status`: running calls, background work, and finished calls. */
function statusLines(log: CallLog, jobs: BackgroundJobs, columns: number): string[] {
  const now = Date.now();
  const section = (heading: string, rows: readonly Row[]): string[] =>
    rows.length === 0 ? [] : [heading, ...rows.map((row) => fit(row, columns))];
  const executing = log.running.map((call) => runningRow(call, now));
  const background = jobs.list().map((job) => jobRow(job, now));
  const lines = [
    ...section("Running", executing),
    ...section("Background", background),
    ...section("Finished", log.finished.slice(-SHOWN_FINISHED).map(finishedRow)),
  ];
  if (lines.length === 0) return ["No tool was called yet, and nothing runs in the background."];
  if (executing.length + runningJobs(jobs).length > 0)
    lines.push("/status end ID stops a running or background call.");
  return lines;
}

/** Everything `/status end` accepts now. */
function endableIds(log: CallLog, jobs: BackgroundJobs): string[] {
  return [...log.running.map(({ number }) => `#${number}`), ...runningJobs(jobs).map(({ id }) => id)];
}

function runningRow(call: LoggedCall, now: number): Row {
  const facts = [`executing… ${formatDuration(now - call.startedAt)}`, pidOf(call)];
  return { ...callRow(call), facts: facts.filter(Boolean).join(" · ") };
}

function jobRow({ id, command, pids, startedAt, logFile, ended }: BackgroundJob, now: number): Row {
  const running = pids.length === 0 ? "working" : `pid ${pids.join(", ")}`;
  const state = ended === undefined ? running : escapeToLine(ended);
  const facts = [state, formatDuration(now - startedAt)];
  if (logFile !== undefined) facts.push(`output in ${escapeToLine(logFile)}`);
  return { label: escapeToLine(id), title: escapeToLine(command), facts: facts.join(" · ") };
}

function finishedRow(call: FinishedLoggedCall): Row {
  const facts = [call.words, formatDuration(call.durationMs), pidOf(call)];
  return { ...callRow(call), facts: `${call.ok ? "✓" : "✗"} ${facts.filter(Boolean).join(" · ")}` };
}

function pidOf({ pid }: LoggedCall): string {
  return pid === undefined ? "" : `pid ${pid}`;
}

function callRow({ number, name, title }: LoggedCall): Pick<Row, "label" | "title"> {
  return { label: `#${number}  ${escapeToLine(name)}`, title };
}

/** One line, if it fits: the call's title is shortened, its result is not. */
function fit({ label, title, facts }: Row, columns: number): string {
  const room = columns - textWidth(label) - textWidth(facts) - "      ".length;
  return `  ${label}  ${cutToWidth(title, Math.max(SHORTEST_TITLE, room))}  ${facts}`;
}

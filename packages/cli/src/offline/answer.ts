import type { ChatTool } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { usage } from "./generic.js";
import type { PlannedCall } from "./types.js";

/** A call and what came back. */
export interface Finished {
  readonly call: PlannedCall;
  readonly result: string;
}

/** The first line of a new conversation says that this is not a language model. */
export const DISCLOSURE =
  "I am the offline assistant, not a language model: I turn plain requests into tool calls and report what came back.";

const EXAMPLES: readonly (readonly [tool: string, example: string])[] = [
  ["list_dir", "list the files in src"],
  ["read_file", "read lines 1-20 of README.md"],
  ["search_files", "find all ts files in src"],
  ["search_text", "search for TODO in src"],
  ["write_file", 'write "hello" to notes.txt'],
  ["edit_file", 'replace "hello" with "goodbye" in notes.txt'],
  ["mkdir", "make a directory called drafts"],
  ["move", "move notes.txt to drafts/notes.txt"],
  ["remove", "remove drafts/notes.txt"],
  ["run_bash", 'run "git status"'],
  ["save_session_context", "save the session"],
];
// The search tools' text for no results: it gets no heading, which would announce results.
const FOUND_NOTHING = /^No (?:matches for|files match) /;
const FAILURES = /^(?:Error executing [\w-]+: |Tool not (?:found|available): |Tool call denied: )/;

/** Whether a tool's text reports a failure, including a command that ran and failed. */
export function hasFailed({ call, result }: Finished): boolean {
  if (FAILURES.test(result)) return true;
  return call.tool === "run_bash" && (readCommand(result)?.exit_code ?? 0) !== 0;
}

/** The result of one call, in words. */
export function reportCall(finished: Finished): string {
  const { call, result } = finished;
  const { args, tool } = call;
  if (result.startsWith("Tool not available: ")) {
    return `That needs the tool ${tool}, which is off. Turn it on with --enable ${tool}, or enable: ["${tool}"] in agent.config.ts.`;
  }
  if (result.startsWith("Tool not found: ")) {
    return `That needs the tool ${tool}, which no installed pack has.`;
  }
  if (FAILURES.test(result)) return `That did not work. ${result}`;
  switch (tool) {
    case "list_dir":
      return `In ${args.path === "." ? "the working directory" : args.path}:\n${result}`;
    case "read_file":
      return result === "" ? `${args.path} is empty.` : result;
    case "search_files":
      if (call.count) return reportCount(filesMatching(args), result);
      return withHeading(`Files matching ${args.pattern}:`, result);
    case "search_text":
      if (call.count) {
        return reportCount(
          `${call.count === "files" ? "files contain" : "lines contain"} ${JSON.stringify(args.query)}`,
          result,
        );
      }
      return withHeading(
        `${args.files_only ? "Files that contain" : "Matches for"} ${JSON.stringify(args.query)}:`,
        result,
      );
    case "run_bash":
      return reportCommand(String(args.command), result);
    default:
      return result;
  }
}

// The search tools end with an account in brackets: "[3 matching lines (2 files); …]", "[2 of more than 90 files shown; …]".
const ACCOUNT = /^\[(?:[\d,]+ of )?((?:more than |at least )?[\d,]+) (?:matching )?(?:lines?|files?)\b/;

/** `12 lines contain "x".`: the number is the tool's own, or counted where it gives none. */
function reportCount(what: string, result: string): string {
  const lines = result.split("\n").filter((line) => line.trim() !== "");
  const found = lines.at(-1)?.match(ACCOUNT)?.[1];
  if (found !== undefined) return `${found.charAt(0).toUpperCase()}${found.slice(1)} ${what}.`;
  return FOUND_NOTHING.test(result) ? `0 ${what}.` : `${lines.length} ${what}.`;
}

function filesMatching(args: Readonly<Record<string, unknown>>): string {
  const place = args.path === undefined ? "" : ` in ${args.path}`;
  return args.pattern === "**/*" ? `files${place}` : `files match ${args.pattern}${place}`;
}

function withHeading(heading: string, result: string): string {
  return FOUND_NOTHING.test(result) ? result : `${heading}\n${result}`;
}

/** Lists what can be asked for with the given tools. */
export function help(tools: readonly ChatTool[]): string {
  const names = new Set(tools.map((tool) => tool.function.name));
  const known = EXAMPLES.filter(([tool]) => names.has(tool)).map(([, example]) => `  ${example}`);
  const others = tools.filter((tool) => !EXAMPLES.some(([name]) => name === tool.function.name));
  const lines = ["You can ask for, in plain English:", ...known];
  if (known.length === 0) lines[0] = "No tool for files, search or commands is on.";
  if (others.length > 0)
    lines.push(
      "Other tools, by their name:",
      ...others.map((tool) => `  ${usage(tool).replace("Say: ", "")}`),
    );
  lines.push('Join steps with "then": list src then read src/index.ts');
  return lines.join("\n");
}

/** The answer to a request that is not understood. */
export function decline(part: string, hint: string | undefined, tools: readonly ChatTool[]): string {
  const shown = part.length > 200 ? `${part.slice(0, 200)}…` : part;
  const understood = `I did not do anything, because I do not understand: ${shown.trim()}`;
  return hint === undefined ? `${understood}\n${help(tools)}` : `${understood}\n${hint}`;
}

interface CommandResult {
  readonly stdout?: unknown;
  readonly stderr?: unknown;
  readonly exit_code?: unknown;
  readonly timed_out?: unknown;
  readonly ended_by?: unknown;
}

function readCommand(result: string): CommandResult | undefined {
  try {
    const value: unknown = JSON.parse(result);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function reportCommand(command: string, result: string): string {
  const output = readCommand(result);
  if (output === undefined) return result;
  const streams = [output.stdout, output.stderr]
    .map((stream) => (typeof stream === "string" ? stream.trimEnd() : ""))
    .filter((stream) => stream !== "");
  if (output.exit_code !== 0) streams.push(`${failureOf(output)}: ${command}`);
  return streams.length === 0 ? `The command succeeded without output: ${command}` : streams.join("\n");
}

/** What went wrong, in words. A command that was stopped has no exit code of its own. */
function failureOf({ ended_by: endedBy, timed_out: timedOut, exit_code: code }: CommandResult): string {
  if (endedBy === "user") return "You stopped the command";
  if (timedOut === true) return "The command ran out of time";
  return `The command failed with exit code ${String(code)}`;
}

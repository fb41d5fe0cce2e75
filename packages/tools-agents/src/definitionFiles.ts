import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Effort } from "@agent/core";
import { errorMessage, quote } from "@agent/core/toolkit";
import type { AgentDefinition, DefinitionProblem } from "./definitions.js";

export const EFFORTS = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly Effort[];
const MAX_FILE_BYTES = 128 * 1024;
const MAX_FILES = 100;
/** The name of an agent: part of its children's ids, which name files and branches. */
export const AGENT_NAME = /^[A-Za-z][\w-]{0,63}$/;

/** The tool names in agents written for another program, and our equivalents; `""` if there is none. */
const FOREIGN_TOOLS: ReadonlyMap<string, string> = new Map([
  ["Bash", "run_bash"],
  ["Edit", "edit_file"],
  ["Glob", "search_files"],
  ["Grep", "search_text"],
  ["LS", "list_dir"],
  ["MultiEdit", "edit_file"],
  ["Read", "read_file"],
  ["WebFetch", "web_fetch"],
  ["WebSearch", "web_search"],
  ["Write", "write_file"],
  ...[
    ...["Agent", "AskUserQuestion", "BashOutput", "ExitPlanMode", "KillBash", "KillShell", "NotebookEdit"],
    ...["NotebookRead", "Skill", "SlashCommand", "Task", "TodoRead", "TodoWrite", "ToolSearch"],
  ].map((name) => [name, ""] as const),
]);

/** Names that stand for models of one vendor, in agents written for another program: its parent's model, or the small one. */
const FOREIGN_MODELS: ReadonlyMap<string, Pick<AgentDefinition, "small">> = new Map([
  ["inherit", {}],
  ["opus", {}],
  ["sonnet", {}],
  ["haiku", { small: true as const }],
]);

/** The definitions in the Markdown files of a directory, sorted by file. A file that cannot be used becomes a problem. */
export function readDefinitions(directory: string): {
  readonly definitions: AgentDefinition[];
  readonly problems: DefinitionProblem[];
} {
  const definitions: AgentDefinition[] = [];
  const problems: DefinitionProblem[] = [];
  let files: string[];
  try {
    files = readdirSync(directory).filter((name) => name.endsWith(".md"));
  } catch {
    return { definitions, problems };
  }
  if (files.length > MAX_FILES) {
    problems.push({
      place: directory,
      problem: `it has ${files.length} files; the first ${MAX_FILES} are read`,
    });
  }
  for (const file of files.sort().slice(0, MAX_FILES)) {
    const place = join(directory, file);
    try {
      definitions.push(parseDefinition(readSmallFile(place), file.slice(0, -".md".length), place));
    } catch (error) {
      problems.push({ place, problem: errorMessage(error) });
    }
  }
  return { definitions, problems };
}

/** Reads a regular file without blocking: a FIFO has no end. */
function readSmallFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is not a file");
    if (stats.size > MAX_FILE_BYTES) {
      throw new Error(`it has ${stats.size} bytes, more than ${MAX_FILE_BYTES}`);
    }
    const buffer = Buffer.alloc(MAX_FILE_BYTES);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(file, buffer, length, buffer.length - length, null);
    }
    const bytes = buffer.subarray(0, length);
    if (bytes.includes(0)) throw new Error("it is a binary file");
    return bytes.toString("utf8");
  } finally {
    closeSync(file);
  }
}

/** Parses a definition from Markdown with front matter. Throws with the problem. */
export function parseDefinition(content: string, fileName: string, place: string): AgentDefinition {
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [, head, body = ""] = /^---\n([\s\S]*?)\n---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
  if (head === undefined)
    throw new Error('it has no front matter: lines between "---" and "---" at its start');
  const fields = parseFields(head);
  const { name = fileName, description, model, effort, maxTurns, isolation } = fields;
  if (typeof name !== "string" || !AGENT_NAME.test(name)) {
    throw new Error(
      `${quote(String(name))} is not a name: letters, digits, "-" and "_", starting with a letter`,
    );
  }
  if (typeof description !== "string" || description === "") throw new Error("it has no description");
  const prompt = body.trim();
  if (prompt === "") throw new Error("it has no text after the front matter");
  return {
    name,
    description,
    prompt,
    place,
    ...toolsOfFile(fields),
    ...(typeof model === "string" && (FOREIGN_MODELS.get(model) ?? { model })),
    ...(effort !== undefined && { effort: checkedEffort(effort) }),
    ...(maxTurns !== undefined && { maxTurns: checkedTurns(maxTurns) }),
    ...(isolation !== undefined && { isolation: checkedIsolation(isolation) }),
  };
}

function toolsOfFile({
  tools,
  disallowedTools,
}: ReturnType<typeof parseFields>): Pick<AgentDefinition, "tools" | "optionalTools" | "withoutTools"> {
  const names = tools === undefined ? undefined : toolNames(tools);
  const ours = (all: readonly string[]) => all.map((name) => FOREIGN_TOOLS.get(name) ?? name).filter(Boolean);
  // The pack of an equivalent may be missing.
  const foreign = names?.filter((name) => FOREIGN_TOOLS.has(name)) ?? [];
  return {
    ...(names && { tools: ours(names) }),
    ...(foreign.length > 0 && { optionalTools: ours(foreign) }),
    // A pattern for some calls, such as Bash(rm *), takes the whole tool away: that is never more than was meant.
    ...(disallowedTools !== undefined && {
      withoutTools: ours(toolNames(disallowedTools).map((name) => name.replace(/\(.*$/, ""))),
    }),
  };
}

function toolNames(value: string | readonly string[]): string[] {
  const names = typeof value === "string" ? value.split(",") : value;
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

function checkedEffort(value: string | readonly string[]): Effort {
  const effort = EFFORTS.find((one) => one === value);
  if (effort === undefined) {
    throw new Error(`${quote(String(value))} is not an effort: it is one of ${EFFORTS.join(", ")}`);
  }
  return effort;
}

function checkedTurns(value: string | readonly string[]): number {
  const turns = Number(value);
  if (Number.isInteger(turns) && turns > 0) return turns;
  throw new Error(`maxTurns must be a whole number of at least 1, got ${quote(String(value))}`);
}

function checkedIsolation(value: string | readonly string[]): "worktree" {
  if (value === "worktree") return value;
  throw new Error(`isolation can only be "worktree", got ${quote(String(value))}`);
}

/** The part of YAML that front matter uses: texts, folded texts, lists and comments. Other keys are ignored. */
function parseFields(head: string): Record<string, string | readonly string[] | undefined> {
  const fields: Record<string, string | readonly string[]> = Object.create(null);
  const lines = head.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, key, value = ""] = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(lines[at] ?? "") ?? [];
    if (key === undefined) continue;
    const below: string[] = [];
    while (/^(?:[ \t]+|- |$)/.test(lines[at + 1] ?? "x")) below.push((lines[++at] ?? "").trim());
    fields[key] = readValue(withoutComment(value.trim()), below);
  }
  return fields;
}

function readValue(value: string, below: readonly string[]): string | readonly string[] {
  if (/^[|>][+-]?$/.test(value)) return below.join(value.startsWith("|") ? "\n" : " ").trim();
  if (value === "" && below.some((line) => line.startsWith("- "))) {
    return below
      .filter((line) => line.startsWith("- "))
      .map((line) => unquoted(withoutComment(line.slice(2).trim())));
  }
  const whole = [value, ...below.map(withoutComment)].join(" ");
  const list = /^\[(.*)\]\s*$/.exec(whole)?.[1];
  if (list !== undefined) return list.split(",").map(unquoted);
  return unquoted(whole);
}

/** A comment begins at the start of a value or after a space, outside of quotes. */
function withoutComment(value: string): string {
  const [, quoted] = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s+#.*$/.exec(value) ?? [];
  if (quoted !== undefined) return quoted;
  return /^["']/.test(value) ? value : value.replace(/(?:^|\s)#.*$/, "").trimEnd();
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, double, single] = /^"(.*)"$|^'(.*)'$/s.exec(trimmed) ?? [];
  if (single !== undefined) return single.replaceAll("''", "'");
  return double === undefined ? trimmed : double.replaceAll('\\"', '"').replaceAll("\\n", "\n");
}

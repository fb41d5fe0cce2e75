import { opendirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PackSkill } from "@agent/core";
import { escapeToLine, quotePath, readRegularFileInside } from "@agent/internal";
import { projectDirectory } from "../settings/access.js";

const LARGEST_FILE = 64 * 1024;
const MOST_COMMANDS = 200;
const MOST_ENTRIES = 1000;
// The maximum share of the system prompt for all skills together.
const MOST_SKILL_BYTES = 16 * 1024;
/** The directories for commands and skills of projects, ours first: if a name is in several, the first wins. */
const PROJECT_DIRECTORIES = [".agent", ".agents", ".claude"];
const LONGEST_DESCRIPTION = 300;
const KEY = /^[\w-]+$/;
const NAME = /^[a-z][\w-]{0,63}$/i;

/** A command or a skill that a user or a project wrote: text for the model, not code. */
export interface OwnCommand {
  readonly name: string;
  readonly description: string;
  readonly kind: "command" | "skill";
  readonly file: string;
  readonly text: string;
}

/** The command that lets the model write AGENTS.md. No other command can take its name. */
export const INIT_COMMAND: OwnCommand = {
  name: "init",
  description: "let the model look at the project and write AGENTS.md",
  kind: "command",
  file: "",
  text: `Write AGENTS.md in the root of this project: what an agent needs to know to work on it.
First look at the project: its manifest and build files, README, CI configuration, folders, a few typical source and test files, and instructions for other tools (CLAUDE.md, .cursorrules, .github/copilot-instructions.md), if they are there.
Then write, in at most 60 lines:
- what the project is, in two sentences
- the commands to install, build, run, lint and test it, and to run a single test
- where things are: the main folders and what belongs in them
- conventions and pitfalls that cannot be seen at a glance
Write only what you have seen in files. No general advice. If AGENTS.md exists, keep what is right in it and change the rest.`,
};

/**
 * Reads `commands/*.md` and `skills/<name>/SKILL.md` below a directory, such as `.agent`. Symlinks out of `root`, large
 * files and names that cannot be typed are skipped.
 */
export function readOwnCommands(directory: string, root = directory): OwnCommand[] {
  const commands = list(join(directory, "commands"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({
      file: join(directory, "commands", name),
      name: basename(name, ".md"),
      kind: "command" as const,
    }));
  const skills = list(join(directory, "skills")).map((name) => ({
    file: join(directory, "skills", name, "SKILL.md"),
    name,
    kind: "skill" as const,
  }));
  return [commands, skills].flatMap((found) =>
    found.slice(0, MOST_COMMANDS).flatMap(({ file, name, kind }) => read(root, file, name, kind)),
  );
}

/** The commands and skills of the project, including those written for other agents. */
export function projectCommands(cwd: string): OwnCommand[] {
  const root = projectDirectory(cwd);
  const found = new Map<string, OwnCommand>();
  for (const directory of PROJECT_DIRECTORIES) {
    for (const command of readOwnCommands(join(cwd, directory), root)) {
      const key = `${command.kind} ${command.name}`;
      if (!found.has(key)) found.set(key, command);
    }
  }
  return (["command", "skill"] as const).flatMap((kind) =>
    [...found.values()].filter((one) => one.kind === kind).slice(0, MOST_COMMANDS),
  );
}

/** The files in which the project defines sub-agents, for the pack that starts them. */
export function projectAgents(cwd: string): string[] {
  return PROJECT_DIRECTORIES.flatMap((directory) => {
    const agents = join(cwd, directory, "agents");
    return list(agents)
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(agents, name));
  });
}

/** The message of a command. `$ARGUMENTS` and `$1` are replaced with the user's text after its name. */
export function expandOwnCommand({ kind, text, file }: OwnCommand, argument: string): string {
  if (kind === "skill") {
    return `Use this skill, which is in ${file}:\n\n${text}${argument === "" ? "" : `\n\n${argument}`}`;
  }
  const words = argument.split(/\s+/).filter(Boolean);
  const isUsed = /\$(ARGUMENTS|[1-9])/.test(text);
  const filled = text.replace(/\$(ARGUMENTS|[1-9])/g, (_, name: string) =>
    name === "ARGUMENTS" ? argument : (words[Number(name) - 1] ?? ""),
  );
  return isUsed || argument === "" ? filled : `${filled}\n\n${argument}`;
}

/**
 * The skills of packs as commands. The user's and the project's own commands take precedence; `problems` lists skills
 * that cannot be typed.
 */
export function packSkills(
  skills: readonly PackSkill[],
  own: readonly OwnCommand[],
): { readonly found: readonly OwnCommand[]; readonly problems: readonly string[] } {
  const found: OwnCommand[] = [];
  const problems: string[] = [];
  for (const { name, description, file } of skills) {
    const other = own.find((command) => command.name === name);
    if (other) {
      problems.push(
        `/${name} is ${escapeToLine(quotePath(other.file))}. The skill of the same name in ${escapeToLine(quotePath(file))} is not a command.`,
      );
      continue;
    }
    const [skill] = read(dirname(file), file, name, "skill");
    if (skill)
      found.push({ ...skill, name, description: escapeToLine(description.slice(0, LONGEST_DESCRIPTION)) });
    else problems.push(`The skill ${name} cannot be used: ${escapeToLine(quotePath(file))} cannot be read.`);
  }
  return { found, problems };
}

/** The list of skills for the system prompt. The model reads a skill's file when it needs it. */
export function describeSkills(commands: readonly OwnCommand[]): string {
  const skills = commands.filter(({ kind }) => kind === "skill");
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let bytes = 0;
  for (const { name, description, file } of skills) {
    const line = `- ${name}: ${description} (${escapeToLine(file)})`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MOST_SKILL_BYTES) break;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  if (left > 0) lines.push(`[${left} more skills are not listed here]`);
  return `Skills are instructions for special tasks. Read the file of one before you use it:\n${lines.join("\n")}`;
}

function read(root: string, file: string, fallback: string, kind: OwnCommand["kind"]): OwnCommand[] {
  const content = readRegularFileInside(root, file, LARGEST_FILE + 1);
  if (content === undefined || content.length > LARGEST_FILE) return [];
  const { fields, body } = splitFrontMatter(content.toString("utf8").replace(/^\ufeff/, ""));
  const name = fields.get("name") ?? fallback;
  if (!NAME.test(name)) return [];
  const text = body.trim();
  const described = fields.get("description") ?? firstLine(text).replace(/^#+\s*/, "");
  const description = escapeToLine(described.slice(0, LONGEST_DESCRIPTION));
  return [{ name, description, kind, file, text }];
}

/** The `key: value` lines between two `---` at the start of a file, and the rest. */
function splitFrontMatter(text: string): { fields: ReadonlyMap<string, string>; body: string } {
  const match = /^---\r?\n(.*?)\r?\n---\r?\n?(.*)$/s.exec(text);
  const fields = new Map<string, string>();
  if (!match) return { fields, body: text };
  const [, head = "", body = ""] = match;
  const lines = head.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(0, colon));
    if (!KEY.test(key)) continue;
    const value = line.slice(colon + 1).trim();
    // A text on the following lines (`description: >`), as in YAML.
    const isBlock = /^[>|][+-]?$/.test(value);
    fields.set(key, isBlock ? indentedLines(lines, at + 1).join(" ") : unquoted(value));
  }
  return { fields, body };
}

/** The indented lines from here, without their indentation. */
function indentedLines(lines: readonly string[], start: number): string[] {
  const found: string[] = [];
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\S/.test(line)) break;
    if (line.trim() !== "") found.push(line.trim());
  }
  return found;
}

function unquoted(value: string): string {
  const [first] = value;
  const isQuoted = value.length > 1 && (first === '"' || first === "'") && value.endsWith(first);
  return isQuoted ? value.slice(1, -1) : value;
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end === -1 ? text : text.slice(0, end);
}

/** The first names in a directory, in order. Limited: a stranger's repository may have a million. */
function list(directory: string): string[] {
  const names: string[] = [];
  try {
    const entries = opendirSync(directory);
    try {
      for (let entry = entries.readSync(); entry && names.length < MOST_ENTRIES; entry = entries.readSync()) {
        names.push(entry.name);
      }
    } finally {
      entries.closeSync();
    }
  } catch {
    // Missing or not readable.
  }
  return names.sort();
}

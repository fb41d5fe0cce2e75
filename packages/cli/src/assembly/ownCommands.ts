import { readdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { isInside, readRegularFile } from "@agent/internal";

const LARGEST_FILE = 64 * 1024;
const MOST_COMMANDS = 200;
const NAME = /^[a-z][\w-]{0,63}$/i;

/** A command or a skill that a person or a project wrote: text for the model, not code. */
export interface OwnCommand {
  readonly name: string;
  readonly description: string;
  readonly kind: "command" | "skill";
  readonly file: string;
  readonly text: string;
}

/**
 * Reads `commands/*.md` and `skills/<name>/SKILL.md` below a directory, such as `.agent`. Links that lead out of it,
 * large files and names that cannot be typed are left out.
 */
export function readOwnCommands(directory: string): OwnCommand[] {
  const commands = list(join(directory, "commands"))
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => read(directory, join(directory, "commands", name), basename(name, ".md"), "command"));
  const skills = list(join(directory, "skills")).flatMap((name) =>
    read(directory, join(directory, "skills", name, "SKILL.md"), name, "skill"),
  );
  return [...commands, ...skills].slice(0, MOST_COMMANDS);
}

/** The message a command stands for. `$ARGUMENTS` and `$1` stand for what the person wrote after its name. */
export function expandOwnCommand({ kind, text, file }: OwnCommand, argument: string): string {
  if (kind === "skill") {
    return `Use this skill, which lies in ${file}:\n\n${text}${argument === "" ? "" : `\n\n${argument}`}`;
  }
  const words = argument.split(/\s+/).filter(Boolean);
  const isUsed = /\$(ARGUMENTS|[1-9])/.test(text);
  const filled = text.replace(/\$(ARGUMENTS|[1-9])/g, (_, name: string) =>
    name === "ARGUMENTS" ? argument : (words[Number(name) - 1] ?? ""),
  );
  return isUsed || argument === "" ? filled : `${filled}\n\n${argument}`;
}

/** The list of skills for the system prompt. The model reads a skill's file when it needs it. */
export function describeSkills(commands: readonly OwnCommand[]): string {
  const skills = commands.filter(({ kind }) => kind === "skill");
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description, file }) => `- ${name}: ${description} (${file})`);
  return `Skills are instructions for special tasks. Read the file of one before you use it:\n${lines.join("\n")}`;
}

function read(directory: string, file: string, fallback: string, kind: OwnCommand["kind"]): OwnCommand[] {
  try {
    const real = realpathSync(file);
    if (!isInside(realpathSync(directory), real)) return [];
    const content = readRegularFile(real, LARGEST_FILE + 1);
    if (content === undefined || content.length > LARGEST_FILE) return [];
    const { fields, body } = splitFrontMatter(content.toString("utf8"));
    const name = fields.name ?? fallback;
    if (!NAME.test(name)) return [];
    const description =
      fields.description ??
      body
        .trim()
        .split("\n")[0]
        ?.replace(/^#+\s*/, "") ??
      "";
    return [{ name, description: description.slice(0, 300), kind, file, text: body.trim() }];
  } catch {
    return [];
  }
}

/** The `key: value` lines between two `---` at the start of a file, and the rest. */
function splitFrontMatter(text: string): { fields: Record<string, string>; body: string } {
  const match = /^---\r?\n(.*?)\r?\n---\r?\n?(.*)$/s.exec(text);
  if (!match) return { fields: {}, body: text };
  const fields: Record<string, string> = {};
  for (const line of (match[1] ?? "").split(/\r?\n/)) {
    const [, key, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) fields[key] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return { fields, body: match[2] ?? "" };
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

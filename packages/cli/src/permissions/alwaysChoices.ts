import { exactSubject, type Rule, type RuledCall } from "./rule.js";
import { simpleCommands } from "./shellWords.js";

/** Something that can be allowed for good after a question about a call. */
export interface AlwaysChoice {
  readonly rule: Rule;
  readonly label: string;
}

// Programs that run whatever they are given: a rule for their first words would allow everything.
const LAUNCHERS =
  /^(?:.*\/)?(sh|bash|dash|zsh|fish|ksh|env|sudo|su|doas|xargs|eval|exec|nohup|timeout|nice|time|ssh|find|awk|sed|perl|python[\d.]*|ruby|node|deno|bun|npx|docker|podman|kubectl|make)$/;
const SUBCOMMAND = /^[a-z][\w:-]*$/;
const LONGEST_LABEL = 60;

/** What can be offered as "always", the narrowest first. */
export function alwaysChoices(call: RuledCall): AlwaysChoice[] {
  const { name } = call;
  const exact = exactSubject(call);
  const choices: AlwaysChoice[] = [
    { rule: { tool: name, exact: true, pattern: exact }, label: "exactly this call" },
  ];
  const prefix = commandPrefix(call);
  if (prefix !== undefined) {
    choices.push({ rule: { tool: name, exact: false, pattern: `${prefix} *` }, label: `${prefix} *` });
  }
  choices.push({ rule: { tool: name, exact: false }, label: `every call of ${name}` });
  return choices;
}

/** The program and its subcommand: `npm test` of `npm test -- --watch`. None where it would allow anything. */
function commandPrefix({ args }: RuledCall): string | undefined {
  if (typeof args.command !== "string" || "env" in args || "arguments" in args) return undefined;
  const commands = simpleCommands(args.command);
  const [words] = commands ?? [];
  const [program, second] = words ?? [];
  if (commands?.length !== 1 || program === undefined || LAUNCHERS.test(program) || program.includes("=")) {
    return undefined;
  }
  const prefix = second !== undefined && SUBCOMMAND.test(second) ? `${program} ${second}` : program;
  return prefix.length > LONGEST_LABEL || /[*?]/.test(prefix) ? undefined : prefix;
}

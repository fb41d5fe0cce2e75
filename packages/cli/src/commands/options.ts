import type { Argument, Command, HelpConfiguration } from "commander";
import { CliError } from "../process/errors.js";

const TOOLS = "Tools:";
const CONFIG = "Config:";
const MODEL = "Model and limits:";
/** The group of options without another one. */
const OWN = "Options:";

/** The flags of every command that loads the config. */
export function settingsOptions(command: Command): Command {
  return toolOptions(command)
    .optionsGroup(TOOLS)
    .option("--mode <name>", "what runs without asking: plan, ask, edits or auto")
    .option("--confirm <tool>", "ask before each call of this tool (repeatable)", collect)
    .option("--no-sandbox", "run commands outside the sandbox, also in auto mode")
    .optionsGroup(CONFIG)
    .option("--agent <name>", "use this agent of the config")
    .option("--cwd <directory>", "work in this directory")
    .optionsGroup(MODEL)
    .option("--provider <name>", "openai, anthropic, google, offline, or a provider's package")
    .option("--model <name>", "the model to ask, also with its provider: anthropic/…")
    .option("--base-url <url>", "another address of the provider, such as an OpenAI-compatible server")
    .option("--fallback <model>", "a model that answers if the first one fails")
    .option("--effort <level>", "reasoning effort: off, minimal, low, medium, high, xhigh or max")
    .option("--small-model <model>", "a cheaper model for summaries and for reading pages")
    .option("--max-turns <number>", "maximum number of model requests for one message")
    .option("--max-cost <dollars>", "maximum cost of the chat or the task")
    .option("--max-tokens <number>", "maximum number of tokens, requests and answers together")
    .option("--wait <time>", "wait this long for a usage limit to end: 5h")
    .option("--max-retries <number>", "how often a failed request is repeated; default 3")
    .optionsGroup("");
}

/** The flags that decide which tools are enabled. */
export function toolOptions(command: Command): Command {
  return command
    .optionsGroup(TOOLS)
    .option("--pack <pack>", "also use this pack: a name or a folder (repeatable)", collect)
    .option("--enable <tool>", "turn a tool on (repeatable)", collect)
    .option("--disable <tool>", "turn a tool off (repeatable)", collect)
    .option("--tools <list>", "turn tools on and off in order: '-*,read_file'")
    .option("--read-only", "only tools that read")
    .option("--add-dir <directory>", "let tools write there without asking (repeatable)", collect)
    .optionsGroup(CONFIG)
    .option("--config <file>", "use this config file and no other of the project")
    .option("--no-config", "use no config file")
    .option("--trust", "trust the project's config as it is now")
    .optionsGroup("");
}

/** How help is laid out: it fits narrow windows, and begins with the options of the command itself. */
export const HELP_LAYOUT: HelpConfiguration = {
  minWidthToWrap: 20,
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map((argument) => argumentTerm(argument))].join(" "),
  groupItems: (all, visible, groupOf) => {
    const groups = [...new Set(all.map(groupOf))];
    const ordered = [...groups.filter((name) => name === OWN), ...groups.filter((name) => name !== OWN)];
    return new Map(
      ordered
        .map((name) => [name, visible.filter((item) => groupOf(item) === name)] as const)
        .filter(([, items]) => items.length > 0),
    );
  },
};

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Refuses a repeated single-value flag in all commands: the intended value is ambiguous. */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if ((!option.required && !option.optional) || option.parseArg) continue;
    let isGiven = false;
    option.argParser((value: string) => {
      if (isGiven) throw repeatedFlag(option.long ?? option.flags);
      isGiven = true;
      return value;
    });
  }
  for (const subcommand of command.commands) refuseRepeats(subcommand);
}

export function repeatedFlag(flag: string): CliError {
  return new CliError(`${flag} is given twice, and takes one value. Leave one of them out.`);
}

/** Appends how to print the command's help to the parser's error message. */
export function pointToHelp(command: Command, path: string): void {
  command.showHelpAfterError(`See: ${path} --help`);
  for (const subcommand of command.commands) pointToHelp(subcommand, `${path} ${subcommand.name()}`);
}

/** For a flag that may be repeated: all its values. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/**
 * The options given after the command's name. Absent ones are omitted, so that they do not override a flag before it.
 */
export function definedOptions(command: Command): Record<string, unknown> {
  const given = Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) === "cli");
  return Object.fromEntries(given);
}

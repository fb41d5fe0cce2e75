import { quote } from "@agent/core/toolkit";
import { didYouMean } from "@agent/internal";
import { Command, CommanderError } from "commander";
import { collect, definedOptions, HELP_LAYOUT, refuseRepeats, settingsOptions } from "./commands/options.js";
import { CliError } from "./process/errors.js";
import { EXIT, type ExitCode } from "./process/exitCodes.js";
import { print } from "./process/output.js";
import { readVersion } from "./process/version.js";

const EXAMPLES = `
Examples:
  agent                                   chat in the terminal
  agent "list the files in src"           one task; prints the answer
  git diff | agent -p "review this"       standard input is attached to the task
  agent --output json "run the checks"    the result as JSON
  agent runs start "run the checks"       a task that survives its process
  agent tools                             which tools are on, and why
  agent tool run read_file --path a.txt   one tool, no model

Exit codes: 0 done, 1 model, 2 config, 3 tool, 4 refused, 5 turn limit,
6 timeout, 7 cost or token limit, 70 crash, 74 output not written,
130 interrupted.`;

/** The commands in the order of the help. The arguments of each are defined when it is called. */
const COMMANDS: Readonly<Record<string, string>> = {
  tools: "list every tool: on or off and why, its pack, what it can do",
  tool: "run one tool, without a model",
  config: "print the merged settings of all layers",
  init: "write an agent.config.ts and trust it",
  doctor: "check Node, config, packs and provider, and suggest fixes",
  models: "list the models the provider's server offers",
  mcp: "manage MCP servers; serve the tools to MCP clients",
  acp: "serve an editor that supports the Agent Client Protocol",
  pack: "find, add, update, make and check tool packs",
  eval: "run tasks with checks on one or several models, and report the results",
  sessions: "list or search the conversations saved for this directory",
  runs: "tasks that survive their process: queue them, run workers, follow, approve",
  completion: "print a completion script for bash, zsh or fish",
};

/** Parses a command line and runs its command. Only what that command needs is loaded. */
export async function runProgram(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = createProgram((result) => {
    exitCode = result;
  });
  try {
    await program.parseAsync(withoutRunWord(helpAsFlag(args)), { from: "user" });
  } catch (error) {
    // The parser has printed its message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.config;
    throw error;
  }
  return exitCode;
}

/**
 * Throws for a single word that is nearly a command's name: it is a misspelt command, not a task for a model. Two
 * swapped, missing or wrong letters are detected; with `-p` any word is a task.
 */
function checkCommandName(task: readonly string[], program: Command): void {
  const [word = "", ...rest] = task;
  if (rest.length > 0 || !/^[a-z-]{3,}$/i.test(word) || program.opts().print) return;
  const names = program.commands.map((command) => command.name());
  const hint = didYouMean(word, names, { show: (name) => `"agent ${name}"`, otherwise: "" });
  if (hint === "") return;
  throw new CliError(`There is no command ${quote(word)}. ${hint} To give it as a task: agent -p ${word}`);
}

/**
 * `agent run --schema …` and `agent run "a task"` are the plain command with `--print`. Several bare words after `run`
 * are a task that begins with it: `agent run the tests`.
 */
function withoutRunWord(args: readonly string[]): readonly string[] {
  const [first, second, third] = args;
  if (first !== "run" || second === undefined) return args;
  const isCommand = second.startsWith("-") || (third === undefined && /\s/.test(second));
  return isCommand ? ["--print", ...args.slice(1)] : args;
}

/** Turns `agent help mcp add` into `agent mcp add --help`, which defines the command first. */
function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, name = "", ...rest] = args;
  return first === "help" && Object.hasOwn(COMMANDS, name) ? [name, ...rest, "--help"] : args;
}

/** The whole command line. `done` gets the exit code of the command that ran. */
function createProgram(done: (exitCode: ExitCode) => void): Command {
  const program = new Command("agent")
    .description("An agent with tools. Without a task it opens a chat; with a task it runs it and exits.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    // For commands with commands below them. The program itself takes "help me" as a task.
    .helpCommand("help [command]", "print help")
    .helpCommand(false)
    .exitOverride()
    // Help is output of the command itself, and standard output is reserved for that.
    .configureOutput({
      writeOut: print,
      outputError: (text, write) => write(text.replace(/^error: /, "agent: ")),
    })
    .configureHelp(HELP_LAYOUT)
    .showSuggestionAfterError()
    .showHelpAfterError("See: agent --help")
    .enablePositionalOptions()
    .argument("[task...]", 'what to do; piped input is attached, "-" waits for it')
    .option("-p, --print", "never chat: run the task, print the answer, exit")
    .option("--output <format>", "text, json or stream-json")
    .option("-q, --quiet", "no activity lines on standard error")
    .option("--timeout <time>", "stop the run after this time: 90s, 5m")
    .option("--schema <file>", "print only JSON that fits this JSON Schema")
    .option("--resume [session]", "resume a conversation: its name or the start of it; without one, choose")
    .option("--watch", "in a chat, load a folder given with --pack again when it changes")
    .option("--worktree [name]", "work in a separate git work tree, on the branch agent/NAME")
    .option("--no-instructions", "do not read AGENTS.md and the like")
    .option("--image <file>", "give the model an image with the task (repeatable)", collect)
    .option("--no-session", "do not save the conversation")
    .option("--screen-reader", "plain text for screen readers, with words instead of symbols")
    .addHelpText("after", EXAMPLES);
  refuseRepeats(settingsOptions(program));
  program.action(async (task: string[]) => {
    checkCommandName(task, program);
    const { runCommand } = await import("./commands/run.js");
    done(await runCommand(task, program.opts()));
  });

  for (const [name, description] of Object.entries(COMMANDS)) program.command(name).description(description);
  program.hook("preSubcommand", async (_, command) => {
    const { defineCommand } = await import("./commands/subcommands.js");
    const flagsOf = (given: Command): Record<string, unknown> => ({
      ...program.opts(),
      ...definedOptions(given),
    });
    defineCommand(command, { flagsOf, done });
  });
  return program;
}

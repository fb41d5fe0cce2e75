import { quote } from "@agent/core/toolkit";
import { nearestMatch } from "@agent/internal";
import type { Command } from "commander";
import { mcpCommands } from "./commands/mcp/program.js";
import { packCommands } from "./commands/pack/program.js";
import { runsCommands } from "./commands/runs/program.js";
import type { CrashGuard } from "./process/crash.js";
import { CliError } from "./process/errors.js";
import { EXIT, type ExitCode } from "./process/exitCodes.js";
import { print } from "./process/output.js";
import { requireCommander } from "./process/requireCjs.js";
import { readVersion } from "./process/version.js";

const { Command: Program, CommanderError } = requireCommander();

const EXAMPLES = `
Examples:
  agent                                   chat in the terminal
  agent "list the files in src"           one task; the answer goes to standard output
  git diff | agent -p "review this" -     the dash stands for standard input
  agent --output json "run the checks"    the result as JSON
  agent runs start "run the checks"       a task that survives its process
  agent tools                             which tools are on, and why
  agent tool run read_file --path a.txt   one tool, no model

Exit codes: 0 done, 1 model, 2 config, 3 tool, 4 refused, 5 turn limit, 6 timeout, 70 crash,
74 output not written, 130 interrupted.`;

/** Parses a command line and runs its command. Only what that command needs is loaded. */
export async function runProgram(args: readonly string[], guard: CrashGuard): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const program = createProgram(guard, (result) => {
    exitCode = result;
  });
  refuseRepeats(program);
  try {
    await program.parseAsync(withoutRunWord(args), { from: "user" });
  } catch (error) {
    // The parser has printed its message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.config;
    throw error;
  }
  return exitCode;
}

/**
 * Throws for a single word that is nearly a command's name: it is a misspelt command, not a task for a model. Two
 * swapped, missing or wrong letters are corrected; with `-p` any word is a task.
 */
function checkCommandName(task: readonly string[], program: Command): void {
  const [word = "", ...rest] = task;
  if (rest.length > 0 || !/^[a-z-]{3,}$/i.test(word) || program.opts().print) return;
  const meant = nearestMatch(
    word,
    program.commands.map((command) => command.name()),
  );
  if (meant === undefined) return;
  throw new CliError(
    `There is no command ${quote(word)}. Did you mean: agent ${meant}? To give it as a task: agent -p ${word}`,
  );
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

/** The whole command line. `done` gets the exit code of the command that ran. */
function createProgram(guard: CrashGuard, done: (exitCode: ExitCode) => void): Command {
  const program = new Program("agent")
    .description("An agent with tools. Without a task: a chat. With one: does it and ends.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .exitOverride()
    // Help is output of the command itself, and standard output is reserved for that.
    .configureOutput({ writeOut: print })
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .argument("[task...]", 'what to do, in words; "-" stands for standard input')
    .option("-p, --print", "never chat: do the task, print the answer, end")
    .option("--output <format>", "text, json or stream-json")
    .option("-q, --quiet", "no activity lines on standard error")
    .option("--timeout <time>", "stop the run after this time: 90s, 5m")
    .option("--schema <file>", "print only JSON that fits this JSON Schema")
    .option(
      "--resume [session]",
      "go on with a conversation: its name or the start of it; without one, choose",
    )
    .option("--no-instructions", "do not read AGENTS.md and the like")
    .option("--image <file>", "give the model an image with the task (repeatable)", collect)
    .option("--no-session", "do not keep the conversation")
    .addHelpText("after", EXAMPLES);
  settingsOptions(program);
  program.action(async (task: string[]) => {
    checkCommandName(task, program);
    const { runCommand } = await import("./commands/run.js");
    done(await runCommand(task, program.opts(), guard));
  });

  const flagsOf = (command: Command): Record<string, unknown> => ({
    ...program.opts(),
    ...definedOptions(command),
  });
  settingsOptions(
    program.command("tools").description("list every tool: on or off and why, its pack, what it can do"),
  )
    .option("--json", "as JSON")
    .action(async (_, command: Command) => {
      const { toolsCommand } = await import("./commands/tools.js");
      done(await toolsCommand(flagsOf(command)));
    });

  const tool = program.command("tool").description("work with one tool");
  toolOptions(tool.command("run"))
    .description("run one tool without a model; the exit code tells how it went")
    .argument("<name>", "the tool's name")
    .argument("[arguments...]", "--key value for each of its arguments")
    .option("--args <json>", "all arguments as one JSON object")
    .allowUnknownOption()
    .helpOption(false)
    .addHelpText(
      "after",
      "\nNAME --help shows the arguments of that tool.\n\nExample:\n  agent tool run search_text --query TODO --paths src --ignore-case",
    )
    .action(async (name: string, words: string[], _, command: Command) => {
      if (name === "--help" || name === "-h") return command.outputHelp();
      const { toolRunCommand } = await import("./commands/toolRun.js");
      done(await toolRunCommand(name, words, flagsOf(command), guard));
    });

  settingsOptions(program.command("config").description("print the settings all layers give together"))
    .option("--explain", "where each value comes from")
    .action(async (_, command: Command) => {
      const { configCommand } = await import("./commands/config.js");
      done(await configCommand(flagsOf(command)));
    });

  program
    .command("init")
    .description("write an agent.config.ts and trust it")
    .option("--pack <name>", "a pack to use (repeatable)", collect)
    .option("--enable <tool>", "a tool to turn on (repeatable)", collect)
    .option(
      "--confirm <tool>",
      "a tool that asks first (repeatable); run_bash does unless --no-confirm",
      collect,
    )
    .option("--no-confirm", "no tool asks first")
    .option("--force", "replace an existing agent.config.ts")
    .option("-y, --yes", "ask nothing, take the defaults")
    .action(async (_, command: Command) => {
      const { initCommand } = await import("./commands/init.js");
      done(await initCommand(flagsOf(command)));
    });

  settingsOptions(
    program.command("doctor").description("check Node, config, packs and provider, and give the cure"),
  ).action(async (_, command: Command) => {
    const { doctorCommand } = await import("./commands/doctor/doctor.js");
    done(await doctorCommand(flagsOf(command)));
  });

  settingsOptions(program.command("models").description("list the models the provider's server offers"))
    .option("--json", "as JSON")
    .action(async (_, command: Command) => {
      const { modelsCommand } = await import("./commands/models.js");
      done(await modelsCommand(flagsOf(command)));
    });

  mcpCommands(
    program.command("mcp").description("look after MCP servers; serve the tools to MCP clients"),
    settingsOptions,
    flagsOf,
    done,
  );

  settingsOptions(
    program.command("acp").description("serve an editor that speaks the Agent Client Protocol"),
  ).action(async (_, command: Command) => {
    const { acpCommand } = await import("./commands/acp.js");
    done(await acpCommand(flagsOf(command), guard));
  });

  packCommands(program.command("pack").description("make, check and list tool packs"), done);

  program
    .command("sessions")
    .description("list the conversations kept for this directory")
    .option("--json", "as JSON")
    .action(async (_, command: Command) => {
      const { sessionsCommand } = await import("./commands/sessions.js");
      done(await sessionsCommand(flagsOf(command)));
    });

  runsCommands(program.command("runs"), settingsOptions, flagsOf, guard, done);

  program
    .command("completion")
    .description("print a completion script for bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText("after", '\nExample, in ~/.bashrc:\n  eval "$(agent completion bash)"')
    .action(async (shell: string) => {
      const { completionCommand } = await import("./commands/completion.js");
      done(completionCommand(shell, program));
    });
  return program;
}

/** The flags of every command that loads the config. */
function settingsOptions(command: Command): Command {
  return toolOptions(command)
    .option("--cwd <directory>", "work there")
    .option("--confirm <tool>", "ask before each call of this tool (repeatable)", collect)
    .option("--agent <name>", "use this agent of the config")
    .option("--provider <name>", "openai, anthropic, google, offline, or a provider's package")
    .option("--model <name>", "the model to ask, also with its provider: anthropic/…")
    .option("--base-url <url>", "another address of the provider, such as an OpenAI-compatible server")
    .option("--fallback <model>", "a model that answers where the first one fails")
    .option("--max-turns <number>", "how often the model is asked for one message");
}

/** The flags that decide which tools there are. */
function toolOptions(command: Command): Command {
  return command
    .option("--enable <tool>", "turn a tool on (repeatable)", collect)
    .option("--disable <tool>", "turn a tool off (repeatable)", collect)
    .option("--tools <list>", "turn tools on and off in order: '-*,read_file'")
    .option("--read-only", "only tools that read")
    .option("--add-dir <directory>", "let tools write there without asking (repeatable)", collect)
    .option("--config <file>", "use this config file and no other of the project")
    .option("--no-config", "use no config file")
    .option("--trust", "trust the project's config as it is now");
}

/** Lets every flag with one value be given once, in all commands: of two values, it is not known which was meant. */
function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if ((!option.required && !option.optional) || option.parseArg) continue;
    let isGiven = false;
    option.argParser((value: string) => {
      if (isGiven)
        throw new CliError(`${option.long} is given twice, and takes one value. Leave one of them out.`);
      isGiven = true;
      return value;
    });
  }
  for (const subcommand of command.commands) refuseRepeats(subcommand);
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** What was given after the command's name; what was not must not hide a flag given before it. */
function definedOptions(command: Command): Record<string, unknown> {
  const given = Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) === "cli");
  return Object.fromEntries(given);
}

import { quote } from "@agent/core/toolkit";
import { nearestMatch } from "@agent/internal";
import type { Command } from "commander";
import { runsCommands } from "./commands/runs/program.js";
import type { CrashGuard } from "./process/crash.js";
import { CliError } from "./process/errors.js";
import { EXIT, type ExitCode } from "./process/exitCodes.js";
import { print } from "./process/output.js";
import { requireCommander } from "./process/requireCjs.js";
import { readVersion } from "./process/version.js";
import { enterDirectory } from "./settings/workingDirectory.js";

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
    .option("--output <format>", "text, json or stream-json", once("--output"))
    .option("-q, --quiet", "no activity lines on standard error")
    .option("--timeout <time>", "stop the run after this time: 90s, 5m", once("--timeout"))
    .option("--schema <file>", "print only JSON that fits this JSON Schema", once("--schema"))
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

/** `agent mcp …`. */
function mcpCommands(
  mcp: Command,
  flagsOf: (command: Command) => Record<string, unknown>,
  done: (exitCode: ExitCode) => void,
): void {
  const json = (command: Command): Command => settingsOptions(command).option("--json", "as JSON");
  json(mcp.command("list").description("list the servers of the config and what was agreed to")).action(
    async (_, command: Command) => {
      const { mcpList } = await import("./commands/mcp/list.js");
      done(await mcpList(flagsOf(command)));
    },
  );
  json(mcp.command("check").description("start servers and say what works and what it costs"))
    .argument("[server]", "one server; without it all")
    .action(async (server: string | undefined, _, command: Command) => {
      const { mcpCheck } = await import("./commands/mcp/check.js");
      done(await mcpCheck(server, flagsOf(command)));
    });
  json(mcp.command("update").description("show how tools differ from what was agreed to, and agree"))
    .argument("[server]", "one server; without it all")
    .option("-y, --yes", "agree without being asked")
    .action(async (server: string | undefined, _, command: Command) => {
      const { mcpUpdate } = await import("./commands/mcp/update.js");
      done(await mcpUpdate(server, flagsOf(command)));
    });
  json(mcp.command("login").description("log in to a server on HTTP"))
    .argument("<server>", "its name in the config")
    .option("--scope <scope>", "ask for these permissions too")
    .action(async (server: string, _, command: Command) => {
      const { mcpLogin } = await import("./commands/mcp/login.js");
      done(await mcpLogin(server, flagsOf(command)));
    });
  settingsOptions(mcp.command("serve").description("serve the enabled tools to MCP clients"))
    .option("--http", "on HTTP, on this machine and with a token, instead of standard input and output")
    .option("--port <number>", "the port for --http")
    .action(async (_, command: Command) => {
      const { mcpServe } = await import("./commands/mcp/serve.js");
      done(await mcpServe(flagsOf(command)));
    });
}

/** `agent pack …`, for those who write packs. */
function packCommands(pack: Command, done: (exitCode: ExitCode) => void): void {
  pack.hook("preAction", (_, command) => enterDirectory(command.optsWithGlobals().cwd));
  pack
    .command("new")
    .description("write a new pack that builds, passes its tests and can be published as it is")
    .argument("<name>", "its npm name: agent-pack-weather, @me/agent-pack-weather")
    .action(async (name: string) => {
      const { packNew } = await import("./commands/pack/new.js");
      done(await packNew({ name, directory: process.cwd(), print }));
    });
  pack
    .command("check")
    .description("check a pack against what hosts rely on; no tool is called for real")
    .argument("[target]", "a pack's folder or file, or the name of an installed one", ".")
    .option("--json", "as JSON")
    .option("--trust", "run the pack's code as it is now without asking")
    .action(async (target: string, { json, trust }: { json?: boolean; trust?: boolean }) => {
      const { packCheck } = await import("./commands/pack/check.js");
      const { trustPolicy } = await import("./settings/trust/trustQuestion.js");
      const policy = trustPolicy(trust === true);
      done(await packCheck({ target, directory: process.cwd(), json: json === true, trust: policy, print }));
    });
  pack
    .command("search")
    .description("find packs in the registry npm is configured for")
    .argument("[words...]", "what they are about")
    .option("--json", "as JSON")
    .action(async (words: string[], { json }: { json?: boolean }) => {
      const { packSearch } = await import("./commands/pack/search.js");
      done(await packSearch({ words, directory: process.cwd(), json: json === true, print }));
    });
  for (const [action, description] of [
    ["add", "install a pack, show what it brings, and select it in the config"],
    ["remove", "take a pack out of the config and uninstall it"],
  ] as const) {
    pack
      .command(action)
      .description(description)
      .argument("<name>", "its npm name")
      .option("--user", "for you, in every project, instead of for this one")
      .option("-y, --yes", "ask nothing")
      .action(async (specifier: string, { user, yes }: { user?: boolean; yes?: boolean }) => {
        const { packAdd, packRemove } = await import("./commands/pack/manage.js");
        const manage = action === "add" ? packAdd : packRemove;
        const directory = process.cwd();
        done(await manage({ specifier, directory, user: user === true, yes: yes === true, print }));
      });
  }
  pack
    .command("list")
    .description("list installed packs with their versions, tools and what those can do")
    .option("--json", "as JSON")
    .option("--trust", "load the packs of a project whose config is not trusted, too")
    .action(async ({ json, trust }: { json?: boolean; trust?: boolean }) => {
      const { packList } = await import("./commands/pack/list.js");
      const { isProjectTrusted } = await import("./commands/pack/trusted.js");
      const directory = process.cwd();
      const trusted = trust === true || (await isProjectTrusted(directory));
      done(await packList({ directory, trusted, everything: trust === true, json: json === true, print }));
    });
}

/** The flags of every command that loads the config. */
function settingsOptions(command: Command): Command {
  return toolOptions(command)
    .option("--cwd <directory>", "work there", once("--cwd"))
    .option("--confirm <tool>", "ask before each call of this tool (repeatable)", collect)
    .option("--agent <name>", "use this agent of the config", once("--agent"))
    .option(
      "--provider <name>",
      "openai, anthropic, google, offline, or a provider's package",
      once("--provider"),
    )
    .option("--model <name>", "the model to ask, also with its provider: anthropic/…", once("--model"))
    .option(
      "--base-url <url>",
      "another address of the provider, such as an OpenAI-compatible server",
      once("--base-url"),
    )
    .option("--fallback <model>", "a model that answers where the first one fails", once("--fallback"))
    .option("--max-turns <number>", "how often the model is asked for one message", once("--max-turns"));
}

/** The flags that decide which tools there are. */
function toolOptions(command: Command): Command {
  return command
    .option("--enable <tool>", "turn a tool on (repeatable)", collect)
    .option("--disable <tool>", "turn a tool off (repeatable)", collect)
    .option("--tools <list>", "turn tools on and off in order: '-*,read_file'", once("--tools"))
    .option("--read-only", "only tools that read")
    .option("--add-dir <directory>", "let tools write there without asking (repeatable)", collect)
    .option("--config <file>", "use this config file and no other of the project", once("--config"))
    .option("--no-config", "use no config file")
    .option("--trust", "trust the project's config as it is now");
}

/** Takes the value of a flag that may be given once: of two, nobody can say which was meant. */
function once(flag: string): (value: string, earlier?: string) => string {
  return (value, earlier) => {
    if (earlier === undefined) return value;
    throw new CliError(`${flag} is given twice, and takes one value. Leave one of them out.`);
  };
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** What was given after the command's name; what was not must not hide a flag given before it. */
function definedOptions(command: Command): Record<string, unknown> {
  const given = Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) === "cli");
  return Object.fromEntries(given);
}

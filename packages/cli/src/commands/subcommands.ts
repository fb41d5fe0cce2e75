import type { Command } from "commander";
import type { ExitCode } from "../process/exitCodes.js";
import { mcpCommands } from "./mcp/program.js";
import { collect, pointToHelp, refuseRepeats, settingsOptions, toolOptions } from "./options.js";
import { packCommands } from "./pack/program.js";
import { runsCommands } from "./runs/program.js";

/** The context for running a command. */
export interface CommandRun {
  /** The flags before and after the command's name. */
  readonly flagsOf: (command: Command) => Record<string, unknown>;
  /** Receives the exit code of the command. */
  readonly done: (exitCode: ExitCode) => void;
}

/** Adds the flags, arguments and action of a command; its name and description are already defined. */
type Define = (command: Command, run: CommandRun) => void;

const DEFINITIONS: Readonly<Record<string, Define>> = {
  tools: (command, { flagsOf, done }) =>
    settingsOptions(command)
      .option("--json", "as JSON")
      .action(async (_, self: Command) => {
        const { toolsCommand } = await import("./tools.js");
        done(await toolsCommand(flagsOf(self)));
      }),
  tool: toolCommands,
  config: (command, { flagsOf, done }) =>
    settingsOptions(command)
      .option("--explain", "where each value comes from")
      .action(async (_, self: Command) => {
        const { configCommand } = await import("./config.js");
        done(await configCommand(flagsOf(self)));
      }),
  init: initOptions,
  doctor: (command, { flagsOf, done }) =>
    settingsOptions(command).action(async (_, self: Command) => {
      const { doctorCommand } = await import("./doctor/doctor.js");
      done(await doctorCommand(flagsOf(self)));
    }),
  models: (command, { flagsOf, done }) =>
    settingsOptions(command)
      .option("--json", "as JSON")
      .option("--refresh", "save what the server reports about its models, for later starts")
      .action(async (_, self: Command) => {
        const { modelsCommand } = await import("./models.js");
        done(await modelsCommand(flagsOf(self)));
      }),
  mcp: mcpCommands,
  acp: (command, { flagsOf, done }) =>
    settingsOptions(command).action(async (_, self: Command) => {
      const { acpCommand } = await import("./acp.js");
      done(await acpCommand(flagsOf(self)));
    }),
  pack: packCommands,
  eval: evalOptions,
  sessions: (command, { flagsOf, done }) => {
    command.option("--json", "as JSON").action(async (_, self: Command) => {
      const { sessionsCommand } = await import("./sessions.js");
      done(await sessionsCommand(flagsOf(self)));
    });
    command
      .command("search <words...>")
      .description("list the conversations that contain all of these words")
      .option("--json", "as JSON")
      .action(async (words: string[], _, self: Command) => {
        const { searchCommand } = await import("./sessions.js");
        done(await searchCommand(words, flagsOf(self)));
      });
  },
  runs: runsCommands,
  completion: (command, run) =>
    command
      .argument("<shell>", "bash, zsh or fish")
      .addHelpText("after", '\nExample, in ~/.bashrc:\n  eval "$(agent completion bash)"')
      .action(async (shell: string, _, self: Command) => {
        const program = self.parent;
        if (!program) return;
        for (const other of program.commands) if (other !== self) defineCommand(other, run);
        const { completionCommand } = await import("./completion.js");
        run.done(completionCommand(shell, program));
      }),
};

/** Completes a command of the program, so that its part of the command line can be parsed or described. */
export function defineCommand(command: Command, run: CommandRun): void {
  DEFINITIONS[command.name()]?.(command, run);
  refuseRepeats(command);
  pointToHelp(command, `agent ${command.name()}`);
}

function toolCommands(tool: Command, { flagsOf, done }: CommandRun): void {
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
      const { toolRunCommand } = await import("./toolRun.js");
      done(await toolRunCommand(name, words, flagsOf(command)));
    });
}

function initOptions(init: Command, { flagsOf, done }: CommandRun): void {
  init
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
      const { initCommand } = await import("./init.js");
      done(await initCommand(flagsOf(command)));
    });
}

function evalOptions(command: Command, { flagsOf, done }: CommandRun): void {
  command
    .argument("[files...]", "eval files or folders; default: every *.eval.ts below the directory, if trusted")
    .option("--models <list>", "the models, separated by commas; scripted: the answers in the cases")
    .option("--runs <number>", "how often each model runs a case that does not set it; default 1")
    .option("--case <text>", "only cases with this text in their name")
    .option("--max-cost <dollars>", "what all runs may cost together")
    .option("--record", "keep what the models answer in the folder recordings next to each file")
    .option("--replay", "answer from the recordings: no model, no key, no cost")
    .option("--report <file>", "compare with this report and replace it; default .agent/eval-report.json")
    .option("--no-report", "compare with the last report and leave it as it is")
    .option("--json", "the report as JSON")
    .option("-q, --quiet", "no line for each run on standard error")
    .option("--cwd <directory>", "work in this directory")
    .option("--provider <name>", "openai, anthropic, google, or a provider's package")
    .option("--base-url <url>", "another address of the provider")
    .option("--max-retries <number>", "how often a failed request is repeated; default 3")
    .option("--enable <tool>", "turn a tool on for cases that name no packs (repeatable)", collect)
    .option("--no-sandbox", "run commands outside the sandbox")
    .option("--config <file>", "use this config file and no other of the project")
    .option("--no-config", "use no config file")
    .option("--trust", "trust the project's config and evals as they are now")
    .addHelpText(
      "after",
      `
Examples:
  agent eval evals --models openai/gpt-5,google/gemini-3-pro --runs 5
  agent eval evals --record            run and keep the answers
  agent eval evals --replay            the same without a model, as in CI

Exit codes: 0 every case passes, 1 a case fails, 2 a case could not be judged,
7 cost limit, 130 interrupted.`,
    )
    .action(async (files: string[], _, self: Command) => {
      const { evalCommand } = await import("./eval.js");
      done(await evalCommand(files, flagsOf(self)));
    });
}

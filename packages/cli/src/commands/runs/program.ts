import type { Command } from "commander";
import { collect, settingsOptions } from "../options.js";
import type { CommandRun } from "../subcommands.js";

const EXAMPLES = `
Examples:
  agent runs start "run the checks and fix what fails"
  agent runs work --concurrency 4          in as many terminals as you like
  agent runs follow ID
  agent runs approve ID                    or: --deny "use the other branch"
  agent runs serve                         a page that shows all of this

Runs are kept in a directory of yours, for the processes of this machine. For many machines:
  export AGENT_RUNS_ENGINE=postgres://agent@db.example/agent AGENT_RUNS_REDIS=redis://queue.example`;

/** `agent runs …`: tasks that survive the process they run in. */
export function runsCommands(runs: Command, { guard, flagsOf, done }: CommandRun): void {
  runs.addHelpText("after", EXAMPLES);
  const command = (name: string, description: string): Command =>
    runs
      .command(name)
      .description(description)
      .option("--engine <where>", "a directory, or the address of a Postgres; default $AGENT_RUNS_ENGINE")
      .option("--redis <address>", "the Redis of the queue, with Postgres; default $AGENT_RUNS_REDIS")
      .option("--json", "as JSON");

  command("start", "queue a task")
    .argument("<task...>", "what to do, as text")
    .option("--cwd <directory>", "the directory it works in")
    .option("--title <text>", "what lists call it; default: the task")
    .option("--id <id>", "the same id and task twice is one run")
    .option("--tenant <name>", "whose limits it counts against")
    .option("--label <label>", "only workers with it take the run (repeatable)", collect)
    .option("--anywhere", "also workers in other directories take it")
    .option("--priority <number>", "from -1000 to 1000: higher is taken first, among runs of the tenant")
    .option("--delay <time>", "start it after this time: 2h")
    .option("--at <time>", "start it at this time: 2026-03-01T09:00, in the local time zone, or with one")
    .option("--max-cost <dollars>", "at this cost it waits for a decision: agent runs approve")
    .option("--max-tokens <number>", "as --max-cost, with tokens of requests and answers together")
    .option("--follow", "show it until it ends")
    .action(async (words: string[], _, self: Command) => {
      const { startCommand } = await import("./start.js");
      done(await startCommand(words, flagsOf(self)));
    });
  command("list", "list runs, the newest first")
    .option("--state <state>", "only those in this state")
    .option("--tenant <name>", "only those of this tenant")
    .option("--label <label>", "only those that ask for this label")
    .option("--text <text>", "only those with this text in their title, id or error message")
    .option("--after <id>", "only those behind this run in the list: the next page")
    .option("--limit <number>", "how many", "50")
    .action(async (_, self: Command) => {
      const { listCommand } = await import("./list.js");
      done(await listCommand(flagsOf(self)));
    });
  command("show", "everything about one run")
    .argument("<id>")
    .action(async (id: string, _, self: Command) => {
      const { showCommand } = await import("./show.js");
      done(await showCommand(id, flagsOf(self)));
    });
  command("follow", "what a run does, until it ends; the exit code tells how it ended")
    .argument("<id>")
    .option("--after <cursor>", "go on behind this event")
    .action(async (id: string, _, self: Command) => {
      const { followCommand } = await import("./follow.js");
      done(await followCommand(id, flagsOf(self)));
    });
  command("approve", "allow the call a run waits with, or deny it")
    .argument("<id>")
    .option("--call <key>", "which call, if several wait")
    .option("--all", "all calls that wait")
    .option("--always [rule]", "allow the tool for the rest of the run, or what a rule names")
    .option("--deny <reason>", "deny it; the model gets the reason")
    .action(async (id: string, _, self: Command) => {
      const { decideCommand } = await import("./decide.js");
      done(await decideCommand(id, flagsOf(self)));
    });
  command("cancel", "end a run")
    .argument("<id>")
    .argument("[reason...]")
    .action(async (id: string, reason: string[], _, self: Command) => {
      const { cancelCommand } = await import("./change.js");
      done(await cancelCommand(id, reason.join(" ") || "no reason was given", flagsOf(self)));
    });
  command("retry", "queue a run again that failed, was cancelled or set aside, or that waits for a time")
    .argument("[id]")
    .option("--failed", "all that failed or were set aside")
    .option("--since <age>", "with --failed, only those that ended within this time: 2h")
    .option("--tenant <name>", "with --failed, only those of this tenant")
    .action(async (id: string | undefined, _, self: Command) => {
      const { retryCommand } = await import("./change.js");
      done(await retryCommand(id, flagsOf(self)));
    });
  command("prune", "remove runs that ended long ago")
    .option("--older <age>", "how long ago: 30d, 12h", "30d")
    .action(async (_, self: Command) => {
      const { pruneCommand } = await import("./change.js");
      done(await pruneCommand(flagsOf(self)));
    });
  command("limit", "what a tenant's runs may use together, on all workers")
    .argument("<tenant>")
    .option("--concurrency <number>", 'runs at one time, or "none"')
    .option("--model-calls <number>", 'questions to a model in a minute, or "none"')
    .action(async (tenant: string, _, self: Command) => {
      const { limitCommand } = await import("./limit.js");
      done(await limitCommand(tenant, flagsOf(self)));
    });
  command("serve", "a page that shows runs, on this machine only")
    .option("--port <number>", "default: a free one")
    .option("--tenant <name>", "only the runs of this tenant")
    .option("--board <address>", "where the queue's own board is, for a link; default $AGENT_RUNS_BOARD")
    .action(async (_, self: Command) => {
      const { serveCommand } = await import("./serve.js");
      done(await serveCommand(flagsOf(self)));
    });
  settingsOptions(command("work", "run a worker for the runs that were started in this directory"))
    .option("--concurrency <number>", "how many at a time", "4")
    .option("--label <label>", "take runs that ask for it, too (repeatable)", collect)
    .option("--name <name>", "who works, for people; default: the machine's name")
    .option("--lease <time>", "how long it may give no sign of life before others take its runs", "10s")
    .option("--drain", "end when no run is left")
    .option(
      "--retry-attempts <number>",
      "how often a run asks a failing model again without progress; default 500",
    )
    .option("--retry-max-delay <time>", "the longest wait between them; default 5m")
    .option("--retry-deadline <time>", "how long a run tries before it fails; default 24h")
    .option("--approval-timeout <time>", "deny a call about which no decision was made after this time: 24h")
    .action(async (_, self: Command) => {
      const { workCommand } = await import("./work.js");
      done(await workCommand(flagsOf(self), guard));
    });
}

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

Runs are kept in a directory of yours, for the processes of this machine.
For many machines:
  export AGENT_RUNS_ENGINE=postgres://agent@db.example/agent
  export AGENT_RUNS_REDIS=redis://queue.example`;

/** `agent runs …`: tasks that survive the process they run in. */
export function runsCommands(runs: Command, { flagsOf, done }: CommandRun): void {
  runs.addHelpText("after", EXAMPLES);
  const command = (name: string, description: string): Command =>
    runs
      .command(name)
      .description(description)
      .option("--engine <where>", "a directory, or the address of a Postgres; default $AGENT_RUNS_ENGINE")
      .option("--redis <address>", "the Redis of the queue, with Postgres; default $AGENT_RUNS_REDIS")
      .option("--json", "as JSON");

  command("start", "queue a task")
    .argument("<task...>", "the task")
    .option("--cwd <directory>", "the directory it works in")
    .option("--title <text>", "its title in lists; default: the task")
    .option("--id <id>", "starting the same id and task twice creates one run")
    .option("--tenant <name>", "the tenant whose limits apply")
    .option("--label <label>", "only workers with it take the run (repeatable)", collect)
    .option("--anywhere", "workers in other directories may take it too")
    .option("--priority <number>", "from -1000 to 1000: higher is taken first, among runs of the tenant")
    .option("--delay <time>", "start it after this time: 2h")
    .option("--at <time>", "start it at this time: 2026-03-01T09:00, in the local time zone, or with one")
    .option("--max-cost <dollars>", "at this cost it waits for a decision: agent runs approve")
    .option("--max-tokens <number>", "the same for tokens, of requests and answers together")
    .option("--follow", "show it until it ends")
    .action(async (words: string[], _, self: Command) => {
      const { startCommand } = await import("./start.js");
      done(await startCommand(words, flagsOf(self)));
    });
  command("list", "list runs, the newest first")
    .option("--state <state>", "only runs in this state")
    .option("--tenant <name>", "only those of this tenant")
    .option("--label <label>", "only those that ask for this label")
    .option("--text <text>", "only those with this text in their title, id or error message")
    .option("--undecided", "only those with a call that waits for a decision")
    .option("--after <id>", "the next page: only the runs after this one")
    .option("--limit <number>", "how many", "50")
    .action(async (_, self: Command) => {
      const { listCommand } = await import("./list.js");
      done(await listCommand(flagsOf(self)));
    });
  command("show", "show everything about one run")
    .argument("<id>")
    .action(async (id: string, _, self: Command) => {
      const { showCommand } = await import("./show.js");
      done(await showCommand(id, flagsOf(self)));
    });
  command("follow", "show what a run does until it ends; the exit code tells how it ended")
    .argument("<id>")
    .option("--after <cursor>", "continue after this event")
    .action(async (id: string, _, self: Command) => {
      const { followCommand } = await import("./follow.js");
      done(await followCommand(id, flagsOf(self)));
    });
  command("approve", "allow or deny the pending call of a run")
    .argument("<id>")
    .option("--call <key>", "which call, if several wait")
    .option("--all", "all calls that wait")
    .option("--always [rule]", "allow the tool for the rest of the run, or what a rule names")
    .option("--deny <reason>", "deny it; the model gets the reason")
    .action(async (id: string, _, self: Command) => {
      const { decideCommand } = await import("./decide.js");
      done(await decideCommand(id, flagsOf(self)));
    });
  command("cancel", "cancel a run, or with filters all matching ones that have not ended")
    .argument("[id]")
    .argument("[reason...]")
    .option("--state <state>", "all runs in this state: queued, running or waiting")
    .option("--tenant <name>", "all of this tenant")
    .option("--label <label>", "all that ask for this label")
    .option("--text <text>", "all with this text in their title, id or error message")
    .action(async (id: string | undefined, reason: string[], _, self: Command) => {
      const { cancelCommand } = await import("./change.js");
      done(await cancelCommand(id, reason.join(" ") || "no reason was given", flagsOf(self)));
    });
  command("send", "send a further message to a run; one that is done continues with it")
    .argument("<id>")
    .argument("<message...>")
    .option("--follow", "show the run until it ends")
    .action(async (id: string, words: string[], _, self: Command) => {
      const { sendCommand } = await import("./operate.js");
      done(await sendCommand(id, words, flagsOf(self)));
    });
  command("steps", "list what a run has completed: answers of the model and calls, with numbers")
    .argument("<id>")
    .action(async (id: string, _, self: Command) => {
      const { stepsCommand } = await import("./operate.js");
      done(await stepsCommand(id, flagsOf(self)));
    });
  command("fork", "start a run that begins with the first steps of another one")
    .argument("<id>")
    .option("--steps <number>", "how many steps to copy, as agent runs steps counts them; default: all")
    .option("--id <id>", "the id of the new run")
    .option("--follow", "show it until it ends")
    .action(async (id: string, _, self: Command) => {
      const { forkCommand } = await import("./operate.js");
      done(await forkCommand(id, flagsOf(self)));
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
  command("limit", "limit what a tenant's runs may use together, on all workers")
    .argument("<tenant>")
    .option("--concurrency <number>", 'runs at one time, or "none"')
    .option("--model-calls <number>", 'model requests per minute, or "none"')
    .action(async (tenant: string, _, self: Command) => {
      const { limitCommand } = await import("./limit.js");
      done(await limitCommand(tenant, flagsOf(self)));
    });
  command("rate", "limit the model requests per minute of all runs together")
    .argument("[target]", 'a provider (openai), a model (openai/gpt-5), or "*" for all')
    .argument("[calls]", 'a number, or "none"; without it, the current limit is printed')
    .action(async (target: string | undefined, calls: string | undefined, _, self: Command) => {
      const { rateCommand } = await import("./operate.js");
      done(await rateCommand(target, calls, flagsOf(self)));
    });
  for (const [name, isPaused, description] of [
    ["pause", true, "pause the runs of a tenant, or all runs"],
    ["resume", false, "resume paused runs"],
  ] as const) {
    command(name, description)
      .argument("[tenant]", "default: all")
      .action(async (tenant: string | undefined, _, self: Command) => {
        const { pauseCommand } = await import("./operate.js");
        done(await pauseCommand(tenant, isPaused, flagsOf(self)));
      });
  }
  command("workers", "list the workers and how many runs they have").action(async (_, self: Command) => {
    const { workersCommand } = await import("./operate.js");
    done(await workersCommand(flagsOf(self)));
  });
  command("schedule", "start a task on a schedule")
    .argument("<id>", "the name of the schedule; the same one again replaces it")
    .argument("<times>", 'when, as five fields of cron: "0 9 * * 1-5"')
    .argument("<task...>", "the task")
    .option("--time-zone <name>", "Europe/Berlin, UTC; default: that of this machine")
    .option("--overlap <policy>", "while the run before has not ended: skip, allow or cancel", "skip")
    .option("--cwd <directory>", "the directory it works in")
    .option("--title <text>", "the title of its runs in lists; default: the task")
    .option("--tenant <name>", "the tenant whose limits apply")
    .option("--label <label>", "only workers with it take the runs (repeatable)", collect)
    .option("--anywhere", "workers in other directories may take them too")
    .action(async (id: string, cron: string, words: string[], _, self: Command) => {
      const { scheduleCommand } = await import("./schedule.js");
      done(await scheduleCommand(id, cron, words, flagsOf(self)));
    });
  command("schedules", "list schedules").action(async (_, self: Command) => {
    const { listSchedulesCommand } = await import("./schedule.js");
    done(await listSchedulesCommand(flagsOf(self)));
  });
  command("unschedule", "remove a schedule; its runs stay")
    .argument("<id>")
    .action(async (id: string, _, self: Command) => {
      const { unscheduleCommand } = await import("./schedule.js");
      done(await unscheduleCommand(id, flagsOf(self)));
    });
  command("serve", "serve a page with the runs, on this machine only")
    .option("--port <number>", "default: a free one")
    .option("--tenant <name>", "only the runs of this tenant")
    .option("--roles", "print an address for each role: viewer, approver and admin")
    .option(
      "--board <address>",
      "the address of the queue's own board, for a link; default $AGENT_RUNS_BOARD",
    )
    .action(async (_, self: Command) => {
      const { serveCommand } = await import("./serve.js");
      done(await serveCommand(flagsOf(self)));
    });
  settingsOptions(command("work", "run a worker for the runs that were started in this directory"))
    .option("--concurrency <number>", "how many at a time", "4")
    .option("--label <label>", "also take runs that ask for this label (repeatable)", collect)
    .option("--name <name>", "the name of this worker in lists; default: the machine's name")
    .option("--lease <time>", "how long it may send no heartbeat before others take its runs", "10s")
    .option("--drain", "exit when no run is left")
    .option(
      "--retry-attempts <number>",
      "how often a run asks a failing model again without progress; default 500",
    )
    .option("--retry-max-delay <time>", "the longest wait between retries; default 5m")
    .option("--retry-deadline <time>", "how long a run tries before it fails; default 24h")
    .option(
      "--notify-webhook <address>",
      "POST there when a run waits for a decision or has failed; default $AGENT_RUNS_WEBHOOK",
    )
    .option("--notify-command <command>", "run this command then, with the same JSON on its standard input")
    .option("--notify-on <states>", "when: waiting, failed, done, cancelled; default waiting,failed")
    .option("--approval-timeout <time>", "deny a call about which no decision was made after this time: 24h")
    .action(async (_, self: Command) => {
      const { workCommand } = await import("./work.js");
      done(await workCommand(flagsOf(self)));
    });
}

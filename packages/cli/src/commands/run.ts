import { dirname } from "node:path";
import type { JsonSchema } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { onCrash } from "../process/crash.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import { createReporter, OUTPUT_FORMATS, type OutputFormat } from "../run/reporters.js";
import { timeSpan } from "../settings/environment.js";
import type { SettingsFlags } from "../settings/flags.js";
import { enterDirectory } from "../settings/workingDirectory.js";
import { loadRunSettings, mayUseInstructions } from "./runSettings.js";

export interface RunFlags extends SettingsFlags {
  readonly print?: boolean;
  readonly output?: string;
  readonly timeout?: string;
  readonly resume?: string | true;
  readonly screenReader?: boolean;
  readonly session?: boolean;
  readonly quiet?: boolean;
  readonly instructions?: boolean;
  readonly image?: readonly string[];
  readonly schema?: string;
  readonly worktree?: string | true;
}

/**
 * `agent`: a chat in a terminal, or one task from the arguments or standard input. With `--worktree`, in its own
 * worktree.
 */
export async function runCommand(words: readonly string[], flags: RunFlags): Promise<ExitCode> {
  if (flags.worktree === undefined) return await runHere(words, flags);
  const { worktree, cwd, ...others } = flags;
  // A sentence after the flag is the task.
  const isTask = typeof worktree === "string" && /\s/.test(worktree);
  const { openWorktree } = await import("../assembly/worktree.js");
  enterDirectory(cwd);
  const name = isTask || worktree === true ? undefined : worktree;
  const tree = await openWorktree(process.cwd(), name).catch((error: unknown) => {
    throw new CliError(`--worktree${name === undefined ? "" : ` ${name}`}: ${errorMessage(error)}`);
  });
  for (const notice of tree.notices) note(`agent: ${notice}`);
  note(`agent: working in ${tree.directory} on the branch ${tree.branch}`);
  process.chdir(tree.directory);
  try {
    return await runHere(isTask ? [worktree, ...words] : words, others);
  } finally {
    process.chdir(dirname(tree.path));
    note(`agent: ${(await tree.close()).summary}`);
  }
}

async function runHere(words: readonly string[], flags: RunFlags): Promise<ExitCode> {
  // Read by everything that draws on the terminal.
  if (flags.screenReader) process.env.AGENT_SCREEN_READER = "1";
  const { resume, task } = splitResume(flags.resume, words);
  const record = flags.session !== false;
  const format = checkedFormat(flags.output);
  const timeoutMs = flags.timeout === undefined ? undefined : timeSpan(flags.timeout, "--timeout");
  const output = flags.schema === undefined ? undefined : await readSchema(flags.schema);
  if (task.length === 0 && !flags.print && !output && process.stdin.isTTY) {
    if (format !== "text")
      throw new CliError(`--output ${format} needs a task: agent --output ${format} "do this"`);
    if (flags.image) throw new CliError('--image needs a task: agent --image shot.png "what is this?"');
    const { chatCommand } = await import("./chat.js");
    return await chatCommand(flags, { resume });
  }
  const quiet = flags.quiet ?? false;
  const reporter = await createReporter({ format, quiet, isStructured: output !== undefined });
  // A caller that reads JSON gets every failure as JSON too.
  const fail = (exitCode: ExitCode, error: string): void => {
    if (format !== "text") reporter.finish({ exitCode, error });
  };
  const release = onCrash((message) => fail(EXIT.crashed, message));
  try {
    const loaded = await loadRunSettings(flags);
    const { runTask } = await import("../run/runTask.js");
    const instructions = await mayUseInstructions(flags, loaded, quiet);
    const images = flags.image ?? [];
    return await runTask(task, loaded, {
      resume,
      record,
      reporter,
      timeoutMs,
      quiet,
      instructions,
      images,
      output,
    });
  } catch (error) {
    fail(error instanceof CliError ? error.exitCode : EXIT.config, errorMessage(error));
    throw error;
  } finally {
    release();
  }
}

async function readSchema(file: string): Promise<JsonSchema> {
  const { readSchemaFile } = await import("../run/schemaFile.js");
  return readSchemaFile(file);
}

/** `--resume` takes an id or a file, but a sentence after it is the task. */
function splitResume(
  resume: RunFlags["resume"],
  words: readonly string[],
): { resume: string | true | undefined; task: readonly string[] } {
  if (typeof resume === "string" && /\s/.test(resume)) return { resume: true, task: [resume, ...words] };
  return { resume, task: words };
}

function checkedFormat(output: string | undefined): OutputFormat {
  const format = OUTPUT_FORMATS.find((one) => one === (output ?? "text"));
  if (format) return format;
  throw new CliError(`--output must be one of ${OUTPUT_FORMATS.join(", ")}, got "${output}".`);
}

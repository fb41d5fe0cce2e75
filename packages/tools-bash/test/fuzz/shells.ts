import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const TIMEOUT = "/usr/bin/timeout";
const FIELD = "\x1f";
const RECORD = "\x1e";
const MARKERS = ["ok_1", "ok_2", "ok_3", "denied"];
const CANDIDATES: readonly (readonly [program: string, ...options: string[]])[] = [
  ["/bin/dash"],
  ["/bin/bash"],
  ["/bin/bash", "--posix"],
  ["/bin/busybox", "sh"],
  ["/bin/ksh"],
  ["/bin/zsh", "--emulate", "sh"],
];

/** A shell as a command line. */
export type Shell = readonly [program: string, ...options: string[]];

/** Absent if no program can kill a script that loops forever. */
export const installedShells: readonly Shell[] = CANDIDATES.filter(
  ([program]) => existsSync(program) && existsSync(TIMEOUT),
);

/** Words of a command that ran. */
export type Executed = readonly string[];

/**
 * Runs scripts in a shell and reports which marker commands ran, with their words. `ok_3` fails. Each script has its
 * own shell, in its own directory, without any other program to call.
 */
export async function execute(shell: Shell, scripts: readonly string[]): Promise<Executed[][]> {
  const directory = mkdtempSync(join(tmpdir(), "policy-fuzz-"));
  try {
    mkdirSync(join(directory, "bin"));
    mkdirSync(join(directory, "home"));
    for (const name of MARKERS) {
      writeFileSync(join(directory, "bin", name), `#!/bin/sh\n${record(name)}\n`, { mode: 0o755 });
    }
    const functions = MARKERS.map((name) => `${name}() { ${record(name)}; }\n`).join("");
    // What a script left in the background has to be seen, too.
    const prelude = `${functions}x='a b'\ny='c'\ntrap wait EXIT\n`;
    for (const [index, script] of scripts.entries()) {
      writeFileSync(join(directory, `${index}.sh`), prelude + script);
    }
    writeFileSync(join(directory, "run.sh"), runner(shell, directory, scripts));
    await run("/bin/sh", [join(directory, "run.sh")], {
      env: { PATH: join(directory, "bin"), HOME: join(directory, "home"), LC_ALL: "C.UTF-8" },
    });
    return scripts.map((_, index) => executed(join(directory, `${index}.log`)));
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

function record(name: string): string {
  const result = name === "ok_3" ? "return 1 2>/dev/null || exit 1" : ":";
  return `printf '%s${FIELD}' ${name} "$@" '${RECORD}' >>"$FUZZ_LOG"; ${result}`;
}

/** One shell starts the others: that is quicker than starting each from here. */
function runner(shell: Shell, directory: string, scripts: readonly string[]): string {
  const lines = scripts.map((script, index) => {
    // An endless loop fills its log or runs out of CPU time, unless it waits all the time.
    const guard = /while|until/.test(script) ? `${TIMEOUT} -s KILL 1 ` : "";
    const call = `${guard}${shell.join(" ")} ${directory}/${index}.sh one two`;
    return `FUZZ_LOG=${directory}/${index}.log ${call} >/dev/null 2>&1 </dev/null`;
  });
  return `ulimit -t 1\nulimit -f 64\ncd ${directory}/home || exit 9\n${lines.join("\n")}\ntrue\n`;
}

function executed(log: string): Executed[] {
  if (!existsSync(log)) return [];
  const records = readFileSync(log, "utf8").split(`${RECORD}${FIELD}`);
  return records.slice(0, -1).map((text) => text.split(FIELD).slice(0, -1));
}

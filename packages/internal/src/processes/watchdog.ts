import type { ChildProcess } from "node:child_process";
import { HELPER_ENVIRONMENT } from "./helperEnvironment.js";

/**
 * The script of the watchdog. Each line it reads is all that must not outlive the agent: numbers of process groups, and
 * placeholders, which begin with a slash. When the input ends without "done", the agent is gone, whatever the reason:
 * the groups are killed, with everything that has the mark in its environment, and placeholders that are still empty are
 * removed. The directory of one is entered first: one that is reached through a link is another directory, and stays.
 */
const SCRIPT = `
while read -r line; do
  case $line in done) exit 0 ;; esac
  left=$line
done
for round in 1 2 3; do
  for word in $left; do
    case $word in /*) ;; *) kill -s KILL -- "-$word" ;; esac
  done
  for file in $(grep -sl -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
done
for word in $left; do
  case $word in /*) ;; *) continue ;; esac
  path=$(printf '%bx' "$word")
  path=\${path%x}
  parent=\${path%/*}
  name=./\${path##*/}
  cd -P "$parent" && [ "$PWD" = "$parent" ] && [ ! -L "$name" ] || continue
  if [ -d "$name" ]; then rmdir "$name"
  elif [ -f "$name" ] && [ ! -s "$name" ]; then rm -f "$name"
  fi
done
`;

/** What must not outlive an agent. */
export interface Mortal {
  readonly groups: readonly number[];
  /** Absolute paths without links in them, of empty files and directories that stand where nothing was. */
  readonly placeholders?: readonly string[];
}

/**
 * A small process that kills what an agent started, if the agent ends without a chance to do so itself: by SIGKILL, or by
 * any other signal for which the host has no handler.
 */
export class Watchdog {
  readonly #child: ChildProcess;

  /** `mark` is the text in the environment of every process to be killed. */
  constructor(mark: string, mortal: Mortal) {
    // Loaded here: that takes 4 ms, and most agents never start a process.
    const { spawn } = process.getBuiltinModule("node:child_process");
    this.#child = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark], {
      detached: true, // the terminal's Ctrl-C must not end it before the agent
      stdio: ["pipe", "ignore", "ignore"],
      env: HELPER_ENVIRONMENT,
    });
    // The agent works without a watchdog; it only cannot clean up after its own SIGKILL.
    this.#child.on("error", () => undefined);
    this.#child.stdin?.on("error", () => undefined);
    this.#child.unref();
    (this.#child.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.();
    this.update(mortal);
  }

  update({ groups, placeholders = [] }: Mortal): void {
    this.#child.stdin?.write(`${[...groups, ...placeholders.map(asWord)].join(" ")}\n`);
  }

  dismiss(): void {
    this.#child.stdin?.end("done\n");
  }
}

/** A path as one word of the script's input, which neither a blank nor a line break splits: see `%b` of printf. */
function asWord(path: string): string {
  return [...Buffer.from(path)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[\w./-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
    })
    .join("");
}

import type { ChildProcess } from "node:child_process";
import { processTag } from "../files/processTag.js";
import { HELPER_ENVIRONMENT } from "./helperEnvironment.js";

/**
 * The script of the watchdog. Each line it reads lists everything that must not outlive the agent: ids of process
 * groups, notes, which begin with "@", and the placeholders of each note, which begin with a slash. When the input ends
 * without "done", the agent has exited, whatever the reason: the groups are killed, with everything that has the mark
 * in its environment, the notes are removed, and if no other note is left, empty placeholders are removed. That happens
 * under the lock of the notes, which is a symlink as `tryAcquireLock` creates it; if another process holds it, they
 * stay. The directory of a placeholder is entered first: one that is reached through a symlink is another directory,
 * and stays.
 */
const SCRIPT = `
while read -r line; do
  case $line in done) exit 0 ;; esac
  left=$line
done
for round in 1 2 3; do
  for word in $left; do
    case $word in [@/]*) ;; *) kill -s KILL -- "-$word" ;; esac
  done
  for file in $(grep -sl -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
done
unlock() { [ -z "$lock" ] || rm -f "$lock"; lock=; }
lock=
unused=yes
for word in $left; do
  path=$(printf '%bx' "\${word#@}")
  path=\${path%x}
  case $word in
    @*)
      unlock
      unused=no
      users=\${path%/*}
      tries=0
      until ln -s "$2-$$ - $$" "\${users%.users}"; do
        tries=$((tries + 1))
        [ $tries -lt 30 ] || continue 2
        sleep 0.1
      done
      lock=\${users%.users}
      rm -f "$path"
      rmdir "$users" && unused=yes
      continue ;;
    /*) [ $unused = yes ] || continue ;;
    *) continue ;;
  esac
  parent=\${path%/*}
  name=./\${path##*/}
  cd -P "$parent" && [ "$PWD" = "$parent" ] && [ ! -L "$name" ] || continue
  if [ -d "$name" ]; then rmdir "$name"
  elif [ -f "$name" ] && [ ! -s "$name" ]; then rm -f "$name"
  fi
done
unlock
`;

/** Resources that must not outlive an agent. */
export interface Mortal {
  readonly groups: readonly number[];
  readonly placeholders?: readonly MortalPlaceholders[];
}

/** Empty files and directories created where nothing existed. */
export interface MortalPlaceholders {
  /** Absolute, without symlinks. */
  readonly paths: readonly string[];
  /** A file next to the notes of other users of the same placeholders: `LOCK.users/NAME`. The last one removes them. */
  readonly note: string | undefined;
}

/**
 * A small process that kills what an agent started, if the agent exits without a chance to do so itself: by SIGKILL, or
 * by any other signal for which the host has no handler.
 *
 * @example
 * ```ts
 * import { Watchdog } from "@agent/core/toolkit";
 *
 * const watchdog = new Watchdog("ACME_RUN=1", { groups: [] });
 * watchdog.update({ groups: [] }); // process groups that were started
 * watchdog.dismiss(); // all have ended
 * console.log("dismissed"); // dismissed
 * ```
 */
export class Watchdog {
  readonly #child: ChildProcess;

  /** `mark` is the text in the environment of every process to be killed. */
  constructor(mark: string, mortal: Mortal) {
    // Loaded here: that takes 4 ms, and most agents never start a process.
    const { spawn } = process.getBuiltinModule("node:child_process");
    const [place = ""] = processTag().split("-");
    this.#child = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark, place], {
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
    const words = placeholders.flatMap(({ note, paths }) => [
      ...(note === undefined ? [] : [`@${asWord(note)}`]),
      ...paths.map(asWord),
    ]);
    this.#child.stdin?.write(`${[...groups, ...words].join(" ")}\n`);
  }

  dismiss(): void {
    this.#child.stdin?.end("done\n");
  }
}

/** Encodes a path as one word of the script's input, without blanks and line breaks: see `%b` of printf. */
function asWord(path: string): string {
  return [...Buffer.from(path)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[\w./-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
    })
    .join("");
}

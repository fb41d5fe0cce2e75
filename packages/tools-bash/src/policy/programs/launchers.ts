import { Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, wordSet } from "./program.js";

// Programs that run another command and have too many options to list.
const LAUNCHERS = wordSet(
  "aa-exec abduco ansible autossh bunx bwrap caffeinate capsh catchsegv cgexec choom chpst chrt clush concurrently cpulimit cross-env daemonize dbus-launch dbus-run-session debconf direnv dotenv dsh dtach eatmydata entr env-cmd fakechroot faketime flock gnome-terminal gosu gpg-agent hyperfine i386 linux32 linux64 ltrace mosh mpiexec mpirun nix-shell nodemon npx numactl onchange parallel perf pkexec pnpx prlimit proot proxychains proxychains4 pssh rlwrap run0 s6-setuidgid salt setpriv setuidgid sg srun ssh-agent sshpass start-stop-daemon strace su-exec systemd-run taskset torify torsocks unbuffer uname26 uvx valgrind watchexec wine wine64 x86_64 xterm xvfb-run",
);
// The dynamic loader and emulators run the program they are given.
const DYNAMIC_LOADER = /^(ld(-linux.*|-musl.*|64)?\.so(\.\d+)?|qemu-\w+)$/;

// Whether these launchers, called with these words, take commands from their input or a file.
const READS_INPUT: ReadonlyMap<string, (words: readonly CommandWord[]) => boolean> = new Map([
  [
    "parallel",
    (words) =>
      !words.some(({ text }) => text === ":::") ||
      words.some(({ text }) => /^(::::|-a|--arg)/.test(text ?? "")),
  ],
  ["nix-shell", (words) => !words.some(({ text }) => /^--(run|command)$/.test(text ?? ""))],
]);

/** Programs that do nothing but run another one, which may begin at any of their words. */
export function readLauncher(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  if (!LAUNCHERS.has(name) && !DYNAMIC_LOADER.test(name)) return undefined;
  const isAsked = parameters.some(({ text }) => /^(-V|-h|--version|--help)$/.test(text ?? ""));
  const hasCommand = parameters.some(({ text }) => !text?.startsWith("-"));
  if ((!hasCommand && !isAsked) || READS_INPUT.get(name)?.(parameters))
    throw new Unresolvable(`${name} without a command takes commands from its input or a file`);
  return { launched: [{ words: parameters, phrase: [] }] };
}

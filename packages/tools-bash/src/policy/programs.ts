import { shown, Unresolvable } from "./refusal.js";
import { type CommandWord, commandName } from "./rules.js";
import { checkSed } from "./sed.js";

/** What a program runs besides itself, as far as its words tell. */
export interface Inside {
  readonly scripts: readonly string[];
  readonly commands: readonly (readonly CommandWord[])[];
}

const NOTHING: Inside = { scripts: [], commands: [] };

const SHELLS = new Set(["sh", "ash", "bash", "dash", "ksh", "mksh", "rbash", "yash", "zsh"]);
// They run what no one can see in the command: a file, an input (as a shell does that they start when they
// are given no command), a definition that takes effect later.
const NEVER_RESOLVED = words(
  ". alias at batch bind compgen complete crontab csh ed enable ex expect fc fish gdb hash let m4 mapfile osascript pwsh readarray run-parts runuser screen script source su tcsh tmux unshare nsenter fakeroot firejail setarch",
);
// They run another command, with options of their own that are not worth knowing one by one.
const LAUNCHERS = words(
  "aa-exec abduco ansible bunx bwrap caffeinate capsh catchsegv cgexec choom chpst chrt concurrently cpulimit cross-env daemonize dbus-launch dbus-run-session debconf direnv dotenv dtach eatmydata entr env-cmd fakechroot faketime flock gnome-terminal gosu hyperfine i386 linux32 linux64 ltrace mpiexec mpirun nix-shell nodemon npx numactl onchange parallel perf pkexec pnpx prlimit proot proxychains proxychains4 pssh rlwrap s6-setuidgid setpriv setuidgid sg srun ssh-agent start-stop-daemon strace su-exec systemd-run taskset torify torsocks unbuffer uname26 uvx valgrind watchexec x86_64 xterm xvfb-run",
);
// The dynamic loader and emulators run the program they are given.
const DYNAMIC_LOADER = /^(ld(-linux.*|-musl.*|64)?\.so(\.\d+)?|qemu-\w+)$/;
// Interpreters, with the options that bring code along.
const INTERPRETERS: readonly (readonly [name: RegExp, code: RegExp])[] = [
  [/^(node|nodejs|bun)$/, /^(-[a-zA-Z]*[ep]|--eval|--print)/],
  [/^deno$/, /^(eval|repl)$/],
  [/^(python|pypy)[\d.]*$/, /^-[a-zA-Z]*c/],
  [/^(perl|ruby|lua|luajit|elixir|julia|rscript)[\d.]*$/, /^(-[a-zA-Z0-9]*[eE]|--eval)/],
  [/^php[\d.]*$/, /^(-[rBRE]|--run)/],
  [/^(tclsh|guile|ghci|irb)[\d.]*$/, /^-/],
];
const AWK = /^(g|m|n)?awk$/;
const AWK_RUNS = /system[\s\\]*\(|(?<!\|)\|(?!\|)|getline|@/;
function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Whether the command runs another one that may begin at any of its words. */
export function isLauncher(name: string): boolean {
  return LAUNCHERS.has(name) || DYNAMIC_LOADER.test(name);
}

/** What is inside a command other than a wrapper. Throws `Unresolvable` if the words do not tell. */
export function inside(command: readonly CommandWord[]): Inside {
  const name = commandName(command[0]?.text ?? "");
  const parameters = command.slice(1);
  if (NEVER_RESOLVED.has(name))
    throw new Unresolvable(`what ${shown(name)} runs cannot be seen in the command`);
  if (SHELLS.has(name)) return { ...NOTHING, scripts: [shellScript(name, parameters)] };
  if (name === "eval")
    return { ...NOTHING, scripts: [parameters.map((word) => known(name, word)).join(" ")] };
  if (name === "trap") return trapped(parameters);
  if (name === "find") return { ...NOTHING, commands: findCommands(parameters) };
  if ((name === "test" || name === "[") && parameters.some((word) => word.text === "-v")) {
    throw new Unresolvable('"-v" evaluates its operand in some shells');
  }
  if (/^(declare|typeset|local)$/.test(name)) {
    const evaluates = parameters.find((word) => /^[-+]\w*[in]/.test(word.text ?? ""));
    if (evaluates)
      throw new Unresolvable(`${shown(`${name} ${evaluates.source}`)} evaluates what is assigned`);
  }
  if (AWK.test(name)) checkAwk(parameters);
  if (name === "sed" || name === "gsed") checkSed(parameters);
  const interpreter = INTERPRETERS.find(([pattern]) => pattern.test(name));
  if (interpreter) checkInterpreter(name, interpreter[1], parameters);
  return NOTHING;
}

function known(name: string, word: CommandWord): string {
  if (word.text === undefined)
    throw new Unresolvable(`${name} runs ${shown(word.source)}, which is not known yet`);
  return word.text;
}

/** The text after `-c`. A shell without one reads a file or its input. */
function shellScript(name: string, words: readonly CommandWord[]): string {
  for (let index = 0; index < words.length; index++) {
    const text = known(name, words[index] ?? { source: "" });
    if (/^[-+][A-Za-z]*o$/.test(text) && !text.includes("c")) index++;
    else if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
      // "bash -c -x 'text'": further options may stand between -c and its text.
      const length = words.slice(index + 1).findIndex((word) => !/^[-+]/.test(word.text ?? ""));
      if (length === -1) break;
      const options = words.slice(index, index + 1 + length);
      // "sh -c -o errexit 'text'": the first word would be taken for the text.
      if (options.some((word) => /o/i.test(word.text ?? ""))) {
        throw new Unresolvable(`an option of ${name} beside -c takes a word in front of the script`);
      }
      return known(name, words[index + 1 + length] ?? { source: "" });
    } else if (!/^[-+][A-Za-z]+$/.test(text)) break;
  }
  throw new Unresolvable(
    `${name} without -c runs commands from a file or its input, which cannot be seen here`,
  );
}

function trapped(words: readonly CommandWord[]): Inside {
  const [first] = words[0]?.text === "--" ? words.slice(1) : words;
  if (first === undefined || first.text === "-" || /^(-[lp]|\d*)$/.test(first.text ?? "?")) return NOTHING;
  return { ...NOTHING, scripts: [known("trap", first)] };
}

const EXEC = /^-(exec|execdir|ok|okdir)$/;
const TAKES_VALUE =
  /^-(i?name|i?path|i?regex|i?lname|wholename|newer\w*|x?type|[acm]time|[acm]min|size|user|group|perm|maxdepth|mindepth|samefile|fstype)$/;

function findCommands(words: readonly CommandWord[]): CommandWord[][] {
  const commands: CommandWord[][] = [];
  let inPaths = true;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const text = word?.text;
    if (text?.startsWith("-")) inPaths = false;
    if (text !== undefined && EXEC.test(text)) {
      // A "+" ends it only behind "{}": in "-exec env -u + rm {} ;" it is a word like any other.
      const isEnd = (at: number): boolean =>
        words[at]?.text === ";" || (words[at]?.text === "+" && words[at - 1]?.text === "{}");
      const end = words.findIndex((_, at) => at > index && isEnd(at));
      if (end === -1) throw new Unresolvable(`the end of find's ${text} is not known`);
      commands.push(words.slice(index + 1, end).map(withoutBraces));
      index = end;
    } else if (text === undefined) {
      // It could be "-exec" itself, but not as the value of a test, and not with an option for a command.
      const next = words[index + 1];
      const isPath = inPaths && (next === undefined || next.text?.startsWith("-"));
      const isValue = TAKES_VALUE.test(words[index - 1]?.text ?? "");
      if (word?.splits || !(isPath || isValue)) {
        throw new Unresolvable(`${shown(word?.source ?? "")} could make find run anything`);
      }
    }
  }
  return commands;
}

function withoutBraces(word: CommandWord): CommandWord {
  return word.text?.includes("{}") ? { source: word.source, splits: false } : word;
}

/** The program text of awk is its first operand; what follows are files and variables. */
function checkAwk(words: readonly CommandWord[]): void {
  for (let index = 0; index < words.length; index++) {
    const text = known("awk", words[index] ?? { source: "" });
    if (/^-[vF]$/.test(text)) index++;
    else if (/^(-[vF]|--$)/.test(text)) continue;
    else if (text.startsWith("-") || AWK_RUNS.test(text)) {
      throw new Unresolvable(`awk may run commands by ${shown(text)}`);
    } else return;
  }
}

function checkInterpreter(name: string, code: RegExp, words: readonly CommandWord[]): void {
  const operand = words.findIndex((word) => word.text === undefined || !word.text.startsWith("-"));
  const inline = words.findIndex((word) => word.text !== undefined && code.test(word.text));
  const asks = words.some((word) => /^(--version|--help|-V)$/.test(word.text ?? ""));
  const isNode = name.startsWith("node") && words.some((word) => /^(-v|--test)$/.test(word.text ?? ""));
  // After options it is not known whether a word is the program or the value of an option.
  if (inline !== -1 && !(operand === 0 && inline > 0)) {
    throw new Unresolvable(
      `${name} may run code from ${shown(words[inline]?.source ?? "")}, which is not examined`,
    );
  }
  const program = words[operand];
  // Unless it begins with a letter or a path, it may turn out to be an option that brings code along.
  if (program && program.text === undefined && !/^"?[\w./]/.test(program.source)) {
    throw new Unresolvable(`${name} runs ${shown(program.source)}, which is not known yet`);
  }
  const fromInput = /^\/(dev\/(stdin|fd\/)|proc\/)/.test(program?.text ?? "");
  if (fromInput || (operand === -1 && !asks && !isNode))
    throw new Unresolvable(`${name} runs code from its input, which cannot be seen here`);
}

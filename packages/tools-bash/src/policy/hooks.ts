import { withoutContainerData } from "./containers.js";
import { refuseHiddenOption } from "./hiddenOptions.js";
import { shown, Unresolvable } from "./refusal.js";
import { type CommandWord, leadsWith } from "./rules.js";

// Ordinary programs that run another one when they are told to on the command line. Where the command begins,
// or which option names it, is data: a phrase is a program and the words that must follow it, with options
// between them skipped. What these programs run by design (`npm test`, `make`, a hook in a repository) is not
// named on the command line and is not judged.

/** Behind these words stands a command, somewhere among the options of the program. */
const LAUNCHING = phrases(`
  npm exec, npm x, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bun x, bun exec, bundle exec, poetry run, uv run,
  pipx run, pipenv run, conda run, rbenv exec, pyenv exec, asdf exec, mise exec, mise x, direnv exec, lerna exec,
  docker run, docker exec, docker container run, docker container exec, docker compose run, docker compose exec,
  docker-compose run, docker-compose exec, podman run, podman exec, podman container run, podman container exec,
  kubectl exec, kubectl run, ip netns exec, vagrant ssh, gcloud compute ssh, nix run, nix develop, nix shell,
  git submodule foreach, git bisect run`);

/** The value of these options is a command. */
const RUNNING_OPTIONS = table(`
  apt: --dpkg
  bat: --pager
  delta: --pager
  fzf: --preview
  git archive: --exec
  git clone: -u --upload-pack
  git difftool: -x --extcmd
  git fetch: --upload-pack
  git filter-branch: --setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter
  git grep: -O --open-files-in-pager
  git ls-remote: --upload-pack --exec
  git pull: --upload-pack
  git push: --receive-pack --exec
  git rebase: -x --exec
  git send-email: --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd
  go: -exec -toolexec -vettool
  gpg: --photo-viewer
  install: --strip-program
  man: -P --pager -H --html
  nc: -e -c
  ncat: -e -c --exec --sh-exec
  rg: --pre --hostname-bin
  rsync: -e --rsh --rsync-path
  scp: -S
  sftp: -S
  sort: --compress-program
  split: --filter
  tar: -I -F --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script
  wget: --use-askpass
  zip: -TT --unzip-command`);

/** The command stands behind these options and reaches to the end. */
const RUNNING_REST = table(`
  cmake: -E
  fd: -x -X --exec --exec-batch
  fdfind: -x -X --exec --exec-batch`);

/** A word of this form makes the program run what the policy does not read. */
const UNREADABLE: readonly (readonly [program: RegExp, word: RegExp])[] = [
  [/^(vim?|nvim|view|vimdiff|gvim|rvim)$/, /^(-c|--cmd|-[a-zA-Z]*[sS]|-es|\+\D)/],
  [/^(emacs|emacsclient)$/, /^(-e|-f|-l|--?(eval|execute|load|script|funcall|batch))/],
  [/^(less|more|most)$/, /^\+.*[!|]/],
  [/^(g?make|bmake)$/, /^(-E|--eva|-f-|-$|\.?SHELL|MAKEFLAGS)|\$[({]|^(-f|--\w+=)?(\/dev\/|\/proc\/)/],
  [/^tar$/, /^--checkpoint-a.*exec/],
  [/^(scp|sftp)$/, /(proxy|local|knownhosts)command/i],
  [/^sqlite3$/, /^-cmd$|^-init$|(^|[\n;])\s*\.(sh|sy|once|o|excel|w|read|import)|\bedit\s*\(/i],
  [/^(mysql|mariadb|psql)$/, /\\[!ogw]|\bsystem\b|\bprogram\b/i],
  [/^(dc|lftp|ftp)$/, /!/],
  [/^socat$/, /\b(exec|system|shell)\b/i],
  [/^fzf$/, /execute|become|reload|transform/],
  [
    /^([\w.]+-)*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cpp|gfortran)(-[\d.]+)?$/,
    /^(-wrapper|-fplugin|-fpass-plugin|-load|--?specs|-B|-fuse-ld=.*\/|--ld-path|@)/,
  ],
  [/^cargo$/, /^--config|linker|^-Z/],
  [/^rustc$/, /linker|^@/],
  [/^(npm|pnpm|yarn)$/, /script-shell/],
  [/^(apt|apt-get|aptitude|dpkg)$/, /invoke/i],
  [/^wget$/, /askpass/],
  [/^git$/, /^(ext::|--exec-path=|--config-env)/],
];

/** These read commands from their input, unless a word says otherwise. */
const READS_INPUT: readonly (readonly [program: RegExp, otherwise: RegExp])[] = [
  [/^psql$/, /^(-[a-zA-Z]*[cflV]|--(command|file|list|version|help))/],
  [/^(mysql|mariadb)$/, /^(-[a-zA-Z]*[eV]|--(execute|version|help))/],
  [/^sqlite3$/, /\s|^\.|^--?(version|help)/],
  [/^(dc|lftp)$/, /^(-[a-zA-Z]*[ce]|--(expression|version|help))/],
  [/^ftp$/, /^--?version$/],
];
// "tar xIf program archive": letters without a dash, their values later.
const TAR_LETTERS_THAT_RUN = /^[a-zA-Z]*[IF][a-zA-Z]*$/;

/** Settings of git whose value is a command, given by -c or `git config`. */
const GIT_COMMAND_SETTING =
  /^(alias|pager|credential|difftool|mergetool|browser|man|guitool|trailer|tar)\.|^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|gpg\..*program|interactive\.difffilter|uploadpack\.packobjectshook|sendemail\..*)$|\.(cmd|command|driver|textconv|clean|smudge|process|helper|uploadpack|receivepack|program)$/i;
const GIT_UNREADABLE_SETTING = /^(include|includeif|url)\..*$|^core\.hookspath$/i;

/** Environment variables whose value is a command. */
const COMMAND_VARIABLES = new Set(
  "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER EDITOR VISUAL FCEDIT SUDO_EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER GIT_SSH GIT_SSH_COMMAND RSYNC_RSH GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SHELL CC CXX RUSTC RUSTC_WRAPPER LESSOPEN LESSCLOSE MAKE".split(
    " ",
  ),
);
/** And those that are dangerous only with such a text in them. */
const OPTION_VARIABLES: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^(GNU)?MAKEFLAGS$/, /eval|\$|SHELL|-E|-f/],
  [/^TAR_OPTIONS$/, /./],
  [/^NODE_OPTIONS$/, /require|import|loader|-r\b|eval/],
  [/^(PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|PYTHONINSPECT|NPM_CONFIG_SCRIPT_SHELL)$/i, /./],
  [/^(CARGO_ENCODED_)?RUSTFLAGS$/, /linker/],
  [/^CARGO_(BUILD_RUSTC.*|ALIAS_.*|TARGET_.*_(RUNNER|LINKER))$/, /./],
  [/^GIT_(CONFIG.*|EXEC_PATH|TEMPLATE_DIR)$/, /./],
];

/** What the words of a command name to be run: texts for a shell, and command lines that begin somewhere. */
export interface Hooked {
  readonly scripts: readonly string[];
  readonly launched: readonly (readonly CommandWord[])[];
}

/** Throws `Unresolvable` if a word makes the program run what cannot be read. */
export function hooked(name: string, words: readonly CommandWord[]): Hooked {
  const parameters = words.slice(1);
  const unreadable = UNREADABLE.find(([program]) => program.test(name))?.[1];
  const word = unreadable && parameters.find(({ text }) => text !== undefined && unreadable.test(text));
  if (word) throw new Unresolvable(`${name} may run a command by ${shown(word.source)}`);
  const otherwise = READS_INPUT.find(([program]) => program.test(name))?.[1];
  if (otherwise && !parameters.some(({ text, source }) => otherwise.test(text ?? source))) {
    throw new Unresolvable(`${name} may run commands from its input, which cannot be seen here`);
  }
  if (name === "tar" && TAR_LETTERS_THAT_RUN.test(parameters[0]?.text ?? "")) {
    throw new Unresolvable(`tar may run a command by ${shown(parameters[0]?.source ?? "")}`);
  }
  const options = optionsFor(RUNNING_OPTIONS, name, parameters);
  const restOptions = optionsFor(RUNNING_REST, name, parameters);
  const scripts = options.flatMap((option) => valuesOf(name, option, parameters));
  // What git itself takes stands in front of the subcommand, which refuseHiddenSubcommand looks at.
  const isOpen = options.length > 0 || restOptions.length > 0 || (unreadable && name !== "git");
  if (isOpen) refuseHiddenOption(name, parameters);
  if (name === "git") scripts.push(...gitSettings(parameters));
  const launching = LAUNCHING.get(name) ?? [];
  refuseHiddenSubcommand(name, launching, parameters);
  const launched = launching
    .filter((phrase) => leadsWith(phrase, parameters))
    .map(() => withoutContainerData(name, parameters));
  for (const option of restOptions) {
    const at = parameters.findIndex(({ text }) => text !== undefined && isOption(option, text));
    if (at !== -1)
      launched.push(parameters.slice(at + 1).map(withoutBraces), attached(option, parameters[at]));
  }
  return { scripts: scripts.map(asScript), launched };
}

/** Throws if a word that is not known yet stands where a subcommand that runs a command could: `npm "$X" rm`. */
function refuseHiddenSubcommand(
  name: string,
  launching: readonly (readonly string[])[],
  words: readonly CommandWord[],
): void {
  for (const phrase of launching) {
    const at = phrase.findIndex((part, index) => words[index]?.text !== part);
    const word = words[at];
    if (word !== undefined && word.text === undefined) {
      throw new Unresolvable(`${shown(word.source)} could make ${name} run a command`);
    }
  }
}

/** The commands that setting a variable names. Throws `Unresolvable` if the value is not known. */
export function hookedVariable(name: string, value: string | undefined): readonly string[] {
  const dangerous = OPTION_VARIABLES.find(([pattern]) => pattern.test(name))?.[1];
  if (dangerous && (value === undefined || dangerous.test(value))) {
    throw new Unresolvable(`setting ${name} can make a program run another one`);
  }
  if (!COMMAND_VARIABLES.has(name) || value === "") return [];
  // Whoever runs it gives it a command.
  if (name === "SHELL" && /^[\w./-]*\/(ba|da|fi|k|z)?sh$/.test(value ?? "")) return [];
  if (value === undefined) throw new Unresolvable(`the value of ${name} is a command that is not known yet`);
  return [asScript(value)];
}

/** What stands in front of a command in some of these places: "!" in an alias, "|" in LESSOPEN. */
function asScript(value: string): string {
  const command = value.replace(/^[!|\-\s]+/, "");
  // It is given a host and a command by whoever runs it.
  return /^(\S*\/)?ssh(\s|$)/.test(command) ? `${command} host true` : command;
}

function gitSettings(words: readonly CommandWord[]): string[] {
  return words.flatMap((word, index) => {
    const text = word.text ?? word.source;
    const [, key = "", value] = /^(?:-c|--config=)?([\w-]+(?:\..*)?\.[\w-]+)(?:=(.*))?$/s.exec(text) ?? [];
    if (!isSet(words, index, value)) return [];
    if (GIT_UNREADABLE_SETTING.test(key))
      throw new Unresolvable(`git reads what it runs from ${shown(text)}`);
    if (!GIT_COMMAND_SETTING.test(key)) return [];
    return [value === undefined ? known("git", words[index + 1]) : known("git", word) && value];
  });
}

/** Whether the word at `index` sets something: "-c key=value", or "config key value". */
function isSet(words: readonly CommandWord[], index: number, value: string | undefined): boolean {
  if (value === undefined) return leadsWith(["config"], words) && words[index + 1] !== undefined;
  return /^(-c|--config)$/.test(words[index - 1]?.text ?? "") || /^-/.test(words[index]?.text ?? "");
}

function optionsFor(
  source: ReadonlyMap<string, readonly Entry[]>,
  name: string,
  words: readonly CommandWord[],
) {
  const entries = source.get(name) ?? [];
  return entries.filter(({ phrase }) => leadsWith(phrase, words)).flatMap(({ options }) => options);
}

/** All values an option is given, whether attached or the next word. */
function valuesOf(name: string, option: string, words: readonly CommandWord[]): string[] {
  return words.flatMap((word, index) => {
    if (word.text === undefined || !isOption(option, word.text)) return [];
    const value = attachedText(option, word.text);
    return [value ?? known(name, words[index + 1])];
  });
}

/** "--exec", "--exec=x", an abbreviation of it; "-x", "-xvalue", and "-x" behind other letters. */
function isOption(option: string, text: string): boolean {
  if (!text.startsWith("-")) return false;
  if (option.startsWith("--")) {
    const given = text.split("=", 1)[0] ?? "";
    return given.length > 4 && option.startsWith(given);
  }
  if (option.length > 2) return text.split("=", 1)[0] === option || text.split("=", 1)[0] === `-${option}`;
  return !text.startsWith("--") && new RegExp(`^-[a-zA-Z]*${option[1]}`).test(text);
}

function attachedText(option: string, text: string): string | undefined {
  if (option.length > 2) return text.includes("=") ? text.slice(text.indexOf("=") + 1) : undefined;
  return text.slice(text.indexOf(option[1] ?? "") + 1) || undefined;
}

function attached(option: string, word: CommandWord | undefined): CommandWord[] {
  const text = attachedText(option, word?.text ?? "");
  return text === undefined ? [] : [{ text, source: text }];
}

function withoutBraces(word: CommandWord): CommandWord {
  return word.text?.includes("{") ? { source: word.source, text: "-" } : word;
}

function known(name: string, word: CommandWord | undefined): string {
  if (word === undefined) return "";
  if (word.text === undefined)
    throw new Unresolvable(`${name} runs ${shown(word.source)}, which is not known yet`);
  return word.text;
}

interface Entry {
  readonly phrase: readonly string[];
  readonly options: readonly string[];
}

function phrases(text: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const map = new Map<string, string[][]>();
  for (const phrase of text.split(",")) {
    const [name = "", ...rest] = phrase.trim().split(/\s+/);
    map.set(name, [...(map.get(name) ?? []), rest]);
  }
  return map;
}

function table(text: string): ReadonlyMap<string, readonly Entry[]> {
  const map = new Map<string, Entry[]>();
  for (const line of text.trim().split("\n")) {
    const [phrase = "", options = ""] = line.trim().split(": ");
    const [name = "", ...rest] = phrase.split(" ");
    map.set(name, [...(map.get(name) ?? []), { phrase: rest, options: options.split(" ") }]);
  }
  return map;
}

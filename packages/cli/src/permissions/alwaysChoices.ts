import { exactSubject, type Rule, type RuledCall } from "./rule.js";
import { simpleCommands } from "./shellWords.js";

/** Something that can be allowed for good after a question about a call. */
export interface AlwaysChoice {
  readonly rule: Rule;
  readonly label: string;
}

// Programs that run whatever they are given: a rule for their first words would allow everything.
const LAUNCHERS: ReadonlySet<string> = new Set(
  [
    "sh bash dash zsh fish ksh mksh ash csh tcsh busybox toybox pwsh nu",
    "env sudo su doas runuser pkexec xargs parallel eval exec command builtin source . nohup setsid timeout nice ionice",
    "time chrt taskset stdbuf unbuffer script expect flock watch entr strace ltrace gdb unshare nsenter chroot bwrap",
    "firejail systemd-run at batch ssh mosh find fd awk gawk mawk nawk sed ed ex vi vim nvim emacs perl php lua luajit",
    "tclsh irb nodejs deno bun bunx npx pnpx tsx ts-node uvx osascript docker podman kubectl make gmake just tar rsync",
    "sqlite3 psql mysql mariadb ftp lftp dc socat nc ncat julia R Rscript octave gnuplot m4 jshell groovy scala elixir iex",
    "erl ghci guile racket sbcl swipl ocaml raku lldb tmux screen docker-compose nix-shell c8 nyc nodemon concurrently",
    "cross-env dotenv direnv hyperfine perf valgrind xvfb-run fakeroot proot setpriv run-parts ansible crontab",
  ]
    .join(" ")
    .split(" "),
);
const INTERPRETER = /^(?:python|pypy|ruby|perl|php|lua|node)[\d.]*$/;
// Subcommands that do the same, and programs that do so by an option in front of the subcommand.
const LAUNCHING_SUBCOMMAND =
  /^(?:(?:npm|pnpm|yarn|corepack) (?:exec|x|dlx|explore|node|init|create|install|i|add|update|up|upgrade|link|config|set)|(?:pip|pip3|gem|cargo|go|brew|apt|apt-get|composer|uv|poetry) (?:install|add|get|generate)|(?:uv|poetry|pipenv|pipx|rye|hatch|pdm|conda|mamba|nix|mise|asdf|rustup|bundle|composer|dotnet|go) (?:run|exec|x|tool|shell|develop))$/;
const LAUNCHES_BY_OPTION = /^(?:git|npm|pnpm|yarn)$/;
// Subcommands that run a command given as an option (`--upload-pack`, `--exec`, `-O`) or kept in the configuration.
const LAUNCHING_GIT =
  /^git (?:archive|bisect|clone|config|difftool|fetch|fetch-pack|filter-branch|for-each-repo|grep|hook|init|ls-remote|merge-index|mergetool|pull|push|rebase|remote|send-email|send-pack|submodule|worktree)$/;
const SUBCOMMAND = /^[a-z][\w:-]*$/;
const LONGEST_LABEL = 60;

/** The rules that can be offered as "always", the narrowest first. */
export function alwaysChoices(call: RuledCall): AlwaysChoice[] {
  const { name } = call;
  const exact = exactSubject(call);
  const choices: AlwaysChoice[] = [
    { rule: { tool: name, exact: true, pattern: exact }, label: "exactly this call" },
  ];
  const prefix = commandPrefix(call);
  if (prefix !== undefined) {
    choices.push({ rule: { tool: name, exact: false, pattern: `${prefix} *` }, label: `${prefix} *` });
  }
  choices.push({ rule: { tool: name, exact: false }, label: `every call of ${name}` });
  return choices;
}

/**
 * The program and its subcommand: `npm test` of `npm test -- --watch`. `undefined` where this prefix would allow
 * anything.
 */
function commandPrefix({ args }: RuledCall): string | undefined {
  if (typeof args.command !== "string" || "env" in args || "arguments" in args) return undefined;
  const commands = simpleCommands(args.command);
  const [words] = commands ?? [];
  const [program, second] = words ?? [];
  if (commands?.length !== 1 || program === undefined || program.includes("=") || /\s/.test(program)) {
    return undefined;
  }
  const prefix = second !== undefined && SUBCOMMAND.test(second) ? `${program} ${second}` : program;
  if (prefix.length > LONGEST_LABEL || /[*?]/.test(prefix)) return undefined;
  return runsAnything(prefix) ? undefined : prefix;
}

/** Whether a command that starts with these words may run any other command. */
function runsAnything(prefix: string): boolean {
  const start = prefix.slice(prefix.lastIndexOf("/") + 1);
  const [program = ""] = start.split(" ");
  return (
    LAUNCHERS.has(program) ||
    INTERPRETER.test(program) ||
    LAUNCHING_SUBCOMMAND.test(start) ||
    LAUNCHES_BY_OPTION.test(start) ||
    LAUNCHING_GIT.test(start)
  );
}

// Constructs that change the meaning of later commands: shell builtins and variables.
import type { CommandWord } from "../parser.js";
import { Refused, shown, Unresolvable } from "../refusal.js";
import { commandInValue, type Inside } from "./program.js";
import { patterns, wordPattern, wordSet } from "./table.js";

// Builtins that run something their words do not show (a file, their input), or that change the meaning of later
// commands.
const NEVER_RESOLVED = wordSet(
  ". alias at autoload batch bind compgen complete compopt crontab csh ed emulate enable ex expect fakeroot fc firejail fish functions gdb hash history let lldb login m4 mapfile nameref newgrp nsenter osascript pwsh readarray run-parts runuser screen script setarch setopt shopt source su tcsh tmux unalias unsetopt unshare xonsh zcompile zmodload nu elvish",
);
/** Builtins whose operands are variable names, some with a value: bash evaluates `a[$(command)]` in a name. */
export const NAMES_VARIABLES = wordSet(
  "export readonly declare typeset local read getopts unset integer float",
);
const TEST_OPERATOR = /^(=|==|!=|<|>|-(eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** Shell builtins that run or change more than their words show. */
export function readBuiltin(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  if (NEVER_RESOLVED.has(name))
    throw new Unresolvable(`what ${shown(name)} runs or changes cannot be seen in the command`);
  if (NAMES_VARIABLES.has(name)) checkNames(name, parameters);
  if (name === "test" || name === "[") checkTest(parameters);
  if (name === "set") checkSet(parameters);
  const [first] = parameters;
  if (name === "jobs" && parameters.some(({ text }) => text === undefined || /^-.*x/.test(text)))
    throw new Unresolvable('"jobs -x" runs a command');
  if (name === "printf" && first && (first.text === undefined || /^-./.test(first.text)))
    throw new Unresolvable(
      `the format ${shown(first.source)} of printf could be an option: write printf '%s' …`,
    );
  if (name === "wait" && parameters.some(({ text }) => text?.startsWith("-")))
    throw new Unresolvable('an option of "wait" sets a variable');
  return undefined;
}

function checkNames(name: string, parameters: readonly CommandWord[]): void {
  for (const [index, { text, source, splits }] of parameters.entries()) {
    const isGetopts = name === "getopts" && index !== 1;
    const isAssigned = text === undefined && splits !== true && /^[A-Za-z_]\w*=/.test(source);
    const isName = text !== undefined && /^([A-Za-z_]\w*(=[\s\S]*)?|-[rpfvxgas]+|--|\d+)$/.test(text);
    const isValue =
      /^-[a-z]*[pdnNtu]$/.test(parameters[index - 1]?.text ?? "") && name === "read" && splits !== true;
    if (isGetopts || isAssigned || isName || (isValue && text !== undefined)) continue;
    throw new Unresolvable(
      `${shown(source)} is neither a plain NAME nor NAME="value", and ${name} may evaluate what it stands for`,
    );
  }
}

/** In bash, `test -v name` evaluates a subscript in the name: no unknown word may be the operator. */
function checkTest(parameters: readonly CommandWord[]): void {
  for (const [index, { text, source, splits }] of parameters.entries()) {
    const next = parameters[index + 1];
    const isLast = next === undefined || next.text === "]";
    const isSafe =
      text === undefined
        ? splits !== true && (isLast || TEST_OPERATOR.test(next.text ?? ""))
        : text !== "-v" && text !== "-R";
    if (!isSafe)
      throw new Unresolvable(
        `${shown(source)} in a test may evaluate what it is given: quote it, and compare it with = or -eq`,
      );
  }
}

function checkSet(parameters: readonly CommandWord[]): void {
  for (let index = 0; index < parameters.length; index++) {
    const text = parameters[index]?.text;
    if (text === "--") return;
    if (text !== undefined && /^[-+][eufxC]*o?$/.test(text) && text.length > 1) {
      if (!text.endsWith("o")) continue;
      if (/^(errexit|nounset|xtrace|pipefail|noglob|noclobber)$/.test(parameters[++index]?.text ?? ""))
        continue;
    }
    throw new Unresolvable(
      `"set" with ${shown(parameters[index]?.source ?? "-o")} may change how the shell reads commands`,
    );
  }
}

// ——— variables

// These variables decide what a harmless name runs, or how the shell parses the rest of the script.
const NEVER_SET =
  /^(PATH|HOME|ENV|BASH_.*|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|PS\d|PROMPT_COMMAND|EXECIGNORE|FPATH|ZDOTDIR|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|GLIBC_TUNABLES|TERMINFO.*|TERMCAP|MAKEFILES|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP|PYTHONINSPECT|PYTHONWARNINGS|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTHONEXECUTABLE|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|CLASSPATH|_?JAVA_.*|JDK_JAVA_OPTIONS|MAVEN_.*|GRADLE_OPTS|LUA_.*|PHPRC|PHP_INI_SCAN_DIR|OPENSSL_.*|XDG_.*|GNUPGHOME|DOCKER_.*|KUBECONFIG|TAR_OPTIONS|MANOPT|ZIPOPT|ZIP|UNZIP|RSYNC_CONNECT_PROG|CMAKE_.*|(CVS|SVN|HG|EMACS|PSQL_).*|RIPGREP_CONFIG_PATH|VIMINIT|GVIMINIT|EXINIT|MYVIMRC|LESSKEY.*|AWKPATH|AWKLIBPATH|GCC_EXEC_PREFIX|COMPILER_PATH|CARGO_(BUILD_RUSTC.*|ALIAS_.*|TARGET_.*|HOME)|RUSTUP_.*|GO(FLAGS|ROOT|PATH|ENV|BIN|TOOLCHAIN))$/;
// Settings of npm that name a program, or a file with such settings.
const NPM_SETTING =
  /^npm_config_.*(shell|node.options|config|prefix|git|editor|viewer|module|script|browser)/i;
// Git variables that hold data. The others hold a command or change what git runs.
const GIT_DATA =
  /^GIT_(AUTHOR|COMMITTER)_\w+$|^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|FLUSH|CEILING_DIRECTORIES|LITERAL_PATHSPECS)$/;
// The value is a command.
const COMMAND_VARIABLES = wordSet(
  "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER EDITOR VISUAL FCEDIT SUDO_EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER GIT_SSH GIT_SSH_COMMAND RSYNC_RSH GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SHELL CC CXX CPP LD AR RUSTC RUSTC_WRAPPER LESSOPEN LESSCLOSE MAKE",
);
// Variables with options for a program; only these options are known to run nothing. In some encodings part of a
// character is a quote.
const OPTIONS = patterns(String.raw`
  [A-Za-z]{0,3}[Mm][Aa][Kk][Ee][Ff][Ll][Aa][Gg][Ss]  ^(-?[ksnBij]*\d*|-j\d*|--(silent|no-print-directory|keep-going))( -j\d*)?$
  NODE_OPTIONS  ^(--(max-[a-z-]+=\d+|enable-source-maps|no-[a-z-]+|trace-[a-z-]+|unhandled-rejections=\w+)( |$))*$
  (CARGO_ENCODED_)?RUSTFLAGS  ^((?!linker|-Z|@|link-arg).)*$  s
  LESS|MORE  ^[-A-Za-z0-9 ]*$
  FZF_DEFAULT_(OPTS|COMMAND).*  ^$
  LANG|LANGUAGE|LC_[A-Z]+  ^$|^(C|POSIX|[\w@]+|[\w]+\.(utf-?8))$  i`);

/**
 * The commands in the value of a variable. Throws `Refused` or `Unresolvable` if the variable changes, or may change,
 * what other commands do. `before` is the only command that gets the variable, if there is one.
 */
export function readVariable(name: string, value: string | undefined, before?: string): readonly string[] {
  if (NEVER_SET.test(name) || NPM_SETTING.test(name) || (name === "IFS" && before !== "read")) {
    throw new Refused(`Refused by the policy: setting ${name} can change what other commands do.`);
  }
  const harmless = wordPattern(OPTIONS, name);
  if (harmless && (value === undefined || !harmless.test(value))) {
    throw new Unresolvable(`setting ${name} can make a program run another one`);
  }
  if (!COMMAND_VARIABLES.has(name)) {
    if (!name.startsWith("GIT_") || GIT_DATA.test(name)) return [];
    throw new Refused(`Refused by the policy: setting ${name} can change what git runs.`);
  }
  if (value === "") return [];
  // A program that is run through this variable gets a command from its caller.
  if (name === "SHELL" && /^[\w./-]*\/(ba|da|fi|k|z)?sh$/.test(value ?? "")) return [];
  if (value === undefined) throw new Unresolvable(`the value of ${name} is a command that is not known yet`);
  return [commandInValue(value)];
}

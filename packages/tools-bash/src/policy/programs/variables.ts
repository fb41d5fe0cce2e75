import { Refused, Unresolvable } from "../refusal.js";
import { commandText } from "./hooks.js";
import { wordSet } from "./program.js";

// These variables decide what a harmless name runs, or how the shell parses the rest of the script.
const NEVER_SET =
  /^(PATH|HOME|ENV|BASH_.*|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|PS\d|PROMPT_COMMAND|EXECIGNORE|FPATH|ZDOTDIR|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|GLIBC_TUNABLES|TERMINFO.*|TERMCAP|MAKEFILES|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP|PYTHONINSPECT|PYTHONWARNINGS|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTHONEXECUTABLE|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|CLASSPATH|_?JAVA_.*|JDK_JAVA_OPTIONS|MAVEN_.*|GRADLE_OPTS|LUA_.*|PHPRC|PHP_INI_SCAN_DIR|OPENSSL_.*|XDG_.*|GNUPGHOME|DOCKER_.*|KUBECONFIG|TAR_OPTIONS|MANOPT|ZIPOPT|ZIP|UNZIP|RSYNC_CONNECT_PROG|CMAKE_.*|(CVS|SVN|HG|EMACS|PSQL_).*|RIPGREP_CONFIG_PATH|VIMINIT|GVIMINIT|EXINIT|MYVIMRC|LESSKEY.*|AWKPATH|AWKLIBPATH|GCC_EXEC_PREFIX|COMPILER_PATH|CARGO_(BUILD_RUSTC.*|ALIAS_.*|TARGET_.*|HOME)|RUSTUP_.*|GO(FLAGS|ROOT|PATH|ENV|BIN|TOOLCHAIN))$/;
// Settings of npm that name a program, or a file with such settings.
const NPM_SETTING =
  /^npm_config_.*(shell|node.options|config|prefix|git|editor|viewer|module|script|browser)/i;
// Variables of git that hold data. Of the others, some hold a command, and the rest change what git runs.
const GIT_DATA =
  /^GIT_(AUTHOR|COMMITTER)_\w+$|^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|FLUSH|CEILING_DIRECTORIES|LITERAL_PATHSPECS)$/;
// The value is a command.
const COMMANDS = wordSet(
  "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER EDITOR VISUAL FCEDIT SUDO_EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER GIT_SSH GIT_SSH_COMMAND RSYNC_RSH GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SHELL CC CXX CPP LD AR RUSTC RUSTC_WRAPPER LESSOPEN LESSCLOSE MAKE",
);
// Options of a program, of which only these are known to run nothing.
const OPTIONS: readonly (readonly [name: RegExp, harmless: RegExp])[] = [
  [/^(GNU|M|B)?MAKEFLAGS$/i, /^(-?[ksnBij]*\d*|-j\d*|--(silent|no-print-directory|keep-going))( -j\d*)?$/],
  [
    /^NODE_OPTIONS$/,
    /^(--(max-[a-z-]+=\d+|enable-source-maps|no-[a-z-]+|trace-[a-z-]+|unhandled-rejections=\w+)( |$))*$/,
  ],
  [/^(CARGO_ENCODED_)?RUSTFLAGS$/, /^((?!linker|-Z|@|link-arg).)*$/s],
  [/^(LESS|MORE)$/, /^[-A-Za-z0-9 ]*$/],
  [/^(FZF_DEFAULT_(OPTS|COMMAND).*)$/, /^$/],
  // In some encodings a part of a character is a quote or a blank.
  [/^(LANG|LANGUAGE|LC_[A-Z]+)$/, /^$|^(C|POSIX|[\w@]+|[\w]+\.(utf-?8))$/i],
];

/**
 * The commands that setting a variable names. Throws `Refused` or `Unresolvable` if the variable changes what
 * other commands do, or may. `before` is the command that alone gets the variable, if there is one.
 */
export function readVariable(name: string, value: string | undefined, before?: string): readonly string[] {
  if (NEVER_SET.test(name) || NPM_SETTING.test(name) || (name === "IFS" && before !== "read")) {
    throw new Refused(`Refused by the policy: setting ${name} can change what other commands do.`);
  }
  const harmless = OPTIONS.find(([pattern]) => pattern.test(name))?.[1];
  if (harmless && (value === undefined || !harmless.test(value))) {
    throw new Unresolvable(`setting ${name} can make a program run another one`);
  }
  if (!COMMANDS.has(name)) {
    if (!name.startsWith("GIT_") || GIT_DATA.test(name)) return [];
    throw new Refused(`Refused by the policy: setting ${name} can change what git runs.`);
  }
  if (value === "") return [];
  // A program that is run through this variable gets a command from its caller.
  if (name === "SHELL" && /^[\w./-]*\/(ba|da|fi|k|z)?sh$/.test(value ?? "")) return [];
  if (value === undefined) throw new Unresolvable(`the value of ${name} is a command that is not known yet`);
  return [commandText(value)];
}

import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommandWord } from "../parser.js";
import { patterns, wordPattern, wordSet } from "./table.js";

/** Where commands run, and what they may read there without approval. */
export interface ReadingPlace {
  readonly cwd: string;
  /** Whether a path of the command, relative to `cwd`, may be read, including everything below it. */
  mayRead(path: string): boolean;
}

const NUMBER = /^[+-]?\d+$/;

/**
 * Programs that only read what their operands name, with the options they may have. An option that is not listed may
 * write a file, run a program, or read a list of other files.
 */
const READERS = patterns(String.raw`
  ls                         ^-[1AaBbCcdFfGghiklLmNnopqrRSstTuUvXx]+$|^--(all|almost-all|color(=\w+)?|human-readable|reverse|recursive|group-directories-first|time-style=[\w+-]+|sort=\w+)$
  cat                        ^-[AbEensTtuv]+$
  head                       ^-[qvz]+$|^-[nc]\d*$|^-\d+$|^--(lines|bytes)=\d+$
  tail                       ^-[qvz]+$|^-[nc][+-]?\d*$|^-\d+$|^--(lines|bytes)=[+-]?\d+$
  wc                         ^-[cmlLw]+$
  nl                         ^-b[at]$
  tac                        ^$
  cut                        ^-[bcdf]\S*$|^-s$|^--(fields|delimiter|characters|bytes)=.*$
  sort                       ^-[bdfghinMRrsuV]+$|^-[kt]\S*$
  diff                       ^-[abBdiNpqstuwy]+$|^-U\d*$|^--(brief|unified(=\d+)?|color(=\w+)?|side-by-side)$
  cmp                        ^-[bls]+$
  comm                       ^-[123]+$
  stat                       ^-[Lt]+$|^-c$|^--(format|printf)=.*$
  du                         ^-[abchkmsx]+$|^-d\d*$|^--max-depth=\d+$
  grep                       ^-[EFGPaHhilLncoqrsvwxz]+$|^-[ABCm]\d*$|^-e$|^--(include|exclude|exclude-dir)=.*$|^--color(=\w+)?$|^--(line-number|recursive|ignore-case|count|files-with-matches|word-regexp)$
  rg                         ^-[aFHiInloPsSUvwx]+$|^-[ABCmgtTe]\S*$|^-c$|^--(files|count|line-number|ignore-case|fixed-strings|files-with-matches|word-regexp|heading|no-heading|stats|json|multiline|vimgrep|column|trim|sort=\w+|glob=.*|type=\w+|type-not=\w+|max-count=\d+|color=\w+)$
  tree                       ^-[adfinN]+$|^-[LIP]\S*$|^--noreport$
  md5sum|sha256sum           ^-[bt]$
  realpath|basename|dirname  ^$`);
const SEARCHES_BELOW = wordSet("rg grep tree du");
/** Programs that read none of their operands. */
const PRINTERS = patterns(`
  pwd           ^-[LP]$
  whoami|nproc  ^$
  uname         ^-[amnoprsv]+$
  true|false    ^$`);
/**
 * Programs whose `--version` reads no file of the project. Package managers and language runtimes are not among them: Yarn
 * runs the program in `yarnPath` of `.yarnrc.yml`, rustup the toolchain in `rust-toolchain.toml`, version managers what
 * `.tool-versions` names.
 */
const VERSIONED = wordSet("cmake docker gcc make rg");
const FIND_WITH_VALUE = wordSet(
  "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -regex -iregex",
);
const FIND_ALONE = wordSet("-print -print0 -empty -not ! -o -a -or -and -prune");

/**
 * Whether a command only reads, and only what needs no approval. Every word must be known: a wildcard may match a
 * symlink that points elsewhere.
 */
export function onlyReads(words: readonly CommandWord[], place: ReadingPlace): boolean {
  const texts = words.map(({ text }) => text);
  if (texts.includes(undefined)) return false;
  const [program = "", ...given] = texts as string[];
  if (program === "git") return readsRepository(given, place);
  if (program === "find") return finds(given, place);
  if (program === "echo") return true;
  if (VERSIONED.has(program) && given.length === 1 && given[0] === "--version") return true;
  const printer = wordPattern(PRINTERS, program);
  if (printer) return given.every((word) => printer.test(word) && word !== "");
  const options = wordPattern(READERS, program);
  // Some search everything below the directory if no path is given.
  const isAllowed = !SEARCHES_BELOW.has(program) || place.mayRead(".");
  return options !== undefined && isAllowed && readsOperands(given, options, place);
}

/** Every word that is not a listed option counts as a path, including the value of an option or a search pattern. */
function readsOperands(given: readonly string[], options: RegExp, place: ReadingPlace): boolean {
  const end = given.indexOf("--");
  return (
    given.every((word, index) => {
      if (word === "--" && index === end) return true;
      if (word.startsWith("-") && word !== "-" && (end === -1 || index < end)) return options.test(word);
      return word === "-" || NUMBER.test(word) || place.mayRead(word);
    }) &&
    (given.some((word) => !word.startsWith("-")) || place.mayRead("."))
  );
}

function finds(given: readonly string[], place: ReadingPlace): boolean {
  const start = given.findIndex((word) => word.startsWith("-") || word === "!" || word === "(");
  const paths = start === -1 ? given : given.slice(0, start);
  if (!(paths.length === 0 ? ["."] : paths).every((path) => place.mayRead(path))) return false;
  const tests = start === -1 ? [] : given.slice(start);
  for (let index = 0; index < tests.length; index++) {
    const word = tests[index] ?? "";
    if (FIND_WITH_VALUE.has(word)) index++;
    else if (!FIND_ALONE.has(word) && word !== "(" && word !== ")") return false;
  }
  return true;
}

/** The options that git subcommands may have. Operands are checked like paths. */
const SUBCOMMANDS = patterns(String.raw`
  status         ^(-[sbvz]+|--(short|branch|porcelain(=v[12])?|long|show-stash)|-u(no|normal|all)?|--untracked-files(=\w+)?)$
  log|show|diff  ^(--(oneline|graph|all|branches|tags|remotes|decorate(=\w+)?|no-decorate|stat(=[\d,]+)?|shortstat|numstat|summary|name-only|name-status|patch|no-patch|follow|merges|no-merges|first-parent|reverse|date=[\w:%. -]+|(since|until|after|before|author|committer|grep)=.*|format=.*|pretty(=.*)?|abbrev-commit|abbrev(=\d+)?|max-count=\d+|skip=\d+|cached|staged|color(=\w+)?|no-color|word-diff(=\w+)?|unified=\d+|no-renames|diff-filter=\w+|check|raw|minimal|no-ext-diff|no-textconv)|-[psuwbi]|-n\d*|-\d+|-U\d+|-[SG].+)$
  rev-parse      ^--(show-toplevel|abbrev-ref|short|verify|is-inside-work-tree|show-prefix)$
  ls-files       ^-[cdmoz]+$|^--(others|exclude-standard|cached|modified|deleted)$
  blame          ^-[lsetw]$|^-L\S*$
  describe       ^--(tags|always|dirty|abbrev=\d+)$
  shortlog       ^-[sne]+$`);
/** Subcommands that list something if they have no operand. */
const LISTS = patterns(`
  branch  ^(-[arv]+|-vv|--(all|remotes|list|show-current|verbose))$
  remote  ^(-v|--verbose)$
  tag     ^(-l|--list)$`);

function readsRepository([subcommand = "", ...given]: readonly string[], place: ReadingPlace): boolean {
  const lists = wordPattern(LISTS, subcommand);
  const options = wordPattern(SUBCOMMANDS, subcommand);
  const isPlain = lists
    ? given.every((word) => lists.test(word))
    : options !== undefined && readsOperands(given, options, place);
  return isPlain && place.mayRead(".") && isPlainRepository(place.cwd);
}

/** Repository settings that name no program and no other path. */
const SETTINGS = patterns(`
  core    ^(repositoryformatversion|filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf)$|^bare$
  remote  ^(url|pushurl|fetch|tagopt|prune)$
  branch  ^(remote|merge|rebase|description)$
  user    ^(name|email)$
  pull    ^(rebase|ff)$
  push    ^(default|autosetupremote)$`);
const MAX_CONFIG = 64 * 1024;
const MAX_INDEX = 64 * 1024 * 1024;
/** The index mode of an entry that is another repository, whose configuration git would also apply. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);

/**
 * Whether git runs no program chosen by the repository when it reads: its configuration (`core.fsmonitor`, filters,
 * `textconv`, a promisor remote's `uploadpack`, includes) has only harmless settings, there is no hook for a refreshed
 * index, and it contains no other repository whose configuration would apply as well. The user's own configuration is
 * trusted.
 */
function isPlainRepository(cwd: string): boolean {
  if (
    Object.keys(process.env).some((name) =>
      /^GIT_(DIR|WORK_TREE|COMMON_DIR|CONFIG|INDEX_FILE|EXTERNAL_DIFF|EXEC_PATH)/.test(name),
    )
  ) {
    return false;
  }
  try {
    const directory = findRepository(cwd);
    if (directory === undefined || existsSync(join(directory, "commondir"))) return false;
    if (existsSync(join(directory, "hooks/post-index-change"))) return false;
    if (existsSync(join(directory, "modules"))) return false;
    const config = readFileSync(join(directory, "config"), "utf8");
    if (config.length > MAX_CONFIG || !config.split(/\r?\n/).every(settingReader())) return false;
    const index = join(directory, "index");
    if (!existsSync(index)) return true;
    return lstatSync(index).size <= MAX_INDEX && !readFileSync(index).includes(SUBMODULE_MODE);
  } catch {
    return false;
  }
}

/** The `.git` directory around a directory; `undefined` for another form, such as a bare repository in between. */
function findRepository(cwd: string): string | undefined {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const found = lstatSync(join(directory, ".git"), { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? join(directory, ".git") : undefined;
    if (existsSync(join(directory, "HEAD")) && existsSync(join(directory, "objects"))) return undefined;
    if (dirname(directory) === directory) return undefined;
  }
}

/** Parses a configuration line by line. Anything unusual counts as harmful. */
function settingReader(): (line: string) => boolean {
  let allowed: RegExp | undefined;
  return (line) => {
    if (/^\s*([#;].*)?$/.test(line)) return true;
    const section = /^\s*\[([a-z]+)(?: "[^"\\]*")?\]\s*$/.exec(line)?.[1];
    if (section !== undefined) {
      allowed = wordPattern(SETTINGS, section);
      return allowed !== undefined;
    }
    const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined || value.includes("\\") || /^(ext|fd)::/.test(value))
      return false;
    return allowed?.test(key.toLowerCase()) === true;
  };
}

import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { commandText } from "./hooks.js";
import { type Inside, known, skipValue, wordSet } from "./program.js";

// Git's own subcommands; any other word may be an alias or a program "git-x". Subcommands that run any command they
// are given are not listed.
const COMMANDS = wordSet(`
  add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree
  config count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import
  fetch filter-branch fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help
  index-pack init interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge
  merge-base merge-file merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes
  pack-objects pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase reflog remote repack
  replace request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog show
  show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag
  unpack-file unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag
  version whatchanged worktree write-tree`);
const FLAGS =
  /^(-[pPvh]|--(paginate|no-pager|bare|no-replace-objects|literal-pathspecs|glob-pathspecs|noglob-pathspecs|icase-pathspecs|no-optional-locks|no-lazy-fetch|no-advice|version|help|html-path|man-path|info-path|exec-path)|--(git-dir|work-tree|namespace|attr-source)=.*)$/s;
const VALUES = /^(-C|--git-dir|--work-tree|--namespace|--attr-source)$/;
// Subcommands whose arguments can set the configuration, too.
const SETS_CONFIG = wordSet("clone config init submodule remote worktree");
const SETTING = /^(?:-c|--c[a-z]*=)?([\w-]+(?:\.[^=]*)?\.[\w-]+)(?:=(.*))?$/s;
/** Settings whose value is a command. */
const COMMAND_SETTING =
  /^(alias|pager|credential|difftool|mergetool|browser|man|guitool|trailer|tar)\.|^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|gpg\..*program|interactive\.difffilter|uploadpack\.packobjectshook|sendemail\..*)$|\.(cmd|command|driver|textconv|clean|smudge|process|helper|uploadpack|receivepack|program|vcs|proxy)$/i;
const UNREADABLE_SETTING =
  /^(include|includeif|url|protocol|init|hook)\..*$|^core\.(hookspath|attributesfile|worktree)$/i;

/** Reads the commands that settings make git run. Throws for a subcommand that is neither git's own nor a known alias. */
export function readGit(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (name !== "git") return undefined;
  const at = subcommandIndex(words);
  const subcommand = at === words.length ? undefined : known(name, words[at]);
  const scripts = settings(words, at, subcommand);
  const isAlias = words
    .slice(0, at)
    .some(({ text }) => text?.toLowerCase().startsWith(`alias.${subcommand?.toLowerCase()}=`));
  if (subcommand !== undefined && !COMMANDS.has(subcommand) && !isAlias)
    throw new Unresolvable(
      `${shown(`git ${subcommand}`)} is no command of git itself and may be an alias for any`,
    );
  const remote = words.find(({ text }) => text !== undefined && /^(ext|fd)::/.test(text));
  if (remote) throw new Unresolvable(`git runs a command by ${shown(remote.source)}`);
  return { scripts };
}

/** Where the subcommand stands. Throws for an option that may or may not take the next word. */
function subcommandIndex(words: readonly CommandWord[]): number {
  let index = 0;
  for (; index < words.length; index++) {
    const { text, source } = words[index] ?? { source: "" };
    if (text === "-c") {
      const setting = words[++index];
      if (
        setting?.splits === true ||
        !/^"?[\w-]+\.[\w.-]+(=|"?$)/.test(setting?.source.replace(/^'/, "") ?? "")
      )
        throw new Unresolvable(`what "git -c" sets by ${shown(setting?.source ?? "")} is not known yet`);
    } else if (text !== undefined && VALUES.test(text)) {
      skipValue("git", words[++index]);
    } else if (text === undefined || !text.startsWith("-")) break;
    else if (!FLAGS.test(text))
      throw new Unresolvable(`the option ${shown(source)} of git is not known to the policy`);
  }
  return index;
}

/** The commands in settings: in front of the subcommand, and behind one that sets the configuration. */
function settings(words: readonly CommandWord[], at: number, subcommand = ""): string[] {
  const isConfig = subcommand === "config";
  return words.slice(0, SETS_CONFIG.has(subcommand) ? words.length : at).flatMap((word, index) => {
    const text = word.text ?? word.source.replace(/^["']/, "");
    const [, key = "", attached] = SETTING.exec(text) ?? [];
    const next = isConfig ? words[index + 1] : undefined;
    if (key === "" || (attached === undefined && next === undefined)) return [];
    if (UNREADABLE_SETTING.test(key)) throw new Unresolvable(`git reads what it runs from ${shown(text)}`);
    if (!COMMAND_SETTING.test(key)) return [];
    const value = attached === undefined ? known("git", next) : known("git", word) && attached;
    if (!/^alias\./i.test(key)) return [commandText(value)];
    const command = /^\s*!/.test(value) ? commandText(value) : `git ${value}`;
    // The alias that is called here gets the words behind it.
    const isCalled = key.slice("alias.".length).toLowerCase() === subcommand.toLowerCase();
    const rest = isCalled ? words.slice(at + 1).map((given) => singleQuoted(known("git", given))) : [];
    return [[command, ...rest].join(" ")];
  });
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

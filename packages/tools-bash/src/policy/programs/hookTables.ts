// Ordinary programs that run another one when they are told to on the command line. Where the command begins,
// or which option names it, is data: a phrase is a program and the words that must follow it, with options
// between them skipped. What these programs run by design (`npm test`, `make`, a hook in a repository) is not
// named on the command line and is not judged.
type Pairs = readonly (readonly [RegExp, RegExp])[];

export interface Entry {
  readonly phrase: readonly string[];
  readonly options: readonly string[];
}

interface HookTables {
  /** Behind these words stands a command, somewhere among the options of the program. */
  readonly launching: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** The value of these options is a command. */
  readonly runningOptions: ReadonlyMap<string, readonly Entry[]>;
  /** The command stands behind these options and reaches to the end. */
  readonly runningRest: ReadonlyMap<string, readonly Entry[]>;
  /** Programs, and words whose form makes them run what the policy does not read. */
  readonly unreadable: Pairs;
  /** Programs that read commands from their input, and the words that say otherwise. */
  readonly readsInput: Pairs;
  /** "tar xIf program archive": letters without a dash, their values later. */
  readonly tarLettersThatRun: RegExp;
}

export const HOOKS: HookTables = {
  launching: phrases(`
  npm exec, npm x, npm explore, pm2 start, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bun x, bun exec, bundle exec, poetry run, uv run,
  pipx run, pipenv run, conda run, rbenv exec, pyenv exec, asdf exec, mise exec, mise x, direnv exec, lerna exec,
  docker run, docker exec, docker container run, docker container exec, docker compose run, docker compose exec,
  docker-compose run, docker-compose exec, podman run, podman exec, podman container run, podman container exec,
  kubectl exec, kubectl run, ip netns exec, vagrant ssh, gcloud compute ssh, nix run, nix develop, nix shell,
  git submodule foreach, git bisect run`),

  runningOptions: table(`
  ag: --pager
  apt: --dpkg
  bat: --pager
  delta: --pager
  forever: -c
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
  pandoc: -F --filter
  rg: --pre --hostname-bin
  rsync: -e --rsh --rsync-path
  scp: -S
  sftp: -S
  sort: --compress-program
  split: --filter
  tar: -I -F --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script
  tcpdump: -z
  wget: --use-askpass
  zip: -TT --unzip-command`),

  runningRest: table(`
  cmake: -E
  fd: -x -X --exec --exec-batch
  fdfind: -x -X --exec --exec-batch`),

  unreadable: [
    [/^(emacs|emacsclient)$/, /^(-e|-f|-l|--?(eval|execute|load|script|funcall|batch))/],
    [/^(less|more|most)$/, /^\+.*[!|]/],
    [/^tar$/, /^--checkpoint-a/],
    [/^hg$/, /^--conf/],
    [/^svn$/, /^--(config-o|editor|diff)/],
    [/^rpm(build|spec)?$/, /^(-E|--ev|-D|--def|--pipe)|%\(/],
    [/^gh$/, /^(alias|extension|ext)$/],
    [/^(scp|sftp)$/, /(proxy|local|knownhosts)command/i],
    [/^sqlite3$/, /^-cmd$|^-init$|(^|[\n;])[^\S\n]*\.(sh|sy|once|o|excel|w|read|import)|\bedit\s*\(/i],
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
    [/^mvnw?$/, /exec\.executable|^exec:/],
    [/^(ipython3?|ghci?|ocaml)$/, /^-[a-z]*[ec]/],
    [/^(pdf|xe|lua|e)?(la)?tex$/, /shell-escape|write18/],
    [/^sysctl$/, /core_pattern|modprobe|hotplug|uevent/],
    [/^openssl$/, /^-(engine|provider)/],
    [/^ssh-(keygen|add)$/, /^-D/],
    [/^ld(\.\w+)?$/, /^--?plugin/],
    [/^go$/, /extld/],
  ],

  readsInput: [
    [/^(vim?|nvim|view|vimdiff|gvim|rvim)$/, /^--(version|help)$/],
    [/^psql$/, /^(-[a-zA-Z]*[cflV]|--(command|file|list|version|help))/],
    [/^(mysql|mariadb)$/, /^(-[a-zA-Z]*[eV]|--(execute|version|help))/],
    [/^sqlite3$/, /\s|^\.|^--?(version|help)/],
    [/^(dc|lftp)$/, /^(-[a-zA-Z]*[ce]|--(expression|version|help))/],
    [/^ftp$/, /^--?version$/],
  ],
  tarLettersThatRun: /^(?=[a-zA-Z]*$)[^IF]*[IF]/,
};

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

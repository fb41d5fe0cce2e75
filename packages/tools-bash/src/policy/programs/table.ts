// The policy's data about programs. Three kinds of entries: a list of names; lines of "programs  words", a regular
// expression each for the name of a program and for one of its words; and lines of "phrase: options", a program with
// its subcommand and its options. No table is complete: a program that is not listed may run any word it is given. For
// more than a guard rail, use `allow` and the sandbox.

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

type Patterns = readonly (readonly [program: RegExp, word: RegExp])[];

/** Columns are separated by two blanks; a third one contains flags. */
export function patterns(text: string): Patterns {
  return lines(text).map((line) => {
    const [program = "", word = "", flags = ""] = line.split(/\s{2,}/);
    return [new RegExp(`^(?:${program})$`), new RegExp(word, flags)];
  });
}

/** The pattern for the words of a program, from the first line that names it. */
export function wordPattern(table: Patterns, name: string): RegExp | undefined {
  return table.find(([program]) => program.test(name))?.[1];
}

function lines(text: string): string[] {
  return text.trim().split(/\n\s*/);
}

// ——— programs that run another one

/** The syntax of a program that runs another one: options, then a number of operands, then the command. */
export interface Wrapper {
  /** `-x` or `--name`, and whether a value follows. An unlisted option makes the call unresolvable. */
  readonly options: ReadonlyMap<string, boolean>;
  readonly operands: number;
  /** Options that make it do something other than run a command. */
  readonly queries: readonly string[];
  /** Accepts NAME=value before the command. */
  readonly assignments: boolean;
  /** The command is one text for a shell, as in `watch`. */
  readonly script: boolean;
  /** The wrapper itself has no effect: an allow list judges only the command inside. */
  readonly transparent: boolean;
}

/** Name, short options as for getopt ("n:" takes a value), long options ("name=" takes one), other properties. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  lines(`
    builtin  |                                    |                                              | transparent
    busybox  |                                    |                                              |
    chroot   |                                    | skip-chdir userspec= groups=                 | operand
    command  | p                                  |                                              | transparent -v -V
    doas     | Lna:C:u:                           |                                              |
    env      | i0vu:C:                            | ignore-environment null debug unset= chdir=  | transparent assignments
    exec     | cla:                               |                                              | transparent
    ionice   | tc:n:                              | ignore class= classdata=                     | transparent
    nice     | 0123456789n:                       | adjustment=                                  | transparent
    nohup    |                                    |                                              | transparent
    setsid   | cfw                                | ctty fork wait                               | transparent
    ssh      | 1246AaCfGgKkMNnqsTtVvXxYyb:c:D:E:e:I:i:L:l:m:p:R:w: |                             | operand script
    stdbuf   | i:o:e:                             | input= output= error=                        | transparent
    sudo     | ABbEHkKnPSC:D:g:h:p:R:r:T:t:U:u:   | askpass background non-interactive preserve-env set-home stdin chdir= group= host= prompt= user= | assignments -l -v -V --list --validate --version
    time     | apqvVf:o:                          | portability format= output=                  | transparent
    timeout  | vk:s:                              | foreground preserve-status verbose kill-after= signal= | transparent operand
    toybox   |                                    |                                              |
    watch    | bcdegtxn:                          | differences errexit no-title interval=       | script
    xargs    | 0rtpxoa:d:E:I:L:n:P:s:J:R:         | null no-run-if-empty verbose interactive exit open-tty arg-file= delimiter= max-lines= max-args= max-procs= max-chars= replace= |`).map(
    (line) => {
      const [name = "", short = "", long = "", other = ""] = line.split("|").map((column) => column.trim());
      const properties = other.split(" ");
      const options = [
        ...[...short.matchAll(/(\w)(:?)/g)].map(([, letter, value]) => [`-${letter}`, value !== ""] as const),
        ...[...long.matchAll(/([\w-]+)(=?)/g)].map(([, word, value]) => [`--${word}`, value !== ""] as const),
      ];
      return [
        name,
        {
          options: new Map(options),
          operands: properties.includes("operand") ? 1 : 0,
          queries: properties.filter((property) => property.startsWith("-")),
          assignments: properties.includes("assignments"),
          script: properties.includes("script"),
          transparent: properties.includes("transparent"),
        },
      ];
    },
  ),
);

/** Programs that run another command and have too many options to list: it may begin at any of their words. */
export const LAUNCHERS = wordSet(
  "aa-exec abduco ansible autossh bunx bwrap caffeinate capsh catchsegv cgexec choom chpst chrt clush concurrently cpulimit cross-env daemonize dbus-launch dbus-run-session debconf direnv dotenv dsh dtach eatmydata entr env-cmd fakechroot faketime flock gnome-terminal gosu gpg-agent hyperfine i386 linux32 linux64 ltrace mosh mpiexec mpirun nix-shell nodemon npx numactl onchange parallel perf pkexec pnpx prlimit proot proxychains proxychains4 pssh rlwrap run0 s6-setuidgid salt setpriv setuidgid sg srun ssh-agent sshpass start-stop-daemon strace su-exec systemd-run taskset torify torsocks unbuffer uname26 uvx valgrind watchexec wine wine64 x86_64 xterm xvfb-run",
);
/** The dynamic loader and emulators run the program they are given. */
export const DYNAMIC_LOADER = /^(ld(-linux.*|-musl.*|64)?\.so(\.\d+)?|qemu-\w+)$/;

/** Subcommands by which many programs run the command after them. */
export const RUN_SUBCOMMANDS = wordSet("exec run shell enter");
/** After these, the words are for the project's own program. */
export const BUILD_TOOLS = wordSet(
  "bazel cabal cargo dart dotnet flutter gh go gradle stack swift turbo vitest zig",
);

/** A command follows somewhere after these words, with options between them skipped. */
export const LAUNCHING_PHRASES: ReadonlyMap<string, readonly (readonly string[])[]> = grouped(
  `npm exec, npm x, npm explore, pm2 start, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bun x, bun exec, bundle exec, poetry run,
  uv run, pipx run, pipenv run, conda run, rbenv exec, pyenv exec, asdf exec, mise exec, mise x, direnv exec, lerna exec,
  docker run, docker exec, docker container run, docker container exec, docker compose run, docker compose exec,
  docker-compose run, docker-compose exec, podman run, podman exec, podman container run, podman container exec,
  kubectl exec, kubectl run, ip netns exec, vagrant ssh, gcloud compute ssh, nix run, nix develop, nix shell,
  git submodule foreach, git bisect run`
    .split(",")
    .map((phrase) => phrase.trim().split(/\s+/))
    .map(([name = "", ...rest]) => [name, rest]),
);

export interface OptionEntry {
  readonly phrase: readonly string[];
  readonly options: readonly string[];
}

/** The value of these options is a command. */
export const COMMAND_OPTIONS = optionTable(`
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
  zip: -TT --unzip-command`);

/** The command follows these options and extends to the end. */
export const COMMAND_AFTER_OPTION = optionTable(`
  cmake: -E
  fd: -x -X --exec --exec-batch
  fdfind: -x -X --exec --exec-batch`);

/** A word of this form makes the program run something that the policy cannot read. */
export const UNREADABLE_WORDS = patterns(String.raw`
  emacs|emacsclient  ^(-e|-f|-l|--?(eval|execute|load|script|funcall|batch))
  less|more|most     ^\+.*[!|]
  tar                ^--checkpoint-a
  hg                 ^--conf
  svn                ^--(config-o|editor|diff)
  rpm(build|spec)?   ^(-E|--ev|-D|--def|--pipe)|%\(
  gh                 ^(alias|extension|ext)$
  scp|sftp           (proxy|local|knownhosts)command  i
  sqlite3            ^-cmd$|^-init$|(^|[\n;])[^\S\n]*\.(sh|sy|once|o|excel|w|read|import)|\bedit\s*\(  i
  mysql|mariadb|psql  \\[!ogw]|\bsystem\b|\bprogram\b  i
  dc|lftp|ftp        !
  socat              \b(exec|system|shell)\b  i
  fzf                execute|become|reload|transform
  ([\w.]+-)*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cpp|gfortran)(-[\d.]+)?  ^(-wrapper|-fplugin|-fpass-plugin|-load|--?specs|-B|-fuse-ld=.*\/|--ld-path|@)
  cargo              ^--config|linker|^-Z
  rustc              linker|^@
  npm|pnpm|yarn      script-shell
  apt|apt-get|aptitude|dpkg  invoke  i
  wget               askpass
  mvnw?              exec\.executable|^exec:
  ipython3?|ghci?|ocaml  ^-[a-z]*[ec]
  (pdf|xe|lua|e)?(la)?tex  shell-escape|write18
  sysctl             core_pattern|modprobe|hotplug|uevent
  openssl            ^-(engine|provider)
  ssh-(keygen|add)   ^-D
  ld(\.\w+)?         ^--?plugin
  go                 extld`);
/** "tar xIf program archive": letters without a dash, their values later. */
export const TAR_LETTERS_THAT_RUN = /^(?=[a-zA-Z]*$)[^IF]*[IF]/;

/** Programs that read commands from their input, unless a word of this form is present. */
export const READS_INPUT_UNLESS = patterns(String.raw`
  vim?|nvim|view|vimdiff|gvim|rvim  ^--(version|help)$
  psql           ^(-[a-zA-Z]*[cflV]|--(command|file|list|version|help))
  mysql|mariadb  ^(-[a-zA-Z]*[eV]|--(execute|version|help))
  sqlite3        \s|^\.|^--?(version|help)
  dc|lftp        ^(-[a-zA-Z]*[ce]|--(expression|version|help))
  ftp            ^--?version$`);

/** Option letters whose value is the next word and runs nothing: that word may be unknown. */
export const DATA_VALUE_LETTERS = patterns(String.raw`
  tar          [fCTX]
  git          [Cbm]
  .*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(-[\d.]+)?  [oILD]
  .*make       [Cj]
  rg           [egt]
  sort         [okt]
  wget         [OP]
  npm|pnpm     [CF]
  go|man|bat   [oC]`);
/** Programs whose operands contain commands, so none of their words may be unknown. */
export const TAKES_SCRIPTS = /^(sqlite3|mysql|mariadb|psql|dc|lftp|ftp|socat)$/;

/** Words of `docker run` and its like that are never the command, and options whose value is data: a path, a name. */
export const CONTAINERS = /^(docker|podman|docker-compose)$/;
export const CONTAINER_FLAGS =
  /^(-[itdP]+|--(rm|init|detach|interactive|tty|privileged|read-only|publish-all)|--[a-z-]+=.*|exec|run|container|compose)$/s;
export const CONTAINER_VALUES =
  /^(-[vwepum]|--(volume|workdir|env|env-file|publish|user|name|network|memory|cpus|mount|label|hostname|platform))$/;
export const CONTAINER_ATTACHED_VALUE =
  /^(-[vwepu]|--(volume|workdir|env|env-file|publish|user|name|network|mount|label|hostname)=)["'$/\w.]/;

// ——— interpreters: they may run a program in a file, but no code in their arguments or their input

/** Options that contain no code. */
export const INTERPRETER_FLAGS = patterns(String.raw`
  (node|nodejs|tsx|ts-node)[\d.]*  ^(-v|-c|--check|--version|--help|-h|--test(-[a-z-]+(=[^:]*)?)?|--watch|--enable-source-maps|--inspect(-brk|-wait)?(=.*)?|--no-[a-z-]+|--trace-[a-z-]+|--expose-gc|--experimental-(?!loader|default-config|config)[a-z-]+|--max-[a-z-]+=\d+|--stack-size=\d+|--throw-deprecation|--unhandled-rejections=\w+)$
  bun                    ^(--version|--revision|--help|-h|-v|--watch|--hot|--bun|--silent|--smol)$
  deno                   ^(--version|--help|-h|-V|--quiet|-q|-A|--allow-[a-z]+(=.*)?|--no-check)$
  (python|pypy)[\d.]*    ^(-[bBdEIOPqsSuv]+|-VV?|--version|--help|-h|-m[\w.]+|-W[\w:.]+|-X[\w=]+)$
  perl[\d.]*             ^(-[ctTuUwWX]+|-v|--version|--help|-h|-V)$
  ruby[\d.]*             ^(-[cvwW]+|--version|--help|-h|--yjit|--jit)$
  php[\d.]*              ^(-[flnqv]|--version|--help|-h|-m|-i)$
  (lua|luajit|elixir|julia|rscript|guile|tclsh|ghci|irb|wish|groovy|scala|jshell|racket|sbcl|swipl|octave|r|gnuplot|erl|iex|clojure|clj|jrunscript|qjs|mongo|mongosh|coffee|pry|raku|bpftrace|stap|maxima|gp)[\d.]*  ^(--version|--help|-v|-V)$`);
/** Options that contain no code and take the next word as their value. */
export const INTERPRETER_VALUES = patterns(String.raw`
  (python|pypy)[\d.]*    ^-[bBdEIOPqsSuv]*[mWX]$
  php[\d.]*              ^-[St]$`);
/** With these options it runs no code from its input if no program is given. */
export const INTERPRETER_COMPLETE = patterns(String.raw`
  (node|nodejs|tsx|ts-node)[\d.]*  ^(-v|--version|--help|-h|--test)$
  bun                    ^(--version|--revision|--help|-h|-v)$
  deno                   ^(--version|--help|-V|-h)$
  (python|pypy)[\d.]*    ^(-VV?|--version|--help|-h|-[bBdEIOPqsSuv]*m.*)$
  perl[\d.]*             ^(-v|--version|--help|-h|-V)$
  ruby[\d.]*             ^(-v|--version|--help|-h)$
  php[\d.]*              ^(-v|--version|--help|-h|-m|-i|-S)$
  .*                     ^(--version|--help|-v|-V)$`);
/** Modules of Python whose operands are code. */
export const CODE_MODULES =
  /^(timeit|code|codeop|pdb|trace|cProfile|profile|runpy|IPython|ptpython|asyncio|idlelib.*|bdb|doctest|sqlite3)$/;
/** Subcommands of deno and bun before a program, and those before code. */
export const PROGRAM_SUBCOMMANDS =
  /^(run|test|bench|build|install|add|remove|update|check|fmt|lint|cache|info|doc|task|create|init|upgrade|compile|publish|pm|link|unlink|outdated)$/;
export const CODE_SUBCOMMANDS = /^(eval|repl|exec|x|jupyter)$/;

// ——— programs that run nothing

/**
 * Everyday programs that run none of their arguments, or whose arguments another table covers. A program that is not
 * listed may run its arguments: `kitty rm x`, `mutt -e '!rm x'`.
 */
export const DATA_PROGRAMS = wordSet(`
  [ : ack ag apk apropos apt apt-cache apt-get aptitude ar arch as astro autoconf automake aws az b2sum babel base32 base64
  basename basenc bash bat bats bazel bazelisk bc black bower brew browserslist buf bun bunzip2 busybox bzcat bzip2 c++ cabal
  cal cargo cat cc cd chattr chcon checkov chgrp chmod chown cksum clang clang++ clang-format clang-tidy clear cloc cmake cmp
  code codesign column comm composer conda conf configure convert cp cpp crane cspell csplit ctest curl cut cwebp cypress dart
  date dc dd declare deno depcheck df diff diff3 difft dig dir dircolors dirname dmesg dnf docker docker-compose doctl dot
  dotnet doxygen dpkg dpkg-query du echo egrep elm env esbuild eslint eval exa exec exiftool exit exiv2 expand export expr eza
  factor false fc-list fd fdfind ffmpeg ffprobe fgrep file find flake8 flatpak flutter fmt fold for free fzf g++ gcc gcloud gem
  getconf getent getfacl gfortran gh git gitleaks glab go gofmt gofumpt golangci-lint gpg gradle gradlew grep groups gunzip
  gzip hadolint head helm heroku hexdump hexyl hg hostname host htop http https httpie hugo iconv id identify if ifconfig
  import info install ip isort java javac javadoc jest jobs join journalctl jq jshint json_pp kill killall knip kubectl kustomize
  last ldd lerna less ln locale locate logger logname look ls lsattr lsblk lscpu lsof lspci lua luac lualatex lz4 magick make
  man mariadb markdownlint markdownlint-cli2 mc md5 md5sum mdadm mdbook meson mix mkdir mkdocs mkfifo mktemp mocha mongo
  mongodump mongosh more mount msgfmt mvn mvnw mv mypy mysql mysqladmin mysqldump nc ncat ncdu netlify netstat next ng nginx
  nice ninja nl nm nmap node nohup npm npx nproc nslookup nuxt nx nyc objcopy objdump od openapi-generator openssl openapi
  optipng osv-scanner oxlint pacman pandoc parcel paste patch pathchk pdflatex pdftotext pdm perl pg_dump pg_isready pg_restore
  pgrep php phpcs phpstan phpunit ping pip pip3 pipenv pipx pkg-config pkill playwright plutil pm2 pnpm podman
  poetry popd pr prettier printenv printf prisma protoc protoc-gen-go ps psql ptx publint pulumi pushd pwd pydoc
  pylint pyright pytest python python2 python3 quarto ranlib rake read readelf readlink readonly realpath redis-cli rename
  reset return rg rmdir rollup rpm rspec rsync rubocop ruby ruff runghc rustc rustfmt rustup sass scp sdkmanager sed seq serve set sftp
  sh sha1sum sha224sum sha256sum sha384sum sha512sum shasum shellcheck shfmt shift shred shuf size sleep snap sort source
  split sqlite3 ss ssh ssh-keygen stack stat stdbuf strings strip stty stylelint sudo sum svn swc swift swiftlint sync
  systemctl tac tail tar tcpdump tee terraform test textutil tflint tidy time timeout tofu top tox touch tput tr tree trivy true
  truncate tsc tsort tsup tsx tty turbo type typedoc typst ulimit umask umount uname unexpand uniq unlink unset unxz unzip
  update-alternatives uptime usermod users uuidgen uv vacuumdb vercel vim vite vitest vmstat vue wait wc webpack wget
  whatis whereis which while who whoami wrangler xargs xcodebuild xcrun xmllint xsltproc xxd xz xzcat yamllint yarn yes yq
  zcat zdiff zgrep zig zip zipinfo zless zstd zstdcat tldr gsutil nvm ollama s3cmd jira vcpkg ipfs toolbox`);
/** Programs of that list that do run a word, after a word of this form. */
export const RUNS_BEHIND = patterns(String.raw`
  aws             ^(send-command|start-session|execute-command|run-instances)$
  az              ^(run-command|exec|invoke)$
  bazel|bazelisk  ^--run_under
  brew            ^(sh|ruby|irb)$
  cabal|stack     ^exec$
  cargo           ^(watch|make|script|xtask)$
  composer        ^(exec|run-script)$
  ctest           ^--(build-command|test-command|build-and-test|launch)
  gcloud          ^(ssh|--command.*)$
  gem             ^open$
  gh              ^codespace$
  glab            ^alias$
  gradle          ^(-I|--init-script)
  java            ^(-XX:On|-javaagent|-agent)
  kubectl         ^(debug|attach)$
  meson           ^devenv$
  nginx           ^-g
  npm             ^(pkg|set-script)$
  nx              ^run-commands?$
  podman          ^(unshare|machine)$
  rake            ^-(e|p|E)
  lualatex        \\(directlua|write18)
  rsync           ^(-M|--remote-option)
  tox             ^-x|^--override
  uv              ^tool$
  xcrun           ^(simctl|--run)$`);

// ——— git

/**
 * Git's own subcommands that run no command from their arguments; any other word may be an alias or a program "git-x".
 */
export const GIT_SUBCOMMANDS = wordSet(`
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
export const GIT_FLAGS =
  /^(-[pPvh]|--(paginate|no-pager|bare|no-replace-objects|literal-pathspecs|glob-pathspecs|noglob-pathspecs|icase-pathspecs|no-optional-locks|no-lazy-fetch|no-advice|version|help|html-path|man-path|info-path|exec-path)|--(git-dir|work-tree|namespace|attr-source)=.*)$/s;
export const GIT_VALUES = /^(-C|--git-dir|--work-tree|--namespace|--attr-source)$/;
/** Subcommands whose arguments can set the configuration, too. */
export const GIT_SETS_CONFIG = wordSet("clone config init submodule remote worktree");
/** Settings whose value is a command, and settings that name a file or place with commands. */
export const GIT_COMMAND_SETTING =
  /^(alias|pager|credential|difftool|mergetool|browser|man|guitool|trailer|tar)\.|^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|gpg\..*program|interactive\.difffilter|uploadpack\.packobjectshook|sendemail\..*)$|\.(cmd|command|driver|textconv|clean|smudge|process|helper|uploadpack|receivepack|program|vcs|proxy)$/i;
export const GIT_UNREADABLE_SETTING =
  /^(include|includeif|url|protocol|init|hook)\..*$|^core\.(hookspath|attributesfile|worktree)$/i;

// ——— what an allow rule for the first words of a command does not cover

/**
 * Options by which a program that prints writes a file, works in another directory, or loads code from a file. They
 * name no command, so no deny rule matches them. But a user who allows "git log" with any words does not expect this.
 */
export const BEYOND_NAME = patterns(String.raw`
  git   ^(--ou|--ext-diff|--textconv|--template|--separate-git-dir|--unsafe-paths|--directory)
  sort|shuf|tree|iconv  ^(-[a-zA-Z]*o|--o)
  curl  ^(-[a-zA-Z]*[oOKDcJT]|--(o|remote|config|dump|cookie-j|trace|stderr|libcurl|etag-s|create|upload))
  wget  ^(-[a-zA-Z]*[OPeiao]|--(output|directory|execute|config|append|input|rejected|warc|save|post-f))
  npm|pnpm|yarn|bun  ^(-C|--(prefix|dir|cwd|node-op|userc|globalc|registry|script-s|shell|config|init-m|git|editor|viewer|browser|preload))
  pytest|py\.test  ^(-[a-zA-Z]*[cpo]|--(rootd|confcut|override|pyargs|config|junit|basetemp|log-file))
  vitest|jest|mocha|eslint|prettier|stylelint|biome|vite|webpack|rollup|esbuild|playwright|tsup|tap|ava|karma|cypress  ^(-[cfrol]|--(config|require|import|loader|plugin|resolve|rulesdir|parser|format|report|global-?setup|setup|env|transform|runner|test-?runner|preset|root|cwd|out|pool|project|dir|cache|node|exec))  i
  tsc   ^--?(out|build|p$|project|declarationd|tsbuild|generate)  i
  (g|b|p|d|n)?make  ^(-[a-zA-Z]*[CfIo]|--(dir|file|makef|include|eval))
  cargo  ^(-C|--(manifest|target-dir|out-dir|artifact|root|path|git|registry))
  go    ^--?(C$|C=|o$|o=|modfile|overlay|ldflags|gcflags|asmflags|gccgoflags|pkgdir|coverprofile|\w*profile|outputdir|trace)
  mvnw?|gradlew?  ^(-f|-P|-D|-I|-s|-gs|-b|-c|-p|--(file|define|init|settings|project|include|build|gradle))`);

/**
 * Programs whose arguments are their own language, in which a word or two can mean anything. Programs that plainly run
 * another command are not listed: the policy sees that in the command itself.
 */
export const OPEN_ENDED = wordSet(
  "awk c8 docker docker-compose emacs fd find gawk gmake just kubectl make mawk nawk nc ncat nyc ocaml podman rsync sed socat tar",
);
/** Without a subcommand, any of them can follow their options. */
export const NEED_SUBCOMMAND = wordSet("git npm pnpm yarn");
/**
 * Subcommands that run code from their arguments, take a command as an option, or write files that later commands run.
 */
export const OPEN_ENDED_SUBCOMMANDS = patterns(`
  npm|pnpm|yarn|corepack  ^(exec|x|dlx|explore|node|init|create|install|i|add|update|up|upgrade|link|config|set)$
  pip|pip3|gem|cargo|brew|apt|apt-get  ^(install|add|get|generate)$
  go|composer|uv|poetry  ^(install|add|get|generate|run|exec|x|tool|shell|develop)$
  pipenv|pipx|rye|hatch|pdm|conda|mamba|nix|mise|asdf|rustup|bundle|dotnet  ^(run|exec|x|tool|shell|develop)$
  git  ^(archive|bisect|clone|config|difftool|fetch|fetch-pack|filter-branch|for-each-repo|grep|hook|init|ls-remote|merge-index|mergetool|pull|push|rebase|remote|send-email|send-pack|submodule|worktree)$`);

/** Programs that run the package they name, and the subcommands before it. */
export const PACKAGE_RUNNERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...["npx", "pnpx", "bunx", "uvx"].map((name) => [name, []] as const),
  ["npm", ["exec", "x"]],
  ["pnpm", ["exec", "dlx"]],
  ["yarn", ["exec", "dlx"]],
  ["bun", ["x"]],
  ["pipx", ["run"]],
]);

function optionTable(text: string): ReadonlyMap<string, readonly OptionEntry[]> {
  return grouped(
    lines(text).map((line) => {
      const [words = "", options = ""] = line.split(": ");
      const [name = "", ...phrase] = words.split(" ");
      return [name, { phrase, options: options.split(" ") }];
    }),
  );
}

function grouped<T>(
  entries: readonly (readonly [name: string, entry: T])[],
): ReadonlyMap<string, readonly T[]> {
  const map = new Map<string, T[]>();
  for (const [name, entry] of entries) map.set(name, [...(map.get(name) ?? []), entry]);
  return map;
}

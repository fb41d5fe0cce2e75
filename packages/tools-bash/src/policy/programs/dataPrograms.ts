import { wordSet } from "./program.js";

/**
 * Everyday programs that run none of the words they are given, or whose words another reader knows. A program that is not
 * here may run what it is given: `kitty rm x`, `mutt -e '!rm x'`.
 */
const PROGRAMS = wordSet(`
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

/** Programs of the list that run a word after all, behind one of these words. */
const RUNS_BEHIND: ReadonlyMap<string, RegExp> = new Map([
  ["aws", /^(send-command|start-session|execute-command|run-instances)$/],
  ["az", /^(run-command|exec|invoke)$/],
  ["bazel", /^--run_under/],
  ["bazelisk", /^--run_under/],
  ["brew", /^(sh|ruby|irb)$/],
  ["cabal", /^exec$/],
  ["cargo", /^(watch|make|script|xtask)$/],
  ["composer", /^(exec|run-script)$/],
  ["ctest", /^--(build-command|test-command|build-and-test|launch)/],
  ["gcloud", /^(ssh|--command.*)$/],
  ["gem", /^open$/],
  ["gh", /^codespace$/],
  ["glab", /^alias$/],
  ["gradle", /^(-I|--init-script)/],
  ["java", /^(-XX:On|-javaagent|-agent)/],
  ["kubectl", /^(debug|attach)$/],
  ["meson", /^devenv$/],
  ["nginx", /^-g/],
  ["npm", /^(pkg|set-script)$/],
  ["nx", /^run-commands?$/],
  ["podman", /^(unshare|machine)$/],
  ["rake", /^-(e|p|E)/],
  ["lualatex", /\\(directlua|write18)/],
  ["rsync", /^(-M|--remote-option)/],
  ["stack", /^exec$/],
  ["tox", /^-x|^--override/],
  ["uv", /^tool$/],
  ["xcrun", /^(simctl|--run)$/],
]);
/** A program of the project may do anything; its arguments are data for it. */
const PROJECT_FILE = /^(?!\.\.\/|.*\/\.\.\/)[^/]+\//;

/** The version at the end of a name: `python3.12`. Begins at no digit inside of a number, which would be tried again and again. */
const VERSION = /(?<![\d.])[-.]?\d[\d.]*$/;

/** Whether no word of a command is a command itself, as far as is known. `word` is the command's name as written. */
export function takesOnlyData(
  name: string,
  word: string,
  parameters: readonly (string | undefined)[],
): boolean {
  if (PROJECT_FILE.test(word)) return true;
  if (!PROGRAMS.has(name.replace(VERSION, "")) && !PROGRAMS.has(name)) return false;
  const runs = RUNS_BEHIND.get(name);
  return runs === undefined || !parameters.some((text) => text !== undefined && runs.test(text));
}

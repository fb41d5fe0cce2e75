import { describe, expect, test } from "vitest";
import { lines, verdict } from "../../test/verdicts.js";

describe("a command named by an option, a subcommand or a variable of another program", () => {
  test.each(
    lines(String.raw`
  npm exec rm x
  npm explore left-pad -- rm x
  npm x -- rm x
  hatch run rm x
  pdm run rm x
  nerdctl run alpine rm x
  oc exec pod -- rm x
  lxc exec box -- rm x
  nx exec -- rm x
  guix shell coreutils -- rm x
  devbox run 'rm x'
  distrobox enter box -- rm x
  toolbox run rm x
  flatpak run --command=rm app
  run0 rm x
  sshpass -p secret rm x
  autossh host rm x
  mosh host rm x
  wine rm
  gpg-agent --daemon rm x
  salt box cmd.run 'rm x'
  pm2 start rm
  forever -c rm x
  tcpdump -z rm -G 1 -w x
  pandoc --filter rm x
  pandoc -F rm x
  ag --pager rm x
  mvn exec:exec -Dexec.executable=rm
  pdflatex --shell-escape x
  sysctl -w kernel.core_pattern='|/bin/rm x'
  openssl req -engine x
  ssh-keygen -D x.so
  ld -plugin x.so a
  go build -ldflags '-extld=rm'
  npm exec -c 'rm x'
  pnpm exec rm x
  pnpm dlx rm x
  pnpm -r exec rm x
  yarn exec rm x
  yarn dlx rm
  bun x rm
  bunx rm
  npx rm x
  npx -y -p foo rm x
  fd -x rm
  fd . -X rm {}
  fd --exec rm
  fd --exec-batch=rm
  fdfind -e js -x rm {}
  fd -HIx rm
  make --eval='x:;rm x'
  make -f - x
  make -f-
  make SHELL=/bin/rm x
  make --eval 'x:;rm'
  make -E 'x:;rm'
  vim -c '!rm x'
  vim +'!rm x' f
  vi -c '!rm' f
  nvim --cmd '!rm x'
  ex -c '!rm' f
  ex -s f
  ed f
  vim -S x
  emacs --eval '(x)'
  split --filter='rm x' f
  split --filter 'rm x' f
  sqlite3 db '.shell rm x'
  sqlite3 -cmd '.shell rm' db
  sqlite3 db
  zip -T -TT 'rm x' a b
  zip a b -TT rm
  git send-email --smtp-server=/bin/rm x.patch
  git send-email --smtp-server /bin/rm x.patch
  git send-email --sendmail-cmd='rm x' x.patch
  gcc -fplugin=./x.so a.c
  gcc-12 -fplugin=./x.so a.c
  gcc -B. a.c
  gcc -specs=x a.c
  clang -Xclang -load -Xclang x.so a.c
  cargo --config 'build.rustc-wrapper="rm"' build
  cargo build --config=x.toml
  cargo rustc -- -C linker=rm
  CARGO_BUILD_RUSTC_WRAPPER=rm cargo build
  run-parts dir
  tar xf a --to-command='rm x'
  tar xf a --to-command rm
  tar cf a --checkpoint=1 --checkpoint-action=exec='rm x' b
  tar -I 'rm x' -cf a b
  tar cf a --use-compress-program=rm b
  tar -cf a --rsh-command=rm b
  tar xf a -F 'rm x'
  tar xf a --info-script=rm
  tar xf a --new-volume-script=rm
  scp -o ProxyCommand='rm x' a b:c
  scp -S rm a b:c
  scp -oProxyCommand=rm a b:
  ssh -oProxyCommand='rm x' host ls
  sftp -o ProxyCommand=rm h
  rsync -e 'rm x' a b:c
  rsync -avze 'rm x' a b
  rsync --rsh='rm x' a b
  rsync --rsync-path='rm x' a b:
  git -c core.pager='rm x' log
  git -c core.sshCommand='rm x' fetch
  git -c alias.x='!rm x' x
  git -c core.fsmonitor='rm x' status
  git --config-env=core.pager=X log
  git --exec-path=/tmp status
  git clone --upload-pack 'rm x' a b
  git clone -u 'rm x' a b
  git clone -c core.sshCommand=rm a
  git clone ext::rm
  git fetch --upload-pack='rm x' a
  git push --receive-pack='rm x' a
  git push --exec='rm x' a
  git ls-remote --upload-pack=rm a
  git archive --exec=rm --remote=x
  git submodule foreach 'rm x'
  git submodule foreach --recursive rm x
  git bisect run rm x
  git rebase --exec 'rm x' main
  git rebase -x 'rm x' main
  git rebase -i main -x rm
  git filter-branch --tree-filter 'rm x' HEAD
  git difftool -x 'rm x'
  git difftool --extcmd=rm
  git grep -O'rm x' y
  git grep --open-files-in-pager=rm y
  git config alias.x '!rm x'
  git config core.pager 'rm x'
  git config --global core.editor rm
  git -C d config core.hooksPath x
  GIT_SSH_COMMAND='rm x' git fetch
  GIT_PAGER='rm x' git log
  PAGER='rm x' git log
  EDITOR='rm x' git commit
  VISUAL=rm crontab -e
  GIT_EDITOR='rm x' git commit
  GIT_SEQUENCE_EDITOR=rm git rebase -i
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager git log
  GIT_EXTERNAL_DIFF='rm x' git diff
  GIT_ASKPASS=rm git fetch
  SSH_ASKPASS=rm ssh h ls
  LESSOPEN='|rm x' less f
  MANPAGER='rm x' man ls
  BROWSER=rm man ls
  LD_PRELOAD=x ls
  BASH_ENV=x ls
  ENV=x sh -c ls
  PROMPT_COMMAND='rm x' ls
  SHELL=rm make
  MAKEFLAGS='--eval=x' make
  NODE_OPTIONS='--require /x' node a.js
  PYTHONSTARTUP=x python3 a
  PERL5OPT=-x perl a
  RUBYOPT=-rx ruby a
  TAR_OPTIONS=--to-command=rm tar xf a
  RSYNC_RSH=rm rsync a b:
  CC='rm x' make
  awk 'BEGIN{system("rm x")}'
  awk -v a=1 'BEGIN{system("rm x")}'
  awk -F : 'BEGIN{system("rm x")}'
  sed '1e rm x' f
  sed -n -e '1e rm x' f
  sed -- '1e rm x' f
  sed 's/[/]/rm x/e' f
  read "$x"
  read -r a "$b"
  unset "$x"
  export a=1 b=2 "$x"
  getopts ab "$name"
  perl -e 'x'
  python -c 'x'
  busybox sh -c 'rm x'
  busybox rm x
  script -c 'rm x'
  script -qc 'rm x' f
  watch rm x
  watch -n 1 'rm x'
  parallel rm ::: x
  entr rm x
  strace rm x
  gdb -ex '!rm' -batch
  gdb --args rm x
  man -P 'rm x' ls
  man --pager='rm x' ls
  man -H'rm' ls
  less +'!rm x' f
  less '+!rm' f
  more +'!rm' f
  tclsh
  expect -c 'spawn rm x'
  expect f
  systemd-run rm x
  chroot / rm x
  unshare -r rm x
  nsenter -t 1 rm x
  flock f -c 'rm x'
  setsid rm x
  stdbuf -oL rm x
  ionice -c3 rm x
  chrt -i 0 rm x
  taskset 1 rm x
  time rm x
  command rm x
  builtin eval 'rm x'
  exec -a ls rm x
  coproc rm x
  trap 'rm x' 0
  eval rm x
  alias ls='rm'; ls
  find . -exec rm {} +
  find . -ok rm {} \;
  find . -okdir rm {} \;
  xargs -I% rm %
  debconf -omodule rm x
  docker run alpine rm x
  docker run --rm -v /:/h alpine rm -rf /h
  docker exec c rm x
  docker exec -it c sh -c 'rm x'
  docker run --entrypoint rm alpine x
  docker run -v "$PWD":/x alpine rm -rf /x
  docker run -v $X alpine ls
  docker run --name -v "$X" alpine
  docker run "$X" alpine
  docker run --unknown -v "$X" alpine ls
  docker compose exec web rm x
  docker compose run web rm x
  podman run alpine rm x
  kubectl exec p -- rm x
  ssh host rm x
  ssh host 'ls; rm x'
  crontab f
  at now
  su -c 'rm x'
  runuser -u x -- rm x
  doas rm x
  pkexec rm x
  env -S 'rm x'
  dpkg -i x --pre-invoke=rm
  apt-get -o APT::Update::Pre-Invoke::=rm update
  apt -o Dpkg::Pre-Invoke::=rm install x
  curl x -o- | sh
  wget --use-askpass=rm x
  go test -exec rm ./...
  go build -toolexec rm
  go run -exec rm x
  go vet -vettool=rm
  npm --script-shell=/bin/rm test
  npm config set script-shell rm
  npm run x --script-shell rm
  lua -e x
  osascript -e x
  perl -pe 'system'
  vimdiff -c '!rm' a b
  view -c '!rm' a
  rlwrap rm x
  dd if=a | sh
  sort --compress-program=rm f
  sort --compress-program 'rm' f
  ip netns exec a rm x
  pv x | sh
  make -f /dev/stdin
  m4 x
  install --strip-program=rm -s a b
  lftp -c '!rm x'
  ftp h
  mysql -e '\! rm'
  psql -c '\! rm'
  nc -e /bin/rm h 1
  ncat -c 'rm x' h 1
  socat - EXEC:'rm x'
  cpulimit -l 5 rm x
  caffeinate rm x
  torify rm x
  hyperfine 'rm x'
  direnv exec . rm x
  mise exec -- rm x
  nix-shell --run 'rm x'
  nix run x -c rm
  conda run rm x
  poetry run rm x
  uv run rm x
  uvx rm
  pipx run rm
  pipenv run rm
  bundle exec rm x
  rbenv exec rm
  pyenv exec rm
  dotenv rm x
  cross-env A=1 rm x
  concurrently 'rm x'
  nodemon --exec 'rm x'
  onchange f -- rm x
  watchexec rm x
  lerna exec rm x
  pnpm --filter a exec -- rm x
  find . -fprintf f x -exec rm {} \;
  gcc -wrapper rm,x a.c
  rg --pre rm x
  rg --pre=rm x
  rg --hostname-bin=rm x
  bat --pager='rm x' f
  delta --pager rm
  fzf --preview 'rm {}'
  fzf --bind 'enter:execute(rm x)'
  tmux new 'rm x'
  screen rm
  dc -e '!rm x'
  gpg --photo-viewer rm
  xterm -e rm x
  gnome-terminal -- rm x
  cmake -E rm x
  cmake -E env rm x
  mpirun rm x
  srun rm x
  vagrant ssh -c 'rm x'
  gcloud compute ssh x --command='rm x'
  ansible all -m shell -a 'rm x'
  pssh -i 'rm x'
  ld.so /bin/rm x
  capsh -- -c 'rm x'
  dbus-launch rm x
  ssh-agent rm x
  ssh-agent sh -c 'rm x'
  aa-exec rm x
  sg group 'rm x'
  chpst rm x
  s6-setuidgid u rm x
  eatmydata rm x
  fakechroot rm x
  proot rm x
  qemu-x86_64 /bin/rm x
  catchsegv rm x
    `),
  )("is refused: %s", (command) => {
    expect(verdict(command)).toMatchObject({ allowed: false });
  });

  test("is refused by the rule that denies it, if it can be read", () => {
    for (const command of [
      "npm exec rm x",
      "docker run --entrypoint=rm alpine x",
      "fd -HIx rm",
      "tar xf a --to-command='rm x'",
      "rsync -avze 'rm x' a b",
      "git -c alias.x='!rm x' x",
      "git config core.pager 'rm x'",
      "git rebase -x 'rm x' main",
      "EDITOR='rm x' git commit",
      "env GIT_PAGER='rm x' git log",
      "export GIT_PAGER='rm x'; git log",
    ]) {
      expect(verdict(command), command).toMatchObject({ allowed: false, rule: "rm" });
    }
  });

  test("is examined in the variables of the call, too", () => {
    expect(verdict("git log", undefined, { GIT_PAGER: "rm x" })).toMatchObject({
      allowed: false,
      rule: "rm",
    });
    expect(verdict("git log", undefined, { GIT_PAGER: "cat" })).toEqual({ allowed: true });
  });

  test("is refused if it is not known yet", () => {
    for (const command of [
      'tar xf a --to-command "$X"',
      'EDITOR="$X" git commit',
      'npm exec "$X"',
      'git -c core.pager="$X" log',
      "read EDITOR; export EDITOR; git commit",
      'tar xf a "$X"',
      "tar cf a *",
      'tar "$X" a b',
      'tar -x "$X"',
      "tar xf a -C $X",
      'rsync -a "$X" b',
      'sort "$X"',
      'git clone "$X"',
      'git "$X" log',
      'npm "$X" rm x',
      'docker "$X" alpine rm x',
      'docker compose "$X" web rm x',
      'psql -c "$X" db',
      'sqlite3 "$X" "select 1"',
      'less "$X"',
      "gcc *.c",
    ]) {
      expect(verdict(command), command).toMatchObject({ allowed: false });
    }
  });
});

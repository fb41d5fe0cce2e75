import { describe, expect, test } from "vitest";
import { lines } from "../../test/verdicts.js";
import { mayRun, ruleWords, runsOnly } from "./hostRules.js";

/** Each line: the words that were allowed, a bar, and a command that starts with them. */
function cases(text: string): [words: string[], command: string][] {
  return lines(text).map((line) => {
    const [words = "", command = ""] = line.split(" | ");
    return [words.split(" "), command];
  });
}

describe("a command that was allowed by its first words", () => {
  test.each(
    cases(`
  npm test | npm test
  npm test | npm test -- --watch src/a.test.ts
  npm run | npm run build:fix
  git log | git log --oneline -5 -- src
  git diff | git diff --stat HEAD~1
  git status | git status --short
  git commit | git commit -m 'a b'
  git add | git add src/*.ts
  go test | go test -run TestA ./...
  cargo test | cargo test --all
  pytest | pytest -k 'a and b' -x tests
  rg | rg -n --files -g '*.ts'
  sort | sort -u -k2 a
  ls | ls -la src
  cat | cat a b
  vitest run | vitest run src/a.test.ts
  ./run test | ./run test -v
  npm test | npm test && npm test 2>&1
  `),
  )("%j runs nothing else in: %s", (words, command) => expect(runsOnly(words, command)).toBe(true));

  test.each(
    cases(`
  npm test | npm test --script-shell=./x
  npm test | npm test --prefix /tmp/x
  make test | make test -C vendor
  make test | make -C vendor test
  make test | make test --directory=vendor
  make test | make test -f vendor/Makefile
  npm run | npm run a --node-options=--require=./x.js
  npm explore | npm explore x -- y
  go test | go test -exec ./x ./...
  go build | go build -toolexec ./x
  go vet | go vet -vettool=./x
  cargo test | cargo test --config 'target.a.runner="x"'
  git log | git log --output=/home/me/.bashrc --format=x
  git diff | git diff --outpu=x
  git show | git show --ext-diff
  git merge-index | git merge-index ./x -a
  git fetch | git fetch --upload-pack=./x
  git grep | git grep -O./x a
  sort | sort --compress-program=./x a
  sort | sort -uo .bashrc a
  rg | rg --pre ./x a
  rg | rg --hostname-bin=./x a
  man | man -P ./x ls
  zip | zip a b -TT ./x
  split | split --filter=./x a
  gcc | gcc -wrapper ./x a.c
  cmake | cmake -E env ./x
  tcpdump | tcpdump -z ./x
  curl | curl -so .bashrc example.org
  sqlite3 a | sqlite3 a '.shell x'
  pytest | pytest -p x
  eslint | eslint -c x.js src
  vitest run | vitest run --config x.ts
  npm test | npm test; rm x
  git log | git log *
  npm test | npm test $(x)
  npm test | PATH=. npm test
  `),
  )("%j may run or write something else in: %s", (words, command) => {
    expect(runsOnly(words, command)).toBe(false);
  });
});

test("a command that may turn out to run a denied one is told from one that does not", () => {
  for (const command of ["env -S'rm x'", "git -c alias.q='!rm x' q", "PAGER='rm x' man ls", "eval {rm,x}"])
    expect(mayRun(["rm"], command), command).toBe(true);
  for (const command of [
    "npm test -- --watch",
    "git log --oneline",
    "python3 a.py",
    "make all",
    "ls -la | head -5",
  ])
    expect(mayRun(["rm"], command), command).toBe(false);
  expect(mayRun(["'rm"], "rm x")).toBe(false);
});

describe("the words of a command that may be allowed with anything behind them", () => {
  test.each([
    ["npm test -- --watch", "npm test"],
    ["npm run build", "npm run"],
    ["ls", "ls"],
    ["ls -la", "ls"],
    ["git log --oneline", "git log"],
    ["cargo test", "cargo test"],
    ["go build ./...", "go build"],
    ["./run test -v", "./run test"],
    ["pytest -x", "pytest"],
  ])("are in %j: %s", (command, words) => expect(ruleWords(command)?.join(" ")).toBe(words));

  test.each([
    "npm test && ls",
    "ls | head",
    "X=1 npm test",
    "$X test",
    "'./a b' c",
    "case x in",
    "",
    "ls $(x)",
  ])("are none in %j, which is not one plain command", (command) =>
    expect(ruleWords(command)).toBeUndefined(),
  );

  test.each(
    lines(`
    sh bash dash zsh fish ksh mksh ash csh tcsh busybox toybox pwsh nu
    env sudo su doas runuser pkexec xargs parallel eval exec command builtin source . nohup setsid timeout nice ionice
    time chrt taskset stdbuf unbuffer script expect flock watch entr strace ltrace gdb unshare nsenter chroot bwrap
    firejail systemd-run at batch ssh mosh find fd awk gawk mawk nawk sed ed ex vi vim nvim emacs perl php lua luajit
    tclsh irb nodejs deno bun bunx npx pnpx tsx ts-node uvx osascript docker podman kubectl make gmake just tar rsync
    sqlite3 psql mysql mariadb ftp lftp dc socat nc ncat julia R Rscript octave gnuplot m4 jshell groovy scala elixir iex
    erl ghci guile racket sbcl swipl ocaml raku lldb tmux screen docker-compose nix-shell c8 nyc nodemon concurrently
    cross-env dotenv direnv hyperfine perf valgrind xvfb-run fakeroot proot setpriv run-parts ansible crontab
    python3 python3.12 pypy ruby node
    `).flatMap((line) => line.trim().split(" ")),
  )("are none with %s, which does what it is told", (program) => {
    for (const command of [program, `${program} x`, `/usr/bin/${program} -v x`, `${program} --version`])
      expect(ruleWords(command), command).toBeUndefined();
  });

  test.each([
    "npm exec x",
    "pnpm dlx x",
    "npm --prefix x test",
    "git -c alias.x=!rm x",
    "git fetch --upload-pack=x",
    "git rebase -x x",
    "git grep -Osh x",
    "uv run x",
    "npm install x",
    "npm init x",
    "npm explore x -- y",
    "git merge-index x -a",
    "git init --template=x",
    "docker-compose run x",
    "pip install x",
  ])("are none where the subcommand brings its own code: %s", (command) => {
    expect(ruleWords(command)).toBeUndefined();
  });
});

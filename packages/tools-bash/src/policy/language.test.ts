import type { Match } from "@agent/core";
import { describe, expect, test } from "vitest";
import { lines } from "../../test/verdicts.js";
import { describeCommands, offerRules, withVariables } from "./commands.js";
import { shellLanguage } from "./language.js";

/** Each line: a pattern, a bar, and a command. */
function cases(text: string): [pattern: string, command: string][] {
  return lines(text).map((line) => {
    const [pattern = "", command = ""] = line.split(" | ");
    return [pattern, command];
  });
}

/** How a pattern matches each command of a script. */
async function matches(pattern: string, script: string): Promise<readonly Match[]> {
  const [row = []] = await shellLanguage.match([pattern], describeCommands(script) ?? []);
  return row;
}

async function covers(pattern: string, script: string): Promise<boolean> {
  return (await matches(pattern, script)).every((match) => match === "covers");
}

function offered(script: string): string | undefined {
  return offerRules(describeCommands(script) ?? [])[0]?.pattern;
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
  )("%s covers: %s", async (pattern, command) => expect(await covers(pattern, command)).toBe(true));

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
  )("%s does not cover what may run or write something else: %s", async (pattern, command) => {
    expect(await covers(pattern, command)).toBe(false);
  });
});

describe("a pattern against a command", () => {
  test.each(
    lines(`
    rm x
    /bin/rm x
    A=1 rm x
    ls && rm -rf x
    'r'm x
    rm
    A=1 B=2 ./rm x
    env rm x
    sudo -n rm x
    command rm x
    xargs /bin/rm x
    sh -c "rm x"
    sh -c 'cd a; rm x'
    nice env A=1 rm x
    x=$(rm -rf x)
    git -c alias.q='!rm x' q
    git -c core.pager='rm x' log
    for i in a b; do rm "$i"; done
    `),
  )("matches what the words of a script run: %s", async (command) => {
    expect((await matches("rm *", command)).some((match) => /^(covers|touches)$/.test(match))).toBe(true);
  });

  test.each(
    lines(`
    /bin/r? x
    {r,}m x
    "r"m$(true) x
    $(printf r)m x
    eval $X
    env -S'rm x'
    BASH_ENV=x bash -c true
    tar xf a --to-command='rm x'
    sort --compress-program=rm x
    alias q=rm; q x
    eval {rm,x}
    vim -c ':!rm x'
    LD_PRELOAD=x ls
    npx rm x
    find . -exec rm x +
    GIT_PAGER='rm x' git log
    kitty rm x
    case x in a) rm x;; esac
    f() { rm x; }; f
    `),
  )("may concern a script that cannot be read with certainty: %s", async (command) => {
    const found = await matches("rm *", command);
    expect(found.some((match) => match === "maybe" || match === "touches")).toBe(true);
  });

  test.each(
    lines(`
    npm test -- --watch
    git log --oneline
    git status | head -5
    python3 a.py
    make all
    ls form
    echo 'an arm'
    make 2>&1 | tail
    cat a > rm
    cargo build
    `),
  )("does not concern other commands: %s", async (command) => {
    expect(new Set(await matches("rm *", command))).toEqual(new Set(["none"]));
  });

  test.each<[pattern: string, command: string, expected: string]>([
    ["git push * --force", "git push origin main --force", "covers"],
    ["git push * --force", "git push --force", "covers"],
    ["git push * --force", "git -C x push -f origin", "maybe"],
    ["git push * --force", "git push origin", "none"],
    ["npm run build:*", "npm run build:css -- -w", "covers"],
    ["npm run build:*", "npm run test", "none"],
    ["npm test * && npm run lint *", "npm run lint", "covers"],
    ["npm test", "npm test -- --watch", "covers"],
    ["npx *", "npx vitest run", "touches"],
    ["npx vitest *", "npx vitest run", "covers"],
    ["npx vitest *", "npx vitest --config x.ts", "touches"],
    ["npx vitest *", "npx -p x vitest", "touches"],
    ["npx vite*", "npx vitest run", "touches"],
    ["rm *", "/bin/rm x", "touches"],
    ["./run test *", "'./run test' x", "none"],
    ["npm test *", "npm test > x", "touches"],
    ["npm test *", "npm test > /dev/null 2>&1", "covers"],
    ["npm test *", "X=1 npm test", "touches"],
    ["cd *", "cd src", "touches"],
  ])("%s on %s", async (pattern, command, expected) => {
    expect((await matches(pattern, command)).at(0)).toBe(expected);
  });

  test("covers no command in another directory", async () => {
    const target = { type: "command", text: "git status", cwd: "/tmp" } as const;
    expect(await shellLanguage.match(["git status *"], [target])).toEqual([["touches"]]);
  });

  test("is refused if it is not plain words after the name of a program", async () => {
    for (const pattern of ["*", "r* x", "'rm'", "rm; ls", "$X", "a|b"]) {
      expect(await shellLanguage.check(pattern), pattern).toMatch(/^the pattern is/);
      expect(await shellLanguage.match([pattern], [{ type: "command", text: "ls" }])).toEqual([["maybe"]]);
    }
    for (const pattern of ["rm *", "git push * main", "a && b"]) {
      expect(await shellLanguage.check(pattern), pattern).toBeUndefined();
    }
  });
});

test("does not describe a script of too many commands", () => {
  expect(describeCommands("ls; ".repeat(5000))).toBeUndefined();
  expect(describeCommands(`echo ${"a ".repeat(100_000)}`)).toBeUndefined();
  expect(describeCommands("# nothing")).toBeUndefined();
  expect(describeCommands("case x in")).toEqual([{ type: "command", text: "case x in", open: true }]);
  expect(describeCommands(`${"eval ".repeat(20)}ls`)).toBeUndefined();
  expect(describeCommands(`${"env ".repeat(20)}ls`)).toBeUndefined();
  expect(describeCommands(`${"eval ".repeat(5)}ls`)?.at(-1)?.text).toBe("ls");
  expect(describeCommands("sh -c 'case x in'")?.at(-1)).toEqual({
    type: "command",
    text: "case x in",
    open: true,
  });
});

test("describes variables before a command: their known values, and a placeholder for others", () => {
  expect(describeCommands("A=1 B='x y' ls")).toEqual([
    { type: "command", text: "A=1 B='x y' ls", open: true },
  ]);
  expect(describeCommands('A="$X" ls')?.[0]?.text).toBe('A="$_" ls');
  expect(withVariables({ type: "command", text: "ls", reads: true }, { A: "x y", "B-C": "1" })).toEqual({
    type: "command",
    text: "A='x y' ls",
    open: true,
  });
});

test.each([
  ["npx -y vitest run", "npx -y vitest *"],
  ["pnpx prettier .", "pnpx prettier *"],
  ["bunx prettier .", "bunx prettier *"],
  ["uvx ruff check", "uvx ruff *"],
  ["npm exec prettier .", "npm exec prettier *"],
  ["npm x prettier .", "npm x prettier *"],
  ["pnpm exec prettier .", "pnpm exec prettier *"],
  ["pnpm dlx prettier .", "pnpm dlx prettier *"],
  ["yarn exec prettier .", "yarn exec prettier *"],
  ["yarn dlx prettier .", "yarn dlx prettier *"],
  ["bun x prettier .", "bun x prettier *"],
  ["pipx run ruff check", "pipx run ruff *"],
  ["npm run build -- -x", "npm run build *"],
  ["npm test -- -x", "npm test *"],
])("offers a rule for the package that %s runs", (command, rule) => expect(offered(command)).toBe(rule));

describe("the words of a command that may be allowed with anything behind them", () => {
  test.each([
    ["npm test -- --watch", "npm test"],
    ["npm run build -- -w", "npm run build"],
    ["npx vitest run", "npx vitest"],
    ["npx -y prettier@3 --check .", "npx -y prettier@3"],
    ["pnpm exec vitest", "pnpm exec vitest"],
    ["ls", "ls"],
    ["ls -la", "ls"],
    ["git log --oneline", "git log"],
    ["cargo test", "cargo test"],
    ["go build ./...", "go build"],
    ["./run test -v", "./run test"],
    ["pytest -x", "pytest"],
    ["'ü:' X", "ü:"],
  ])("are in %j: %s", (command, words) => expect(offered(command)).toBe(`${words} *`));

  test.each(["X=1 npm test", "$X test", "'./a b' c", "case x in", "", "ls $(x)"])(
    "do not exist in %j, which is not plain commands",
    (command) => expect(offered(command)).toBeUndefined(),
  );

  test.each(
    lines(`
    sh bash dash zsh fish ksh mksh ash csh tcsh busybox toybox pwsh nu
    env sudo su doas runuser pkexec xargs parallel eval exec command builtin source . nohup setsid timeout nice ionice
    time chrt taskset stdbuf unbuffer script expect flock watch entr strace ltrace gdb unshare nsenter chroot bwrap
    firejail systemd-run at batch ssh mosh find fd awk gawk mawk nawk sed ed ex vi vim nvim emacs perl php lua luajit
    tclsh irb nodejs deno bun tsx ts-node osascript docker podman kubectl make gmake just tar rsync
    sqlite3 psql mysql mariadb ftp lftp dc socat nc ncat julia R Rscript octave gnuplot m4 jshell groovy scala elixir iex
    erl ghci guile racket sbcl swipl ocaml raku lldb tmux screen docker-compose nix-shell c8 nyc nodemon concurrently
    cross-env dotenv direnv hyperfine perf valgrind xvfb-run fakeroot proot setpriv run-parts ansible crontab
    python3 python3.12 pypy ruby node
    `).flatMap((line) => line.trim().split(" ")),
  )("do not exist with %s, which runs what its arguments say", (program) => {
    for (const command of [program, `${program} x`, `/usr/bin/${program} -v x`, `${program} --version`])
      expect(offered(command), command).toBeUndefined();
  });

  test.each([
    "npx",
    "npx -c x",
    "npx ./x",
    "npm exec -c x",
    "npx sh -c x",
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
  ])("do not exist if the subcommand has its own code: %s", (command) => {
    expect(offered(command)).toBeUndefined();
  });
});

test.each([
  ["npm test && npm run lint", "npm test * && npm run lint *"],
  ["npm test && npm test -- -w", "npm test *"],
  ["npm test && ./x.sh $A", undefined],
  ["npm test && make && go build && cargo test", undefined],
  ["npm test && go build && cargo test", "npm test * && go build * && cargo test *"],
  ["npm test && npm start && go build && cargo test", undefined],
  [`npm run ${"x".repeat(50)}`, `npm run ${"x".repeat(50)} *`],
  [`npm run ${"x".repeat(51)}`, undefined],
])("derives the rule for a list of commands, %j, as %j", (command, rule) =>
  expect(offered(command)).toBe(rule),
);

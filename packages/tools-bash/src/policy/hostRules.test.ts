import { describe, expect, test } from "vitest";
import { lines } from "../../test/verdicts.js";
import { mayRun, runsOnly } from "./hostRules.js";

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

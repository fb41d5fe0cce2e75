import { describe, expect, test } from "vitest";
import { ordinaryCommands } from "../../test/ordinaryCommands.js";
import { lines, verdict } from "../../test/verdicts.js";
import { createPolicy } from "./policy.js";

describe("what programs run by design, and words as data, are not refused", () => {
  test.each(
    lines(`
  npm test
  npm run build
  npm install
  npm ci --no-audit
  npm exec tsc -- --noEmit
  npx vitest run src/a.test.ts
  pnpm exec vitest run
  pnpm -r build
  pnpm --filter a test
  yarn add exec
  git status
  git commit -m "rm -rf exec --exec"
  git commit -m 'alias.x=!rm'
  git log --oneline -x
  git clean -fdx
  git cherry-pick -x abc
  git push -u origin main
  git push --set-upstream origin x
  git -C "$dir" status
  git -c user.name=x commit -m y
  git -c core.pager=cat log
  git -c core.quotepath=off diff
  git -c core.editor=true rebase --continue
  GIT_EDITOR=true git rebase --continue
  GIT_PAGER=cat git log
  PAGER= git log
  GIT_SSH_COMMAND="ssh -i key" git fetch
  EDITOR=true git commit
  git config user.name x
  git config --get core.pager
  git config core.pager cat
  git config --global alias.st status
  git config --list
  git submodule update --init
  git submodule foreach git pull
  git bisect run npm test
  git rebase -i main --exec 'npm test'
  git rebase --continue
  git grep -n foo
  git rm x
  git --exec-path
  git clone https://x/y.git dir
  git clone -b main --depth 1 https://x
  git fetch --all
  git log --grep=exec
  git diff --ext-diff
  git remote add x git@y:z
  make
  make -j8 test
  make -j$(nproc)
  make CC=clang
  make -f build.mk all
  make -C dir V=1
  CC=clang make
  CC="ccache gcc" make
  MAKEFLAGS=-j8 make
  NODE_OPTIONS=--max-old-space-size=4096 npm test
  SHELL=/bin/bash npm test
  cargo build --release
  cargo test
  go test ./...
  go build ./...
  tar xzf a.tar.gz
  tar -xzf "$f" -C dir
  tar czf a.tgz --exclude=node_modules .
  tar cf a --checkpoint=1000 b
  tar -I zstd -xf a
  tar xf INDEX.tar
  tar xf F.tar
  tar -cf Foo.tar IF
  rsync -av a/ b/
  rsync -avz -e ssh a host:b
  rsync -avz -e "ssh -p 22" a host:b
  rsync -a --delete a/ b/
  rsync -a --exclude=x a b
  scp a host:b
  scp -o StrictHostKeyChecking=no a b:
  sort -u f
  sort -k 2 -n f
  split -l 100 f
  vim --version
  less f
  man ls
  set -- a "$b"
  getopts "$options" option
  fd -e js
  fd pattern src -x wc -l
  fd . -X ls
  fd -H --exclude node_modules x
  sqlite3 db 'select * from t'
  sqlite3 db '.tables'
  sqlite3 db .schema
  psql -c 'select 1'
  mysql -e 'show tables'
  docker ps
  docker build -t x .
  docker rm x
  docker run -d redis
  docker run --rm alpine ls
  docker exec c ls -la
  docker compose up -d
  docker compose exec web npm test
  kubectl get pods
  kubectl exec p -- ls
  poetry run pytest
  uv run python script.py
  uv pip install x
  bundle exec rake test
  curl -e ref https://x
  wget https://x
  wget -e robots=off x
  zip -r a.zip b
  zip -T a.zip
  rg foo
  rg --pretty foo
  rg -e x --precise
  ip addr
  gcc -o a a.c -Wall
  clang -c x.c
  install -m 755 a b
  nc -z host 80
  nc -vz host 80
  cmake -B build
  cmake --build build
  cmake -E make_directory x
  apt-get install -y x
  apt list
  export EDITOR=nano
  export EDITOR
  export CC=gcc
  man -k x
  tar xf "$f"
  tar -C "$dir" -cf out.tar ./*
  tar cf a -- "$X"
  tar cf "$HOME/a.tar" src
  rsync -a -- "$X" b
  sort -o "$out" a
  git checkout "$branch"
  git commit -m "$message"
  git clone -- "$url"
  gcc -o "$out" ./*.c
  gcc -c "src/$name.c"
  gcc -Wall -fPIC a.c
  cargo build --release
  docker run -v "$PWD":/x alpine ls
  docker run --rm -it -v "$PWD:/x" -w /x node:20 npm test
  docker run --volume="$PWD":/x --name "$n" alpine ls
  docker exec -w "$dir" c ls
  fzf --version
  xargs -I% echo %
  echo --exec rm
  grep -r -- --to-command .
  printf '%s' "$x" | tee f
  ssh -p 22 host ls
  git stash -u
  git fetch -u
  git archive --format=tar HEAD
  go vet ./...
  go run .
  bat f
  ncat --version
  hyperfine 'npm test'
  nodemon server.js
  node --test
  python3 -m pytest
  pip install -e .
  pip install x
  mail -s x y
  git log -c
  git show --config
    `),
  )("allows %s", (command) => {
    expect(verdict(command)).toEqual({ allowed: true });
  });
});

describe("Scenario: Command validation (disallowed patterns)", () => {
  test.each([
    'echo "rm -rf /"',
    "echo rm",
    "echo 'rm x' > notes",
    "git commit -m 'rm old files'",
    "grep -r rm .",
    "ls | grep rm",
    "cat <<'E'\nrm x\nE",
    "printf '%s\\n' rm",
    "find . -name rm",
    "find . -type f -exec grep -l rm {} +",
    "npm run rm",
    "cd src && npm test",
    "env A=1 node script.js",
    "xargs grep -l x",
    "timeout 5 ls",
    "sh -c 'echo rm'",
    "command -v rm",
    "python3 script.py -c x",
    "node --version",
    "awk '{ print $1 }' file",
    'awk -F: \'$1 == "a" || $2 { print $2 }\' "$f"',
    "sed -n 's/rm/e/p' file",
    "sed -e 's/a/b/' -e 's/c/d/g' \"$f\"",
    'for i in 1 2 3; do echo "$i"; done',
    'i=0; while [ "$i" -lt 5 ]; do i=9; done',
    "test -f x && echo yes",
    "A=rm; echo $A",
    'find "$dir" -name "*.c"',
    "git log --format='%h %s' | head -n 5",
    "docker rm x",
    "# rm x\ntrue",
    "echo '👨‍👩‍👧'",
    "trap '' TERM",
    "trap",
    "make -f",
    'x=$(git rev-parse HEAD); echo "$x"',
    "node build.mjs -e production",
    "dd if=a of=b",
    "valgrind ./program --rm",
    "node --test",
    'find "$dir" -name "$pattern" -exec grep -l x {} +',
    'cat f | while IFS= read -r line; do echo "$line"; done',
    "sed 's/x/e /' f",
    "sed 's/[^/]*$//; s|[|]|e|g; /e/d; $!N; y/abc/def/' f",
    "sed -i.bak -E 's/(a|e)/\\1/w e' f",
    "sed -n '/start/,/end/{/e/!p;=}' f",
    "sed '1i\\\ne rm x' f",
    "sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\\n/ /g' f",
    "sed 1,5d f",
    "git config core.hooksPath",
    "sed -e p -- -f.txt",
    "sed --version",
    `x=abc; echo "\${x}" "$x" $x`,
    "declare -r x=1; export y='a[0]'",
    'python3 "tools/$name.py"',
    "npx tsc --noEmit",
    "python3 ~/tools/run.py",
  ])("allows words as data: %s", (command) => {
    expect(verdict(command)).toEqual({ allowed: true });
  });
});

test("refuses few of the ordinary commands with rules for other ones", () => {
  const commands = ordinaryCommands();
  const policy = createPolicy({ deny: ["no-such-command", "shutdown-all -rf"] });
  const refused = commands.filter((command) => policy?.check(command).allowed === false);
  expect(commands.length).toBeGreaterThan(250);
  expect(refused.length / commands.length, refused.slice(0, 50).join("\n")).toBeLessThan(0.05);
});

import { describe, expect, test } from "vitest";
import { allowed, lines, verdict } from "../../test/verdicts.js";

describe("Promise: deny wins, and what may be denied is refused", () => {
  test.each(
    lines(`
  HOME=rm; ~ victim
  HOME=/bin ls
  export HOME=rm; ~ victim
  for HOME in rm; do ~ victim; done
  read HOME; ls ~
  ~root/rm x
  ~+ x
  OLDPWD=rm; ~- x
  git -c alias.x='!rm' x victim
  git -c alias.x=x x
  git x
  git -c "$X" log
  git -c 'core.pager=rm x.y=cat' log
  git config core.pager 'rm x.y=cat'
  node --test-reporter=data:text/javascript,x y
  [ 'a[$(rm x)]' -eq 1 ]
  test 'a[$(rm x)]' -eq 1
  A='a[$(rm x)]' ls
  A='a[$(rm x)]'; [ A -eq 1 ]
  export A='a[\`rm x\`]'
  printf -v 'a[$(rm x)]' y
  CMAKE_C_COMPILER_LAUNCHER=rm cmake .
  MANOPT='-P rm' man ls
  git -c alias.x="$X" log
  git --config-env=alias.x=Y x
  git --unknown status
  git config alias.x '!rm y'
  git config set alias.x '!rm y'
  git remote-ext x 'rm y'
  git for-each-repo --config=x rm
  git clone --conf=core.sshCommand=rm y
  git clone -qc core.sshCommand=rm y
  git fetch --upl rm y
  git rebase --ex 'rm y'
  git -c core.attributesFile=x log
  make -f - x
  make -f-
  make -kf - x
  make --file=- x
  make --file - x
  make --makefile=- x
  make --makefile -
  make -f /dev/stdin
  make -f/dev/stdin
  make -f //dev/fd/0
  make -f /proc/self/fd/0
  make -f ../../../dev/stdin
  gmake -f -
  bmake -f -
  make --eval='x:;y'
  make --ev 'x:;y'
  make CC='rm x'
  make CC=rm
  make X:='$(shell rm x)'
  MAKEFLAGS=-f- make
  MAKEFILES=x make
  tar cf a --checkpoint=1 --checkpoint-action exec='rm x' b
  tar cf a --checkpoint=1 --checkpoint-act=exec=rm b
  python3 - x
  python3 -ic x
  python3 -Ic code
  python3 -W ignore -c code
  python3 -W $X script.py
  python3 -i x.py
  python3 -m timeit code
  python3 -mpdb -c 'x' y
  python3 /proc/self/fd/0
  python3 //dev/stdin
  python3 "/dev/$X"
  perl -Mx=y z
  perl '-Mx;system("rm")' f
  perl -d:x y
  perl -ne code
  perl -E code
  ruby -rx y
  ruby -ne code
  node --import 'data:text/javascript,x' y
  node --import=x y
  node -r ./x y
  node --require x y
  node --loader x y
  node --experimental-loader x y
  node --env-file=x y
  node -pe code
  node --eval code
  node --print code
  node - x
  node data:text/javascript,x
  bun -e code
  bun x rm
  deno eval code
  deno run -
  deno run data:x
  tsx -e code
  php -r code
  php -d auto_prepend_file=x y
  awk -v x=$X '{ print }' f
  awk 'BEGIN { f = "system"; @f("rm") }'
  gawk -e 'BEGIN{}' f
  sed --expr=e f
  sed -l $X p f
  vim -c '!rm' f
  ed f
  rsync -e 'rm x' a b:
  rsync --rs='rm x' a b:
  ssh -oProxyCommand=rm host ls
  ssh host -oProxyCommand=rm ls
  env A=$X ls
  sudo A=$X ls
  timeout -s $X 5 ls
  nice -n $X ls
  xargs -I "$X" echo rm
  xargs git
  hash -p /bin/rm ls
  BASH_ALIASES[ls]=rm; ls x
  BASH_ALIASES=rm ls x
  BASH_CMDS[ls]=/bin/rm; ls x
  declare -A BASH_CMDS; BASH_CMDS[ls]=/bin/rm
  typeset BASH_ALIASES[ls]=rm
  printf -v 'BASH_ALIASES[ls]' rm
  read 'BASH_CMDS[ls]' < f
  enable -f ./x.so y
  alias ls=rm
  unalias ls
  shopt -s expand_aliases
  set -k
  set -o posix
  set -a
  set $X
  jobs -x rm y
  read "$X"
  export "$X"
  export $X
  export A=$X
  unset "$X"
  unset PATH
  printf "$X" y
  printf -v a x
  [ "$A" "$B" ]
  [ $A ]
  test -v a
  wait -p a
  BASH_ENV=x ls
  ENV=x ls
  IFS=x
  IFS=/ ls
  PATH=. ls
  export PATH=.
  LC_ALL=ja_JP.SJIS ls
  POSIXLY_CORRECT=1
  PROMPT_COMMAND=rm
  PS4='$(rm x)'
  GIT_DIR=x git log
  GIT_CONFIG_GLOBAL=x git log
  GIT_EXEC_PATH=x git log
  PYTHONPATH=x python3 y
  PERL5LIB=x perl y
  RUBYLIB=x ruby y
  NODE_OPTIONS=--import=x node y
  NODE_OPTIONS='--max-old-space-size=1 -r x' node y
  NODE_PATH=x node y
  JAVA_TOOL_OPTIONS=x java y
  npm_config_script_shell=rm npm test
  NPM_CONFIG_NODE_OPTIONS=x npm test
  tar xf a -f "$@"
  parallel
  parallel -j 2
  parallel rm
  parallel :::: f
  nix-shell
  nix-shell -p x
  proot
  capsh
  newgrp x
  vim f
  vi
  bash-5.2 x
  zsh-static
  hg --config alias.x='!rm' x
  rpm --eval '%(rm x)'
  gh alias set x '!rm'
  gnuplot -e 'system("rm")'
  erl -eval x
    `),
  )("refuses %s", (command) => {
    expect(verdict(command)).toMatchObject({ allowed: false });
  });

  test.each([
    "PATH",
    "HOME",
    "IFS",
    "ENV",
    "BASH_ENV",
    "LD_PRELOAD",
    "GIT_DIR",
    "GIT_CONFIG_COUNT",
    "PYTHONPATH",
    "BASH_FUNC_ls%%",
  ])("refuses the variable %s of the call", (name) =>
    expect(verdict("ls", undefined, { [name]: "/tmp/x" }).allowed).toBe(false),
  );
  test.each([
    ["LANG", "C.UTF-8"],
    ["CI", "1"],
    ["NODE_ENV", "test"],
    ["GIT_AUTHOR_NAME", "x"],
    ["GIT_PAGER", "cat"],
  ])("does not refuse the variable %s=%s of the call", (name, value) =>
    expect(verdict("ls", undefined, { [name]: value })).toEqual({ allowed: true }),
  );

  test("judges an alias of git that is a command of git as that command", () => {
    for (const command of [
      "git -c alias.x=push x",
      "git -c alias.X='push origin' x",
      "git config alias.x push",
      "git config --global alias.x 'push origin'",
    ]) {
      expect(verdict(command, { deny: ["git push"] }), command).toMatchObject({
        allowed: false,
        rule: "git push",
      });
    }
    expect(verdict("git -c alias.x=push x --force", { deny: ["git push --force"] })).toMatchObject({
      rule: "git push --force",
    });
    expect(allowed("git -c alias.x=log x -1", { deny: ["git push"] })).toBe(true);
  });

  test("matches a short option with its long form, and the reverse", () => {
    const deny = ["rm -rf", "git push --force"];
    for (const command of [
      "rm --recursive --force x",
      "rm --rec --fo x",
      "rm -r --force x",
      "rm -R --f x -r",
      "git push -f",
      "git push -uf origin main",
      "rm -o -- -rf",
    ]) {
      expect(allowed(command, { deny }), command).toBe(false);
    }
    for (const command of ["rm --force x", "rm -i x", "rm -- -rf", "git push -u origin main"]) {
      expect(allowed(command, { deny }), command).toBe(true);
    }
  });

  test("takes text that looks like a subscript for text where no shell evaluates it", () => {
    expect(allowed("echo 'a[$(rm x)]'")).toBe(true);
    expect(allowed("A='a[1]' ls")).toBe(true);
  });

  test.each([
    ["git push --force*", "git push --force-with-lease", false],
    ["git push --force*", "git push -f", false],
    ["git push --force*", 'git push "$X"', false],
    ["git push --force*", "git push origin main", true],
    ["git push -*", "git push -f", false],
    ["git push -*", "git push origin", true],
    ["rm -r", "rm -R x", true],
    ["rm -r", "rm --Recursive x", false],
    ["git push --force", "git push --f", false],
    ["git push --force", "git push --", true],
    ["git push --force", "git push --follow-tags", true],
    ["git * main", "git push origin main", false],
    ["git * main", "git push main", false],
    ["git * main", "git push origin", true],
    ["git * main", "git main", false],
  ])("matches %s with %s: allowed %s", (rule, command, expected) => {
    expect(allowed(command, { deny: [rule] })).toBe(expected);
  });

  test("refuses an abbreviated subcommand of a program that takes them", () => {
    expect(allowed("npm publ", { deny: ["npm publish"] })).toBe(false);
    expect(allowed("npm test", { deny: ["npm publish"] })).toBe(true);
    expect(allowed("docker rm x", { deny: ["docker rmi"] })).toBe(true);
  });
});

describe("Promise: an allow rule hides no deny rule", () => {
  const deny = ["rm"];
  test.each<[allow: string, command: string]>([
    ["git", "git -c alias.x='!rm y' x"],
    ["git", 'git -c alias.x="!$X" x'],
    ["git", "git x"],
    ["git", "git submodule foreach rm x"],
    ["sh", 'sh -c "$X"'],
    ["sh", "sh script.sh"],
    ["find", "find . -exec rm {} +"],
    ["xargs", "xargs rm"],
    ["npm", "npm exec rm x"],
    ["node", "node -e x"],
    ["tar", 'tar xf a "$X"'],
    ["env", "env LD_PRELOAD=x ls"],
  ])("refuses with allow %j next to deny: %s", (rule, command) => {
    expect(allowed(command, { allow: [rule, "ls"], deny })).toBe(false);
  });

  test("allows by a rule of one word only what its program is there for, without deny rules", () => {
    expect(allowed("node -e x", { allow: ["node"] })).toBe(true);
    expect(allowed("sh script.sh", { allow: ["sh"] })).toBe(true);
    expect(allowed('git -c alias.x="!$X" x', { allow: ["git"] })).toBe(false);
    expect(allowed("git submodule foreach rm x", { allow: ["git"] })).toBe(false);
    expect(allowed("git submodule foreach ls", { allow: ["git submodule foreach"] })).toBe(true);
    expect(allowed("npm exec tsc", { allow: ["npm"] })).toBe(false);
    expect(allowed("npm exec tsc", { allow: ["npm exec tsc"] })).toBe(true);
    expect(allowed("git st", { allow: ["git st"], deny: ["rm"] })).toBe(true);
  });
});
